"""Sums of losses: whether a number that is compared adds up losses that are never negative."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.library.operations import OFF_DEVICE, SUMMARIES
from netmend.program.engine.history import Branch
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Call,
    Collection,
    Const,
    Either,
    Operation,
    Unknown,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.loops import call_events
from netmend.program.meaning.losses import loss_use

_NEVER_NEGATIVE = ("cross_entropy", "bce", "bce_logits", "mse", "l1", "smooth_l1", "huber", "multi_margin")
_AS_IT_IS = (*OFF_DEVICE, *SUMMARIES, "float", "double")
_MEANS = ("float", "sum", "numpy.mean", "statistics.mean", "torch.stack", "torch.tensor", "torch.mean")


def values_compared(program: Program, branch: ast.If, compare: ast.Compare, now: ast.expr) -> Iterator[Value]:
    """What the compared expression stands for, each time the branch is reached."""
    for part in program.parts:
        if isinstance(part, Branch) and part.node is branch and isinstance(part.test, Operation):
            for test in (part.test, *part.test.operands):
                if isinstance(test, Operation) and test.node is compare and len(test.operands) == 2:
                    yield test.operands[0 if now is compare.left else 1]


def is_negated(value: Value) -> bool:
    for _ in range(8):
        value = resolved(value)
        if isinstance(value, Call) and value.method in _AS_IT_IS and value.receiver is not None:
            value = value.receiver
        elif isinstance(value, Operation) and value.operator == "/":
            value = value.operands[0]
    return isinstance(value, Operation) and value.operator in ("neg", "-")


def adds_losses(program: Program, value: Value, depth: int = 12) -> bool | None:
    """Is a value a sum or mean of losses that are never negative? None for zeros that a sum starts with."""
    event = call_events(program).get(id(value))
    use = loss_use(event) if event is not None else None
    if use is not None:
        return use.kind in _NEVER_NEGATIVE
    value = resolved(value)
    parts: list[Value] = []
    if depth == 0:
        return False
    if isinstance(value, Const):
        return None if constant(value) == 0 else False
    if isinstance(value, Unknown):
        return None if isinstance(value.node, ast.For | ast.While) else False
    if isinstance(value, Either):
        parts = list(value.options)
    elif isinstance(value, Collection):
        parts = value.items
    elif isinstance(value, Operation) and value.operator == "+":
        parts = list(value.operands)
    elif isinstance(value, Operation) and value.operator in ("/", "*"):
        factors = value.operands if value.operator == "*" else value.operands[:1]
        parts = [part for part in factors if adds_losses(program, part, depth - 1)]
    elif isinstance(value, Call) and value.method in _AS_IT_IS and value.receiver is not None:
        parts = [value.receiver]
    elif isinstance(value, Call) and value.qualified in _MEANS and value.args:
        parts = [value.args[0]]
    found = [adds_losses(program, part, depth - 1) for part in parts]
    return False if False in found or not found else True if True in found else None
