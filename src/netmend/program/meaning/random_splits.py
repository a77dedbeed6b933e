"""Random splits of rows: what is divided, by which call, and by which groups if by any."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.program.engine.program import Program, once
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Item,
    Name,
    Operation,
    Unknown,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.arrays import SPLIT, same_numbers
from netmend.program.meaning.batches import spread
from netmend.program.meaning.operations import parts_of, walk

_SPLITTERS = "sklearn.model_selection."
_SHUFFLED = ("ShuffleSplit", "StratifiedShuffleSplit")
_WITH_SHUFFLE = ("KFold", "StratifiedKFold")
_REPEATED = ("RepeatedKFold", "RepeatedStratifiedKFold")
_ORDERS = frozenset(("randperm", "permutation", "shuffle", "permuted"))
_DRAWS = frozenset(
    ("rand", "random", "random_sample", "uniform", "random_integers", "binomial", "choice", "bernoulli")
)


@dataclass(frozen=True)
class RandomSplit:
    """Rows are divided at random. `data`: the arrays, tables, lists or data sets whose rows they are."""

    node: ast.AST
    data: tuple[Value, ...]
    order: int


@once
def random_splits(program: Program) -> tuple[RandomSplit, ...]:
    """Those that draw rows one by one; where groups are drawn there is none."""
    found = [*_calls(program), *_indexed(program), *_samples(program), *_shuffled_lists(program)]
    return tuple(sorted(found, key=lambda split: split.order))


def _calls(program: Program) -> Iterator[RandomSplit]:
    for event in program.calls:
        call = event.call
        data = _divided(call)
        if data:
            yield RandomSplit(event.node, data, event.order)


def _divided(call: Call) -> tuple[Value, ...]:
    is_shuffled = constant(call.keywords.get("shuffle"), True) is not False
    if call.qualified == SPLIT:
        return spread(call) if is_shuffled else ()
    if call.qualified == "torch.utils.data.random_split":
        return call.args[:1]
    if call.method == "train_test_split" and call.receiver is not None:  # a Dataset of Hugging Face
        return (call.receiver,) if is_shuffled else ()
    if call.method == "split" and "groups" not in call.keywords and 1 <= len(call.args) <= 2:
        made = resolved(call.receiver)
        if isinstance(made, Call) and made.qualified.startswith(_SPLITTERS):
            name = made.qualified.removeprefix(_SPLITTERS)
            shuffles = constant(made.argument("shuffle", 1)) is True and name in _WITH_SHUFFLE
            return call.args if shuffles or name in (*_SHUFFLED, *_REPEATED) else ()
    return ()


def _samples(program: Program) -> Iterator[RandomSplit]:
    """`train = df.sample(frac=0.8)` beside `df.drop(train.index)`."""
    for event in program.methods_of("sample"):
        call = event.call
        if (
            call.receiver is None
            or not {"frac", "n"} & set(call.keywords)
            or constant(call.keywords.get("frac")) == 1
        ):
            continue
        for other in program.methods_of("drop"):
            given = other.call.args[:1]
            rest = resolved(given[0]) if given else None
            if isinstance(rest, Attribute) and rest.name == "index" and resolved(rest.base) is call:
                yield RandomSplit(event.node, (call.receiver,), event.order)


def _indexed(program: Program) -> Iterator[RandomSplit]:
    """Rows picked by the two parts of a drawn order, or by a drawn mask and its opposite."""
    parts: dict[int, tuple[Call, set[object], list[Value], int]] = {}
    shuffled = _shuffled_in_place(program)
    for value, order in _values(program):
        keys = _row_keys(value)
        for base, key in keys:
            draw, side = _draw(key, shuffled)
            if draw is not None and draw.node is not None:
                known = parts.setdefault(id(draw), (draw, set(), [], order))
                known[1].add(side)
                if not any(base is other for other in known[2]):
                    known[2].append(base)
    for draw, sides, data, order in parts.values():
        if len(sides) > 1 and draw.node is not None:
            yield RandomSplit(draw.node, tuple(data), order)


def _shuffled_lists(program: Program) -> Iterator[RandomSplit]:
    """Rows themselves, shuffled where they are and then cut: `random.shuffle(files); test = files[:n]`."""
    shuffled = _shuffled_in_place(program)
    cut: set[int] = set()
    for value, order in _values(program):
        if not isinstance(value, Item) or getattr(resolved(value.key), "operator", "") != "slice":
            continue
        rows = resolved(value.base)
        call = shuffled.get(id(rows))
        if call is not None and call.node is not None and id(call) not in cut and _is_of_rows(call):
            cut.add(id(call))
            yield RandomSplit(call.node, (rows,), order)


def _values(program: Program) -> Iterator[tuple[Value, int]]:
    """Everything that takes part in an event, once, with when it does first."""
    seen: set[int] = set()
    for event in program.events:
        waiting = [event.value]
        while waiting:
            value = waiting.pop()
            if id(value) not in seen:
                seen.add(id(value))
                yield value, event.order
                waiting.extend(parts_of(value))


def _row_keys(value: Value) -> list[tuple[Value, Value]]:
    """`x[key]`, `df.iloc[key]`, `Subset(data, key)`, `[rows[i] for i in key]`: what is picked from, and by what."""
    if isinstance(value, Item):
        base = resolved(value.base)
        if isinstance(base, Attribute) and base.name in ("loc", "iloc"):
            base = resolved(base.base)
        if isinstance(base, Name):
            return []
        key = resolved(value.key)
        if isinstance(key, Collection) and key.kind == "tuple" and key.items:
            key = resolved(key.items[0])
        return [(base, key)]
    if isinstance(value, Call) and value.qualified == "torch.utils.data.Subset" and len(value.args) == 2:
        return [(resolved(value.args[0]), resolved(value.args[1]))]
    if (
        isinstance(value, Call)
        and value.qualified == "torch.utils.data.DataLoader"
        and "sampler" in value.keywords
        and value.args
    ):
        sampler = resolved(value.keywords["sampler"])
        if isinstance(sampler, Call) and sampler.qualified.endswith("SubsetRandomSampler") and sampler.args:
            return [(resolved(value.args[0]), resolved(sampler.args[0]))]
    return []


def _draw(key: Value, shuffled: dict[int, Call]) -> tuple[Call | None, object]:
    """The draw behind a key that picks rows, and which side of it."""
    side: object = "whole"
    for _ in range(12):
        key = same_numbers(resolved(key))
        if isinstance(key, Operation) and key.operator in ("~", "not"):
            key, side = key.operands[0], "opposite"
        elif isinstance(key, Operation) and key.operator in ("<", ">", "<=", ">=") and key.operands:
            draw = resolved(key.operands[0])
            return (
                (draw, side if side == "opposite" else key.operator)
                if _is_draw(draw, _DRAWS) and isinstance(draw, Call)
                else (None, side)
            )
        elif isinstance(key, Item) and isinstance(resolved(key.key), Operation):
            bounds = resolved(key.key)
            assert isinstance(bounds, Operation)
            if bounds.operator != "slice":
                return None, side
            side = "front" if constant(bounds.operands[0], 1) in (None, 0) else "back"
            key = key.base
        elif isinstance(key, Call) and key.qualified in ("sorted", "set", "numpy.sort", "list") and key.args:
            key = key.args[0]
        else:
            break
    if id(key) in shuffled:
        return shuffled[id(key)], side
    is_order = isinstance(key, Call) and _is_draw(key, _ORDERS) and _is_of_rows(key)
    return (key if is_order and isinstance(key, Call) else None), side


def _is_draw(value: Value | None, names: frozenset[str]) -> bool:
    if not isinstance(value, Call):
        return False
    if value.qualified:
        short = value.qualified.rpartition(".")[2]
        return short in names and value.qualified.startswith(("numpy.random.", "torch.", "random."))
    return value.method in names


def _is_of_rows(draw: Call) -> bool:
    """Is it an order of row numbers, not of keys that rows are looked up by?"""
    given = resolved(draw.args[0]) if draw.args else None
    if isinstance(given, Call) and given.method in ("unique", "keys", "groupby"):
        return False
    return not any(
        isinstance(part, Call) and (part.method or part.qualified.rpartition(".")[2]) == "unique"
        for part in walk(given)
    )


def _shuffled_in_place(program: Program) -> dict[int, Call]:
    """Lists and arrays of row numbers, or of rows, that are shuffled where they are."""
    found: dict[int, Call] = {}
    for event in program.calls:
        call = event.call
        if (
            call.qualified in ("random.shuffle", "numpy.random.shuffle") or call.method == "shuffle"
        ) and call.args:
            rows = resolved(call.args[0])
            if not isinstance(rows, Unknown):
                found[id(rows)] = call
    return found
