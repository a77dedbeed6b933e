"""Variables that carry a tensor with its graph from one round of the training loop to the next."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.changes.case import Case
from netmend.changes.loop.loop_code import Spot
from netmend.library.operations import LEAVES_GRAPH
from netmend.program.engine.history import Body, Event, Loop
from netmend.program.engine.values import Attribute, Call, Collection, Value, options, resolved
from netmend.program.meaning import kept_graphs
from netmend.program.meaning.operations import walk
from netmend.program.meaning.roles import MODEL, role
from netmend.program.of_run import program_of
from netmend.program.text.file import File

_CUTS = (*LEAVES_GRAPH, "data", "size", "shape", "argmax")
_NUMBERS = ("float", "int", "len", "range", "print")


@dataclass(frozen=True)
class State:
    """A variable and what it holds: a "tensor", a "tuple" or a "list" of them; "" where that is not known."""

    name: str
    form: str

    def detached(self, is_pair: bool) -> str:
        """`h = h.detach()`, for each part of a tuple or list; `is_pair` where the form is not known."""
        form = self.form or ("tuple" if is_pair else "tensor")
        return detached(self.name, form)


def carried(case: Case, backward: Spot) -> tuple[File, ast.stmt, list[State]] | None:
    """What reaches the loss from the round before, and the statement of the loop's body that the backward pass is made in."""
    program = program_of(case.sources)
    for event in program.happens(backward.file.file, backward.call)[:1]:
        place: ast.AST = (
            backward.call
        )  # the backward pass may stand in a helper: the loop is where that is called
        for part in event.around():
            if isinstance(part, Body) and part.call is not None and part.call.node is not None:
                place = part.call.node
            states = list(_states(part, event)) if isinstance(part, Loop) else []
            file = program.file_of(place) if states else None
            statement = None if file is None else file.statement(place)
            if file is not None and statement is not None and not isinstance(statement, ast.Return):
                return file, statement, states
    return None


def _states(loop: Loop, backward: Event) -> Iterator[State]:
    for state in kept_graphs.carried(loop):
        target = state.stored.target
        if target is None or target.base is not None:
            continue
        carries = _has_graph(backward.value, state.before) and _has_graph(state.stored.value, state.before)
        if carries and _is_computed(state.stored.value):
            yield State(state.name, next(filter(None, map(_form, options(target.old or state.before))), ""))


def _is_computed(value: Value) -> bool:
    """Whether a network takes part in a value, which else is made of numbers."""
    parts = walk(value, into=lambda part: not _is_cut(part))
    return any(isinstance(part, Call) and role(part.function) == MODEL for part in parts)


def _has_graph(value: Value, source: Value) -> bool:
    """Whether a gradient may flow from one value back to another: not through `.item()`, `.detach()` and their like."""
    return any(part is source for part in walk(value, into=lambda part: not _is_cut(part)))


def _is_cut(value: Value) -> bool:
    if isinstance(value, Attribute):
        return value.name in _CUTS
    return isinstance(value, Call) and (value.method in _CUTS or value.qualified in _NUMBERS)


def _form(value: Value) -> str:
    value = resolved(value)
    if isinstance(value, Collection):
        return value.kind if value.kind in ("tuple", "list") else ""
    if not isinstance(value, Call):
        return ""
    if value.qualified in ("tuple", "list"):
        return value.qualified
    if value.method in ("to", "cuda", "requires_grad_", "clone") and value.receiver is not None:
        return _form(value.receiver)
    return "tensor" if value.qualified.startswith("torch.") or value.method.startswith("new_") else ""


def detached(name: str, form: str) -> str:
    """`h = h.detach()`, for each part of a tuple or list."""
    if form == "tensor":
        return f"{name} = {name}.detach()"
    part = "part" if name != "part" else "each"
    if form == "list":
        return f"{name} = [{part}.detach() for {part} in {name}]"
    return f"{name} = tuple({part}.detach() for {part} in {name})"
