"""Which data a model is trained on and which only evaluate it, followed through tables, data sets and loaders."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from netmend.program.engine.arithmetic import is_something
from netmend.program.engine.history import AUGMENT, STORE, Body, Event
from netmend.program.engine.program import Program, once
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Either,
    Element,
    Function,
    Instance,
    Item,
    Operation,
    Value,
    resolved,
)
from netmend.program.meaning.batches import sample_of_dataset
from netmend.program.meaning.loaders import LOADER_NAME, drawn
from netmend.program.meaning.models import is_module
from netmend.program.meaning.operations import reached
from netmend.program.meaning.roles import MODEL, bare, role
from netmend.program.meaning.statements import is_for_evaluation, is_for_training
from netmend.program.meaning.training import backward_calls, loss_of

_MOST = 30_000  # values of one part that are looked at
_PLACES = frozenset(("loc", "iloc", "at", "iat"))  # views of a table that are stored into


@dataclass(frozen=True)
class Parts:
    """The values that training is computed from, and those that evaluation alone is computed from."""

    trained: Mapping[int, Value]
    evaluated: Mapping[int, Value]
    asked: frozenset[
        int
    ]  # those of the latter that a model is asked with, not what its answers are compared with
    questions: tuple[Call, ...]  # calls of the models, in training and elsewhere


@once
def parts(program: Program) -> Parts:
    flow = flows(program)
    trained = _all(flow, (loss_of(event) for event in backward_calls(program)))
    models = {
        id(bare(value.function))
        for value in trained.values()
        if isinstance(value, Call) and is_module(value.function)
    }
    questions = [
        event.call
        for event in program.calls
        if id(bare(event.call.function)) in models and not _in_model(event)
    ]
    asked = _all(flow, (given for call in questions if id(call) not in trained for given in call.given))
    named = [event for event in program.stores if event.target.name]
    if not trained:
        trained = _all(flow, (event.value for event in named if is_for_training(event.target.name)))
    reserved = _all(flow, (event.value for event in named if is_for_evaluation(event.target.name)))
    evaluated = {key: value for key, value in (asked | reserved).items() if key not in trained}
    return Parts(trained, evaluated, frozenset(asked), tuple(questions))


def _in_model(event: Event) -> bool:
    """Does a call of a layer happen inside the model that it belongs to?"""
    return any(
        isinstance(part, Body)
        and part.function.owner is not None
        and is_module(part.function.owner)
        and part.function.name in ("forward", "__call__")
        for part in event.around()
    )


def _all(flow: Flow, roots: Iterable[Value | None]) -> dict[int, Value]:
    together = Collection("tuple", [root for root in roots if root is not None])
    return {id(value): value for value in reached(together, flow.sources, _MOST) if value is not together}


class Flow:
    """What each value is made from: also columns that are stored in a table, and what an object of the program holds."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.stored: dict[int, list[tuple[Value | None, Value]]] = defaultdict(list)
        for event in program.events:
            target = event.target
            if event.kind in (STORE, AUGMENT) and target is not None and target.base is not None:
                for table in tables(target.base):
                    self.stored[id(table)].append((target.key, event.value))

    def column(self, table: Value, key: Value) -> list[Value]:
        """What was stored in a column of a table."""
        return [value for known, value in self.stored.get(id(resolved(table)), ()) if _same(known, key)]

    def sources(self, value: Value) -> Iterator[Value]:
        one = _picked(self.program, value)
        if one is not None:
            return iter((one,))
        sample = sample_of_dataset(self.program, value) if isinstance(value, Instance) else None
        stored = (made for _, made in self.stored.get(id(value), ()))
        return chain(_sources(value), stored, () if sample is None else (sample,))


def _picked(program: Program, value: Value) -> Value | None:
    """One part of what a loader draws or a list of tuples holds: `path, label = self.items[i]`."""
    if not isinstance(value, Item) or not isinstance(value.key, Const):
        return None
    sample = drawn(program, value)
    if sample is not None:
        return sample
    base = resolved(value.base)
    held = base.base if isinstance(base, Item) else base.iterable if isinstance(base, Element) else None
    held = resolved(held)
    if not isinstance(held, Collection) or held.kind == "dict" or len(held.items) != 1:
        return None
    one = resolved(held.items[0])
    place = value.key.value
    if not isinstance(one, Collection) or one.kind != "tuple" or one.open or not isinstance(place, int):
        return None
    return one.items[place] if place < len(one.items) else None


@once
def flows(program: Program) -> Flow:
    return Flow(program)


def tables(base: Value) -> Iterator[Value]:
    """The tables that are stored into: one, or each of those that a loop runs over."""
    base = resolved(base)
    while isinstance(base, Attribute) and base.name in _PLACES:
        base = resolved(base.base)
    if isinstance(base, Item) and isinstance(base.base, Element) and isinstance(base.key, Const):
        base = base.base  # `for name, df in {"train": train, "test": test}.items()`
    if isinstance(base, Element) and (several := written_out(base.iterable)) is not None:
        yield from (resolved(item) for item in several.items)
    elif not isinstance(base, Instance):
        yield base


def written_out(iterable: Value) -> Collection | None:
    """The tuple or list that a loop runs over: `for df in (train, test)`."""
    inner = resolved(iterable)
    is_plain = isinstance(inner, Collection) and inner.kind in ("tuple", "list", "values", "items")
    return inner if is_plain and isinstance(inner, Collection) and not inner.open else None


def _same(one: Value | None, other: Value | None) -> bool:
    if one is other:
        return True
    return isinstance(one, Const) and isinstance(other, Const) and one.value == other.value


def _sources(value: Value) -> Iterator[Value]:
    if isinstance(value, Call):
        yield from _of_call(value)
    elif isinstance(value, Instance):
        if not is_module(value):
            yield from value.attributes.values()
    elif isinstance(value, Attribute):
        yield value.base
    elif isinstance(value, Item):
        yield value.base
        if not _is_test(value.key):
            yield value.key
    elif isinstance(value, Operation):
        if value.operator == "or" and is_something(value.operands[0]):
            yield value.operands[0]
        else:
            yield from value.operands
    elif isinstance(value, Either):
        yield from value.options
    elif isinstance(value, Collection):
        yield from value.items
        yield from (key for key in value.keys or () if key is not None)
    elif isinstance(value, Element) and written_out(value.iterable) is None:
        yield value.iterable  # of parts that are written out one does not make another


def _is_test(key: Value) -> bool:
    """`rows[groups == 3]`: what is compared decides which rows, not what stands in them."""
    key = resolved(key)
    return isinstance(key, Operation) and key.operator in (
        "==",
        "!=",
        "<",
        "<=",
        ">",
        ">=",
        "&",
        "|",
        "~",
        "in",
        "not in",
    )


def _of_call(call: Call) -> Iterator[Value]:
    if call.result is not None:
        yield call.result
        return
    if role(call) == MODEL:
        return
    function = call.function
    if isinstance(function, Attribute):
        yield function.base
    elif isinstance(function, Function) and function.owner is not None:
        yield function.owner
    if call.qualified == LOADER_NAME:
        dataset = call.argument("dataset", 0)
        yield from (dataset,) if dataset is not None else ()
        return
    yield from call.given
