"""Counts of classes, and in which order they stand: `value_counts()` and `most_common()` put the most frequent first."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Either,
    Element,
    Item,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.operations import walk

_ARITHMETIC = frozenset(("+", "-", "*", "/", "//", "**", "neg"))
_POSITIONS = frozenset(
    ("values", "to_numpy", "tolist", "to_list", "to_torch")
)  # from here on places count, not names
# One number for each number, in the same order.
_EACH = frozenset(
    ("astype", "float", "double", "half", "to", "cuda", "cpu", "numpy", "div", "truediv", "rdiv", "rtruediv", "mul", "rmul", "multiply", "divide",
     "true_divide", "pow", "rpow", "sqrt", "rsqrt", "log", "log1p", "exp", "reciprocal", "clip", "clamp", "apply", "map", "transform", "rename",
     "copy", "clone", "add", "sub", "radd", "rsub", "round", "softmax", "cast", "view", "reshape", "squeeze", "flatten", "ravel", "items", "keys",
     "to_dict", "to_frame", "reset_index", "abs", "power", "unsqueeze", "float32", "float64", "detach", "iteritems")
)  # fmt: skip
_MAKES_ARRAY = frozenset(("tensor", "as_tensor", "from_numpy", "FloatTensor", "Tensor", "array", "asarray", "fromiter", "list", "tuple"))  # fmt: skip
_RUNS_OVER = frozenset(("enumerate", "zip", "iter", "tqdm", "dict", "map"))
_MOST = 30


def counted(value: Value | None) -> Call | None:
    """The call that gave values their order, by frequency; None where the order is another or unknown."""
    return _counted(value, _MOST)[0]


def counted_by_place(value: Value | None) -> Call | None:
    """The same for an array or a list, in which a class finds its value by place and no longer by name."""
    call, by_place = _counted(value, _MOST)
    return call if by_place else None


_UNKNOWN: tuple[Call | None, bool] = (None, False)


def _counted(value: Value | None, depth: int) -> tuple[Call | None, bool]:
    value = resolved(value)
    if value is None or depth == 0:
        return _UNKNOWN
    if isinstance(value, Call):
        return _by_call(value, depth - 1)
    if isinstance(value, Attribute):
        found, by_place = _counted(value.base, depth - 1)
        if value.name in _POSITIONS:
            return found, True
        return (found, by_place) if value.name == "index" else _UNKNOWN
    if isinstance(value, Operation) and value.operator in _ARITHMETIC:
        return next((each for part in value.operands if (each := _counted(part, depth - 1))[0]), _UNKNOWN)
    if isinstance(value, Collection):
        return _by_items(value, depth - 1), value.kind != "dict"
    if isinstance(value, Item) and isinstance(constant(value.key), str):
        return _counted(value.base, depth - 1)  # the column of counts
    if isinstance(value, Either):
        kinds = [_counted(option, depth - 1) for option in value.options if not isinstance(option, Const)]
        return kinds[0] if kinds and all(call is not None for call, _ in kinds) else _UNKNOWN
    return _UNKNOWN


def _by_call(call: Call, depth: int) -> tuple[Call | None, bool]:
    if call.method == "value_counts" or call.qualified == "pandas.value_counts":
        return (call, False) if _sorts(call) else _UNKNOWN
    if call.method == "most_common":
        return call, True
    short = call.method or call.qualified.rpartition(".")[2]
    if short in _MAKES_ARRAY or (call.method and call.method in _POSITIONS):
        return _counted(call.subject, depth)[0], True
    if short in _EACH:
        given = [call.subject, *call.args]
        return next((each for part in given if (each := _counted(part, depth))[0]), _UNKNOWN)
    if call.qualified in _RUNS_OVER and call.args:
        return _counted(call.args[-1], depth)[0], True
    if call.method == "values":  # of a dictionary
        return _counted(call.receiver, depth)[0], True
    return _UNKNOWN


def _sorts(call: Call) -> bool:
    """pandas sorts by count unless told otherwise; polars where it is told."""
    given = call.keywords.get("sort")
    made = next((part for part in walk(call.receiver) if isinstance(part, Call) and part.qualified), None)
    if made is not None and made.qualified.startswith("polars."):
        return constant(given) is True
    return given is None or constant(given) is True


def _by_items(made: Collection, depth: int) -> Call | None:
    """`[n / c for c in counts]`, or a list that a loop over the counts fills."""
    if not made.open or len(made.items) != 1:
        return None
    return next((call for over in _loops_in(made.items[0]) if (call := _counted(over, depth)[0])), None)


def _loops_in(value: Value) -> Iterator[Value]:
    """What the loops run over whose elements a value is computed from; of a lookup that is its key."""
    for part in walk(value, into=lambda part: not isinstance(part, Element)):
        if isinstance(part, Element):
            yield part.iterable
        if isinstance(part, Item) and isinstance(key := resolved(part.key), Element):
            yield key.iterable
