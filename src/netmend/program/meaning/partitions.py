"""Where data is parted into rows to train with and rows to evaluate: by functions of libraries, folds, cuts and conditions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from netmend.program.engine.history import Event, StoreEvent
from netmend.program.engine.program import Program, once
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Element,
    Item,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.arrays import SPLIT, complements, same_numbers, split_part
from netmend.program.meaning.operations import walk
from netmend.program.meaning.rows import LOCATORS, rows_of
from netmend.program.meaning.sequences import alike
from netmend.program.meaning.statements import is_for_evaluation, is_for_labels, is_for_training
from netmend.program.meaning.training import loss_of, rounds

RANDOM_SPLIT = "torch.utils.data.random_split"
_CROSS = tuple(
    f"sklearn.model_selection.{name}" for name in ("cross_val_score", "cross_validate", "cross_val_predict")
)
DRAWN, FOLDS, CUT = "drawn", "folds", "cut"


@dataclass(frozen=True)
class Partition:
    """Data of which some rows train a model and others judge it."""

    kind: str  # DRAWN at random, FOLDS, or CUT by place or condition
    inputs: tuple[Value, ...]  # arrays and tables; where targets stand apart they are not among them
    targets: tuple[Value, ...]
    event: Event
    by_group: bool = False


@once
def partitions(program: Program) -> tuple[Partition, ...]:
    found = [*_drawn(program), *_folds(program), *_cuts(program), *_conditions(program), *_heads(program)]
    return tuple(sorted(found, key=lambda partition: partition.event.order))


def _drawn(program: Program) -> Iterator[Partition]:
    picked = _picked(program)
    for event in program.calls_of(SPLIT):
        if event.call.args:
            given = {id(same_numbers(value)): value for value in event.call.args[:1]}
            given |= {id(base): base for base in picked.get(id(event.call), ())}
            yield Partition(DRAWN, tuple(given.values()), event.call.args[1:], event)
    for event in program.calls_of(RANDOM_SPLIT):
        dataset = event.call.argument("dataset", 0)
        if dataset is not None:
            yield Partition(DRAWN, (dataset,), (), event)
    for event in program.calls_of(*_CROSS):
        if len(event.call.args) > 1:
            yield Partition(FOLDS, event.call.args[1:2], event.call.args[2:3], event)
    for event in program.methods_of("random_split"):
        if event.call.receiver is not None:
            yield Partition(DRAWN, (event.call.receiver,), (), event)


def folds_of(value: Value | None) -> Call | None:
    """The `KFold(5).split(X, y)` that row numbers of a fold are drawn from."""
    for part in walk(value):
        source = resolved(part.iterable) if isinstance(part, Element) else part
        if isinstance(source, Call) and source.method == "split":
            made = resolved(source.receiver)
            if isinstance(made, Call) and made.qualified.startswith("sklearn.model_selection."):
                return source
    return None


def _folds(program: Program) -> Iterator[Partition]:
    """`for train, test in KFold(5).split(X, y)`, with every array that these rows are picked from."""
    picked = _picked(program)
    for event in program.methods_of("split"):
        made = resolved(event.call.receiver)
        if not isinstance(made, Call) or not made.qualified.startswith("sklearn.model_selection."):
            continue
        targets = event.call.args[1:2]
        aims = {id(same_numbers(target)) for target in targets}
        known = {
            id(same_numbers(value)): value
            for value in (*event.call.args[:1], *picked.get(id(event.call), ()))
        }
        inputs = tuple(value for key, value in known.items() if key not in aims)
        yield Partition(FOLDS, inputs, targets, event, by_group="Group" in made.qualified)


@once
def _picked(program: Program) -> dict[int, list[Value]]:
    """Tables and arrays that rows are picked from by the row numbers of a split, by the split's call."""
    found: dict[int, list[Value]] = {}
    for item in _items(program):
        source = folds_of(item.key)
        part = split_part(item.key)
        if source is not None or part is not None:
            of = source if source is not None else part[0] if part is not None else None
            found.setdefault(id(of), []).append(_located(resolved(item.base)))
    for event in program.calls_of("torch.utils.data.Subset"):
        part = split_part(event.call.argument("indices", 1))
        if part is not None:
            found.setdefault(id(part[0]), []).extend(event.call.args[:1])
    return found


def _items(program: Program) -> Iterator[Item]:
    seen: set[int] = set()
    for event in program.events:
        given = (event.value, *(event.call.given if event.call is not None else ()))
        for value in given:
            if id(value) in seen:
                continue
            seen.add(id(value))
            for part in walk(value):
                if isinstance(part, Item) and id(part) not in seen:
                    seen.add(id(part))
                    yield part


def _located(base: Value) -> Value:
    return resolved(base.base) if isinstance(base, Attribute) and base.name in LOCATORS else base


@once
def trained_with(program: Program) -> frozenset[int]:
    """Everything that losses of training are computed from, by identity."""
    return frozenset(
        id(part)
        for turn in rounds(program)
        for backward in turn.backward
        for part in rows_of(program, loss_of(backward))
    )


def is_split(program: Program, first: str, second: str, one: Value, other: Value) -> bool:
    """Does one of two parts train and the other not, as their names or their use tell?"""
    if is_for_labels(first) or is_for_labels(second):
        return False
    if is_for_training(first) and is_for_evaluation(second):
        return True
    if is_for_training(second) and is_for_evaluation(first):
        return True
    used = trained_with(program)
    return (id(one) in used) != (id(other) in used)


def _cuts(program: Program) -> Iterator[Partition]:
    """`x[:n]` and `x[n:]`; where numbers of rows are cut, whatever is picked by them."""
    by_key: dict[int, list[Value]] = {}
    for item in _items(program):
        by_key.setdefault(id(same_numbers(item.key)), []).append(_located(resolved(item.base)))
    for first, second in complements(program):
        if first.item is None or second.item is None:
            continue
        bases = [base for part in (first.item, second.item) for base in by_key.get(id(part), ())]
        if bases:
            yield Partition(CUT, tuple({id(base): base for base in bases}.values()), (), second.event)
        elif is_split(program, first.name, second.name, first.item, second.item):
            yield Partition(CUT, (first.base,), (), second.event)


def _conditions(program: Program) -> Iterator[Partition]:
    """`df[mask]` and `df[~mask]`, `df[df.year < 2015]` and `df[df.year >= 2015]`."""
    picked: list[tuple[StoreEvent, Item, Value]] = []
    for event in program.stores:
        item = same_numbers(event.value)
        if (
            event.target.name
            and isinstance(item, Item)
            and isinstance(resolved(item.key), Operation | Call | Item)
        ):
            picked.append((event, item, _located(resolved(item.base))))
    for place, (event, item, base) in enumerate(picked):
        for earlier, other, whole in picked[:place]:
            if whole is base and are_opposite(resolved(item.key), resolved(other.key)):
                if is_split(program, earlier.target.name, event.target.name, other, item):
                    yield Partition(CUT, (base,), (), event)
                break


_OPPOSITE = {("<", ">="), (">", "<="), ("==", "!=")}


def are_opposite(one: Value, other: Value) -> bool:
    """Is one condition true just where the other is not?"""
    for plain, negated in ((one, other), (other, one)):
        if isinstance(negated, Operation) and negated.operator == "~":
            inner = resolved(negated.operands[0])
            if inner is plain or alike(inner, plain):
                return True
    if isinstance(one, Item) and isinstance(other, Item):  # `order[:n]` and `order[n:]`
        return resolved(one.base) is resolved(other.base) and _are_side_by_side(one.key, other.key)
    if not isinstance(one, Operation) or not isinstance(other, Operation):
        return False
    if len(one.operands) != 2 or len(other.operands) != 2:
        return False
    signs = (one.operator, other.operator)
    if signs not in _OPPOSITE and signs[::-1] not in _OPPOSITE:
        return False
    return all(_same(left, right) for left, right in zip(one.operands, other.operands, strict=True))


def _are_side_by_side(one: Value, other: Value) -> bool:
    """`[:n]` and `[n:]`"""
    keys = [resolved(one), resolved(other)]
    if not all(isinstance(key, Operation) and key.operator == "slice" for key in keys):
        return False
    for first, second in (keys, keys[::-1]):
        if isinstance(first, Operation) and isinstance(second, Operation):
            end, start = resolved(first.operands[1]), resolved(second.operands[0])
            is_bound = not (isinstance(end, Const) and end.value is None)
            alike_bounds = end is start or (isinstance(end, Const) and constant(start, ...) == end.value)
            if is_bound and alike_bounds and constant(first.operands[0], ...) in (None, 0):
                return True
    return False


def _same(one: Value, other: Value) -> bool:
    one, other = resolved(one), resolved(other)
    return one is other or alike(one, other)


def _heads(program: Program) -> Iterator[Partition]:
    """`table.head(k)` and `table.tail(n - k)`, `df.sample(frac=0.8)` and `df.drop(train.index)`."""
    firsts = {id(resolved(event.call.receiver)): event for event in program.methods_of("head", "sample")}
    for event in program.methods_of("tail", "slice"):
        receiver = resolved(event.call.receiver)
        first = firsts.get(id(receiver))
        if (
            receiver is not None
            and first is not None
            and (event.call.method == "tail" or _is_open(event.call))
        ):
            used = trained_with(program)
            if (id(first.call) in used) != (id(event.call) in used):
                yield Partition(CUT, (receiver,), (), event)
    for event in program.methods_of("drop"):
        receiver = resolved(event.call.receiver)
        first = firsts.get(id(receiver))
        dropped = resolved(event.call.argument("labels", 0) or event.call.argument("index"))
        if receiver is None or first is None or not isinstance(dropped, Attribute) or dropped.name != "index":
            continue
        if same_numbers(dropped.base) is first.call:
            yield Partition(DRAWN, (receiver,), (), event)


def _is_open(call: Call) -> bool:
    return len(call.args) == 1 and not call.keywords and not isinstance(resolved(call.args[0]), Collection)
