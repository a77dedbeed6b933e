"""Arrays and tensors as data: the same numbers behind conversions, parts cut by slices, train/test splits."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.library.operations import CASTS, COPIES, MOVES, VIEWS
from netmend.program.engine.history import StoreEvent
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Item,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.remember import once

SPLIT = "sklearn.model_selection.train_test_split"
_METHODS = frozenset(
    (
        *MOVES,
        *CASTS,
        *COPIES,
        *VIEWS,
        "astype",
        "numpy",
        "to_numpy",
        "copy",
        "detach",
        "tolist",
        "requires_grad_",
        "ravel",
        "ascontiguousarray",
    )
)
_FUNCTIONS = frozenset(
    ["torch.tensor", "torch.as_tensor", "torch.from_numpy", "torch.Tensor", "torch.FloatTensor", "torch.LongTensor", "numpy.array",
     "numpy.asarray", "numpy.float32", "numpy.ascontiguousarray", "numpy.expand_dims", "numpy.squeeze", "numpy.reshape", "torch.unsqueeze",
     "torch.squeeze", "torch.flatten", "torch.reshape", "torch.permute", "torch.transpose", "numpy.transpose", "numpy.ravel", "list",
     "pandas.DataFrame"]
)  # fmt: skip


def same_numbers(value: Value) -> Value:
    """What a value holds, behind conversions that keep every number and the order of rows."""
    for _ in range(40):
        value = resolved(value)
        if isinstance(value, Call):
            if value.method in _METHODS and value.receiver is not None:
                value = value.receiver
                continue
            if value.args and (value.qualified in _FUNCTIONS or _is_layout_layer(value.function)):
                value = value.args[0]
                continue
        elif isinstance(value, Attribute) and value.name == "values":
            value = value.base
            continue
        return value
    return value


def _is_layout_layer(function: Value) -> bool:
    layer = resolved(function)
    return isinstance(layer, Call) and layer.qualified in (
        "torch.nn.Flatten",
        "torch.nn.Identity",
        "torch.nn.Unflatten",
    )


@dataclass(frozen=True)
class Cut:
    """A run of rows that is stored under a name: `x_train = x[:800]`."""

    name: str
    base: Value
    lower: Value | None
    upper: Value | None
    event: StoreEvent
    item: Item | None  # None: the whole

    def bounds(self) -> tuple[int | None, int | None] | None:
        """Constant bounds, None for an open end; nothing when one is not known or counts from the end."""
        lower, upper = constant(self.lower), constant(self.upper)
        if not isinstance(self.lower, Const) or not isinstance(self.upper, Const):
            return None
        for bound in (lower, upper):
            if bound is not None and (not isinstance(bound, int) or bound < 0):
                return None
        return lower, upper


@once
def cuts(program: Program) -> tuple[Cut, ...]:
    """Rows that are cut out of an array by a slice and stored, in order."""
    found = []
    for event in program.stores:
        if not event.target.name:
            continue
        item = same_numbers(event.value)
        if isinstance(item, Item):
            rows = _rows(item.key)
            if rows is not None:
                found.append(Cut(event.target.name, same_numbers(item.base), rows[0], rows[1], event, item))
    return tuple(found)


def _rows(key: Value) -> tuple[Value, Value] | None:
    """Start and end of a slice over rows without a step."""
    if isinstance(key, Collection) and key.items:
        if not all(isinstance(part, Operation) and part.operator == "slice" for part in key.items):
            return None
        key = key.items[0]
    if isinstance(key, Operation) and key.operator == "slice" and constant(key.operands[2]) is None:
        is_whole = all(isinstance(bound, Const) and bound.value is None for bound in key.operands[:2])
        return None if is_whole else (key.operands[0], key.operands[1])
    return None


def complements(program: Program) -> Iterator[tuple[Cut, Cut]]:
    """Pairs of cuts of one array where the second begins where the first ends: a split."""
    known = cuts(program)
    for first in known:
        if constant(first.lower, 0) not in (None, 0) or not _is_bound(first.upper):
            continue
        for second in known:
            if (
                second.base is first.base
                and _is_bound(second.lower)
                and _same_bound(first.upper, second.lower)
            ):
                yield first, second
                break


def _is_bound(value: Value | None) -> bool:
    return value is not None and constant(value, 0) is not None


def _same_bound(one: Value | None, other: Value | None) -> bool:
    if one is other:
        return True
    return isinstance(one, Const) and isinstance(other, Const) and one.value == other.value


def split_part(value: Value | None) -> tuple[Call, int] | None:
    """For a part of `train_test_split(…)`: the call and the position of the part (odd: test)."""
    value = same_numbers(value) if value is not None else None
    if isinstance(value, Item) and isinstance(value.key, Const) and isinstance(value.key.value, int):
        call = resolved(value.base)
        if isinstance(call, Call) and call.qualified == SPLIT:
            return call, value.key.value
    return None


def function_around(program: Program, node: ast.AST) -> ast.AST | None:
    """The function that a node is written in; None at the top level."""
    return next(
        (
            above
            for above in program.above(node)
            if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        ),
        None,
    )
