"""Where rows are laid side by side: by place, as inputs and targets are, or by label, as pandas does it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, permutations

from netmend.program.engine.program import Program, once
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Element,
    Instance,
    Item,
    Param,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.arrays import SPLIT
from netmend.program.meaning.batches import INDEX
from netmend.program.meaning.loaders import LOADER_NAME, dataset_of, samples_of
from netmend.program.meaning.losses import losses
from netmend.program.meaning.operations import walk
from netmend.program.meaning.row_orders import ANY, MIXED, SOME, SORTED, Step, Table
from netmend.program.meaning.row_words import first_key, without_locator
from netmend.program.meaning.table_rows import table_of

_LENGTH = re.compile(r":\s*(len\(.+\)|\w+\.shape\[0\])")
_STACKS = ("numpy.column_stack", "numpy.hstack", "numpy.dstack", "torch.hstack", "torch.column_stack")


@dataclass(frozen=True)
class Meeting:
    """Two tables or arrays whose rows meet, and where."""

    one: Table
    other: Table
    node: ast.AST
    of_loss: bool = False  # what a loss compares: may be mixed on purpose


@once
def by_place(program: Program) -> tuple[Meeting, ...]:
    """Arrays, lists and columns whose rows are taken to belong together because they stand at the same place."""
    found: list[Meeting] = []
    losing = {id(use.node) for use in losses(program)}
    for one, other, node in _laid_together(program):
        for left in _tables(program, one):
            for right in _tables(program, other):
                if left is not right:
                    found.append(Meeting(left, right, node, id(node) in losing))
    return tuple(found)


def _tables(program: Program, value: Value) -> list[Table]:
    """The tables that a value is computed from, each as late as it is known."""
    found: list[Table] = []

    def enter(part: Value) -> bool:
        table = table_of(program, part)
        if table is not None and not any(table is known for known in found):
            found.append(table)
        return table is None and not _is_closed(program, part)

    for _ in walk(value, into=enter):
        pass
    return found[:4]


_LIBRARIES = ("numpy.", "pandas.", "polars.", "sklearn.", "scipy.")


def _is_closed(program: Program, value: Value) -> bool:
    """Something made of a table in a way that is not followed, or of one row of it: its rows are its own."""
    if isinstance(value, Element):
        return True
    if isinstance(value, Call):
        if value.qualified and "." not in value.qualified:  # `len(files)`
            return True
        return value.qualified.startswith(_LIBRARIES) or (
            value.receiver is not None and table_of(program, value.receiver) is not None
        )
    return isinstance(value, Item | Attribute) and table_of(program, value.base) is not None


def _laid_together(program: Program) -> Iterator[tuple[Value, Value, ast.AST]]:
    for event in program.calls:
        call, node = event.call, event.node
        if call.open:
            continue
        is_pair = call.qualified in ("torch.utils.data.TensorDataset", SPLIT, "zip") or call.method == "fit"
        if is_pair and len(call.args) >= 2 and not (call.method == "fit" and len(call.args) > 2):
            for first, second in pairwise(call.args):
                yield first, second, node
        elif (
            call.qualified == "polars.concat"
            and constant(call.keywords.get("how")) == "horizontal"
            and call.args
        ):
            listed = resolved(call.args[0])
            if isinstance(listed, Collection) and not listed.open:
                for first, second in pairwise(listed.items):
                    yield first, second, node
        elif call.method in ("hstack", "with_columns") and call.args and call.receiver is not None:
            given = resolved(call.args[0])
            yield (
                call.receiver,
                given.items[0] if isinstance(given, Collection) and given.items else given,
                node,
            )
        elif call.qualified in _STACKS and call.args:
            listed = resolved(call.args[0])
            if isinstance(listed, Collection) and not listed.open:
                for first, second in pairwise(listed.items):
                    yield first, second, node
        elif call.qualified == LOADER_NAME:
            yield from _of_samples(program, dataset_of(call))
    for use in losses(program):
        if use.prediction is not None and use.target is not None and use.node is not None:
            yield use.prediction, use.target, use.node
    for store in program.stores:
        if store.target.base is not None and isinstance(constant(store.target.key), str):
            frame, column = table_of(program, store.target.base), table_of(program, store.value)
            if (
                frame is not None
                and column is not None
                and frame.labels is not None
                and column.labels is None
            ):
                yield resolved(store.target.base), resolved(store.value), store.node


def _of_samples(program: Program, dataset: Value | None) -> Iterator[tuple[Value, Value, ast.AST]]:
    """What a data set takes from its stores for one index."""
    if not isinstance(dataset, Instance) or dataset.node is None:
        return
    stores: list[Value] = []
    for sample in samples_of(program, dataset) or ():
        for part in walk(sample):
            key = first_key(part) if isinstance(part, Item) else None
            if isinstance(part, Item) and isinstance(key, Param) and key.name == INDEX:
                stores.append(without_locator(part.base))
                break
    for one, other in pairwise(stores):
        yield one, other, dataset.node


def apart(meeting: Meeting) -> tuple[tuple[Step, ...], tuple[Step, ...]] | None:
    """What was done to the rows of one side alone, and to those of the other, that concerns their order; None where the orders agree."""
    left, right = (
        tuple(step for step in steps if step.kind in (ANY, MIXED, SORTED)) for steps in _stripped(meeting)
    )
    return (left, right) if left != right else None


def strangers(program: Program) -> Iterator[Meeting]:
    """Meetings of rows of two sources, by place or by labels that count places, whose orders only the files could show."""
    numbered = (
        meeting
        for meeting in by_label(program)
        if meeting.one.labels == meeting.one.rows and meeting.other.labels == meeting.other.rows
    )
    for meeting in (*by_place(program), *numbered):
        one, other = meeting.one.rows, meeting.other.rows
        if one.source is not other.source and all(way_of(side) for side in _stripped(meeting)):
            yield meeting


def ways(meeting: Meeting) -> tuple[str, str]:
    """In which order each side comes, once what was done to both is left out: "text", "read", "sorted"."""
    one, other = _stripped(meeting)
    return way_of(one), way_of(other)


def cut_to_fit(meeting: Meeting) -> Step | None:
    """The slice that brings one side to the length of the other, of which rows were taken out by what they hold."""
    for side, other in permutations(_stripped(meeting)):
        if len(side) == 1 and other and all(step.kind == SOME for step in (*side, *other)):
            words = side[0].key[1] if isinstance(side[0].key, tuple) and side[0].key[0] == "slice" else ""
            taken = not any(isinstance(step.key, tuple) and step.key[0] == "slice" for step in other)
            if taken and _LENGTH.fullmatch(str(words)):
                return side[0]
    return None


def sort_of(meeting: Meeting) -> ast.AST | None:
    """The call that sorts names letter by letter, where one side comes so."""
    steps = (step for side in _stripped(meeting) for step in side)
    return next((step.node for step in steps if step.kind == SORTED and step.key == "text"), None)


def _stripped(meeting: Meeting) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """What was done to each side, without what was done to both at last; rows that are sorted alike are in one order for that."""
    one, other = list(meeting.one.rows.steps), list(meeting.other.rows.steps)
    while one and other and one[-1] == other[-1] and one[-1].kind != SORTED:
        one.pop(), other.pop()
    return tuple(one), tuple(other)


def way_of(steps: tuple[Step, ...]) -> str:
    """ "text" for names in the order of their letters, "sorted" for a table by a column, "read" as it stands; "" where it cannot be told."""
    last = [step for step in steps if step.kind != SOME]
    if not last:
        return "" if steps else "read"
    if any(step.kind == SOME for step in steps) or len(last) > 1 or last[0].kind != SORTED:
        return ""
    key = str(last[0].key)
    return "text" if key == "text" else "sorted" if key.replace("_", "").isalnum() else ""


@once
def by_label(program: Program) -> tuple[Meeting, ...]:
    """Tables and columns of pandas that are laid side by side by their labels."""
    return tuple(
        Meeting(left, right, node)
        for one, other, node in _aligned(program)
        if (left := table_of(program, one)) is not None
        and (right := table_of(program, other)) is not None
        and left.labels is not None
        and right.labels is not None
    )


def _aligned(program: Program) -> Iterator[tuple[Value, Value, ast.AST]]:
    for store in program.stores:
        if store.target.base is not None and isinstance(constant(store.target.key), str):
            yield resolved(store.target.base), resolved(store.value), store.node
    for event in program.calls:
        call, node = event.call, event.node
        if call.open:
            continue
        if (
            call.qualified == "pandas.concat"
            and constant(call.keywords.get("axis")) in (1, "columns")
            and call.args
        ):
            listed = resolved(call.args[0])
            if isinstance(listed, Collection) and not listed.open:
                for first, second in pairwise(listed.items):
                    yield first, second, node
        elif call.receiver is None:
            continue
        elif call.method == "join" and len(call.args) == 1 and "on" not in call.keywords:
            yield call.receiver, call.args[0], node
        elif call.method == "assign":
            for value in call.keywords.values():
                yield call.receiver, value, node
        elif call.method == "insert" and len(call.args) >= 3:
            yield call.receiver, call.args[2], node
        elif call.method == "merge" and call.args and {"left_index", "right_index"} <= set(call.keywords):
            yield call.receiver, call.args[0], node
