"""How programs score answers: comparisons with the truth, metrics of libraries, and what only changes the form of either."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from netmend.library.operations import CASTS, COPIES, OFF_DEVICE, VIEWS
from netmend.program.engine.history import CallEvent
from netmend.program.engine.program import Program, once
from netmend.program.engine.values import Call, Operation, Value
from netmend.program.meaning.uses import arithmetic, operations

# What a sum or mean of hits is written with.
KEEPS = frozenset(
    (*CASTS, *COPIES, *OFF_DEVICE, *VIEWS, "sum", "mean", "item", "astype", "tolist", "numpy", "ravel", "float", "int", "long", "extend", "append")
)  # fmt: skip
MASKED = frozenset(
    ("masked_fill", "masked_fill_", "where", "masked_select", "fill_diagonal_", "eye", "tril", "triu", "diag")
)
_METRICS = ("sklearn.metrics.", "torchmetrics.functional.", "torcheval.metrics.functional.")


@dataclass(frozen=True)
class Comparison:
    """`a == b`, also as `a.eq(b)`."""

    value: Value
    sides: tuple[Value, Value]


@once
def comparisons(program: Program) -> tuple[Comparison, ...]:
    found = [
        Comparison(value, (value.operands[0], value.operands[1]))
        for value, _ in arithmetic(program)
        if value.operator == "==" and len(value.operands) == 2
    ]
    found += [
        Comparison(op.value, (op.inputs[0], op.inputs[1]))
        for op, _ in operations(program, "eq")
        if len(op.inputs) == 2
    ]
    return tuple(found)


def is_score(value: Value) -> bool:
    """A metric of a library, or a comparison of answers with the truth."""
    if isinstance(value, Operation):
        return value.operator == "=="
    return isinstance(value, Call) and value.qualified.startswith(_METRICS)


@dataclass(frozen=True)
class Scored:
    """A metric of a library: what is true, what was answered."""

    name: str
    event: CallEvent
    truth: Value
    answer: Value


@once
def scored(program: Program) -> tuple[Scored, ...]:
    return tuple(_scored(program))


def _scored(program: Program) -> Iterator[Scored]:
    for event in program.calls:
        call = event.call
        if not call.qualified.startswith(_METRICS):
            continue
        is_first = call.qualified.startswith("sklearn.")  # elsewhere the answers come first
        truth = call.argument("y_true", 0) if is_first else call.argument("target", 1)
        answer = (
            call.argument("y_pred" if "y_pred" in call.keywords else "y_score", 1)
            if is_first
            else call.argument("preds", 0)
        )
        if truth is not None and answer is not None:
            yield Scored(call.qualified.rpartition(".")[2], event, truth, answer)
