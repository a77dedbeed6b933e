"""Sums that a loop builds up and what they are divided by in the end."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from netmend.library.operations import CASTS, OFF_DEVICE
from netmend.program.engine.program import Program, once
from netmend.program.engine.values import (
    Attribute,
    Call,
    Const,
    Element,
    Operation,
    Value,
    constant,
    options,
    resolved,
)
from netmend.program.meaning.loaders import loader_made
from netmend.program.meaning.losses import LossUse, losses
from netmend.program.meaning.operations import behind, operation, walk
from netmend.program.meaning.roles import LOADER, role
from netmend.program.meaning.uses import arithmetic

_AS_NUMBERS = ("item", "detach", "cpu", "tolist")
_CASTS = (*CASTS, *OFF_DEVICE)
BATCHES, SAMPLES = "batches", "samples"


@dataclass(frozen=True)
class Average:
    """`total / n` after `total += part` in a loop over a loader; `per`: what n counts."""

    node: ast.AST
    part: Value
    per: str
    loader: Value


@once
def averages(program: Program) -> tuple[Average, ...]:
    found = []
    for division, _ in arithmetic(program):
        if division.operator != "/" or len(division.operands) != 2 or division.node is None:
            continue
        counted = _counted(division.operands[1])
        part = _added(division.operands[0])
        if counted is not None and part is not None and _is_over(part, counted[1]):
            found.append(Average(division.node, part, counted[0], counted[1]))
    return tuple(found)


def _counted(value: Value) -> tuple[str, Value] | None:
    """Batches for `len(loader)`, samples for `len(loader.dataset)`."""
    value = resolved(value)
    if not isinstance(value, Call) or value.qualified != "len" or len(value.args) != 1:
        return None
    inner = resolved(value.args[0])
    if role(inner) == LOADER:
        return BATCHES, inner
    if isinstance(inner, Attribute) and inner.name == "dataset" and role(inner.base) == LOADER:
        return SAMPLES, resolved(inner.base)
    return None


def _added(value: Value) -> Value | None:
    """What a loop adds in each round to a sum that starts at zero."""
    value = resolved(value)
    if isinstance(value, Operation) and value.operator == "*" and len(value.operands) == 2:
        for one, other in (value.operands, value.operands[::-1]):
            if isinstance(one, Const):
                return _added(other)
    for option in options(value):
        if isinstance(option, Operation) and option.operator == "+" and len(option.operands) == 2:
            start, change = option.operands
            if any(constant(begin) == 0 for begin in options(start)):
                return change
    return None


def _is_over(part: Value, loader: Value) -> bool:
    """Does what is added stem from batches of this loader?"""
    return any(isinstance(value, Element) and resolved(value.iterable) is loader for value in walk(part))


def is_single(loader: Value) -> bool:
    """Does a loader give one sample at a time, so that batches and samples are the same?"""
    made = loader_made(loader)
    if made is None:
        return False
    size = made.argument("batch_size", 1)
    return made.open or size is None or constant(size) == 1


@once
def mean_losses(program: Program) -> frozenset[int]:
    """Losses that are averaged over the batch, by identity."""
    return frozenset(id(use.call) for use in losses(program) if _is_mean(use))


def _is_mean(use: LossUse) -> bool:
    holder = use.made if use.made is not None else use.call
    if holder.open or len(holder.args) > (0 if use.made is not None else 2):
        return False  # what else is given by position may say how it is reduced
    for name in ("reduction", "size_average", "reduce"):
        given = use.option(name)
        if given is not None and constant(given, "?") not in ("mean", True):
            return False
    return True


def plain_loss(program: Program, part: Value) -> bool:
    """Is a part `loss.item()` of a loss averaged over its batch, not multiplied by anything?"""
    return id(behind(part, _number_of)) in mean_losses(program)


def _number_of(value: Value) -> Value | None:
    is_number = isinstance(value, Call) and (value.method in _AS_NUMBERS or value.qualified == "float")
    return value.subject if isinstance(value, Call) and is_number else None


def counts_hits(part: Value) -> bool:
    """Is a part the number of right answers in a batch: `(pred == y).sum().item()`?"""
    op = operation(behind(part, _cast))
    if op is None or op.name != "sum" or len(op.inputs) != 1:
        return False
    hits = behind(op.inputs[0], _cast)
    if isinstance(hits, Call):
        return hits.method == "eq" or hits.qualified == "torch.eq"
    return isinstance(hits, Operation) and hits.operator == "=="


def _cast(value: Value) -> Value | None:
    return value.receiver if isinstance(value, Call) and value.method in _CASTS else None
