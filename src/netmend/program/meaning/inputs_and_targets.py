"""Inputs and the targets that belong to them row by row: as a loss is computed, a data set gives them, a split takes them, a function gives them back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from netmend.program.engine.history import RETURN
from netmend.program.engine.program import Program, once
from netmend.program.engine.values import Call, Collection, Instance, Operation, Value, resolved
from netmend.program.meaning.arrays import SPLIT
from netmend.program.meaning.batches import sample_of_dataset, spread
from netmend.program.meaning.losses import loss_uses
from netmend.program.meaning.models import is_module
from netmend.program.meaning.operations import parts_of, reached, walk
from netmend.program.meaning.training import loss_of, rounds


@dataclass(frozen=True)
class Pair:
    """What a model is given and what it is to answer. `is_sample`: of one sample of a data set, not of all rows."""

    inputs: tuple[Value, ...]
    target: Value
    is_sample: bool = False
    is_told: bool = True  # by a loss, a data set, a split; else only by standing side by side


@once
def pairs(program: Program) -> tuple[Pair, ...]:
    return (*learned(program), *_given_back(program))


@once
def learned(program: Program) -> tuple[Pair, ...]:
    """Those that a loss, a data set or a split names; what a function gives back may be anything."""
    return (
        *_of_losses(program),
        *_of_rounds(program),
        *_of_sets(program),
        *_of_datasets(program),
    )


def _of_losses(program: Program) -> Iterator[Pair]:
    for use in loss_uses(program):
        if use.target is not None and use.prediction is not None:
            fed = _fed(use.prediction)
            if fed and not _fed(use.target):
                yield Pair(fed, use.target)


def _of_rounds(program: Program) -> Iterator[Pair]:
    """Losses that are written out: `((net(x) - y) ** 2).mean()`."""
    for turn in rounds(program):
        for backward in turn.backward:
            for part in reached(
                loss_of(backward), lambda value: () if _is_model_call(value) else parts_of(value)
            ):
                if isinstance(part, Operation) and part.operator in ("-", "*") and len(part.operands) == 2:
                    one, other = part.operands
                    for prediction, target in ((one, other), (other, one)):
                        if (fed := _fed(prediction)) and not _fed(target):
                            yield Pair(fed, target)


def _is_model_call(value: Value) -> bool:
    return isinstance(value, Call) and not value.method and not value.qualified and is_module(value.function)


def _fed(value: Value) -> tuple[Value, ...]:
    """What models are given on the way to a value."""
    found: list[Value] = []
    for part in reached(value, lambda value: () if _is_model_call(value) else parts_of(value)):
        if isinstance(part, Call) and _is_model_call(part):
            found.extend(part.given)
    return tuple(found)


def _of_sets(program: Program) -> Iterator[Pair]:
    for event in program.calls_of("torch.utils.data.TensorDataset", SPLIT):
        given = spread(event.call)
        if len(given) >= 2:
            yield Pair(given[:-1], given[-1])
    for event in program.methods_of("fit"):
        call = event.call
        if len(call.args) >= 2:
            yield Pair(call.args[:1], call.args[1])


def _of_datasets(program: Program) -> Iterator[Pair]:
    for cls in program.classes:
        if cls.method("__getitem__") is None:
            continue
        for instance in program.instances_of(cls)[:3]:
            sample = sample_of_dataset(program, instance)
            if isinstance(sample, Collection) and sample.kind == "tuple" and len(sample.items) >= 2:
                yield Pair(tuple(sample.items[:-1]), sample.items[-1], is_sample=True)


def _given_back(program: Program) -> Iterator[Pair]:
    """Two arrays that a function gives back: windows and what comes after them."""
    for event in program.events:
        value = resolved(event.value)
        if (
            event.kind == RETURN
            and isinstance(value, Collection)
            and value.kind == "tuple"
            and len(value.items) == 2
        ):
            yield Pair((value.items[0],), value.items[1], is_told=False)


def is_changed(program: Program, value: Value) -> bool:
    """Is something written into a value after it was cut out, such as a mask over what is to be found?"""
    parts = {
        id(part.node)
        for part in walk(value)
        if part.node is not None and not isinstance(part, Collection | Instance)
    }
    for event in program.events:
        base = (
            resolved(event.target.base) if event.target is not None and event.target.key is not None else None
        )
        if base is not None and not isinstance(base, Collection | Instance) and id(base.node) in parts:
            return True
    return False
