"""Where gradients can flow: from a loss back to trainable layers, and what stops them on the way."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from netmend.library.layers import LINEAR, RECURRENT, named
from netmend.program.engine.history import Body, CallEvent, Event, Guard
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Either,
    Element,
    Instance,
    Item,
    Name,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.batches import is_data, is_from_loop
from netmend.program.meaning.gradient_cuts import Cut, cut_at, is_given
from netmend.program.meaning.heads import loss_uses
from netmend.program.meaning.models import parts
from netmend.program.meaning.operations import layer_name
from netmend.program.meaning.remember import once
from netmend.program.meaning.roles import MODEL, OPTIMISER, SCALER, role
from netmend.program.meaning.training import grad_is_off, is_launcher

# Layers with weights; normalisation is left out, it says nothing about the path.
TRAINABLE = frozenset(
    name.lower()
    for name in (
        *LINEAR,
        *RECURRENT,
        *named(
            "Bilinear",
            "LSTMCell",
            "GRUCell",
            "Embedding",
            "MultiheadAttention",
            "TransformerEncoder",
            "TransformerEncoderLayer",
            "Transformer",
        ),
    )
)
_NO_DATA = frozenset(("shape", "device", "dtype", "ndim", "is_cuda"))
_MOST_LOOKED_AT = 4000


@dataclass
class Reach:
    """What a loss's gradient gets to. `behind`: trainable things that are only seen through a cut, with the cut next to them."""

    open: dict[int, Value] = field(default_factory=dict)
    behind: dict[int, tuple[Value, Cut]] = field(default_factory=dict)
    unknown: bool = False

    @property
    def hidden(self) -> list[tuple[Value, Cut]]:
        return [found for key, found in self.behind.items() if key not in self.open]


def reach(program: Program, value: Value | None) -> Reach:
    """Look from a loss back along every path."""
    return _paths(program).reach(value)


class Paths:
    """How gradients flow in one program."""

    def __init__(self, program: Program) -> None:
        self._events = {id(event.value): event for event in program.calls}
        self._losses = {id(use.call): use for use in loss_uses(program)}
        self._written: dict[int, list[Value]] = {}  # what is put into a tensor in place
        self._leaves: set[int] = set()  # tensors that are switched on by hand, or that an optimiser is given
        for event in program.events:
            self._note(event)

    def _note(self, event: Event) -> None:
        if event.target is not None and event.target.base is not None and event.target.key is not None:
            self._written.setdefault(id(resolved(event.target.base)), []).append(event.value)
        call = event.call
        if call is not None and call.args and call.receiver is not None and call.method[-1:] == "_":
            self._written.setdefault(id(resolved(call.receiver)), []).extend(call.args)
        if call is not None and "out" in call.keywords:
            self._written.setdefault(id(resolved(call.keywords["out"])), []).extend(call.args)
        self._leaves.update(id(resolved(value)) for value in _made_leaves(event))

    def reach(self, value: Value | None) -> Reach:
        found = Reach()
        waiting: list[tuple[Value, Cut | None]] = [(value, None)] if value is not None else []
        seen: set[tuple[int, bool]] = set()
        while waiting:
            current, cut = waiting.pop()
            current = resolved(current)
            key = (id(current), cut is not None)
            if key in seen:
                continue
            seen.add(key)
            if len(seen) > _MOST_LOOKED_AT:
                found.unknown = True
                break
            trainable = self._trainable(current)
            here = self._cut(current)
            if trainable is not None:
                stop = (
                    cut if trainable is current else here or cut
                )  # a leaf that is made here needs nothing behind it
                if stop is None:
                    found.open[id(trainable)] = trainable
                else:
                    found.behind.setdefault(id(trainable), (trainable, stop))
            parts, unknown = self._parts(current)
            if unknown and here is None and cut is None and trainable is None:
                found.unknown = True
            waiting.extend((part, here or cut) for part in (*parts, *self._written.get(id(current), ())))
        return found

    def _cut(self, value: Value) -> Cut | None:
        if isinstance(value, Call) and value.node is not None:
            event = self._events.get(id(value))
            if event is not None and grad_is_off(event):
                return Cut("torch.no_grad()", _inside_guard(event))
        return cut_at(value)

    def _trainable(self, value: Value) -> Value | None:
        """The layer or model that a call runs, or a parameter."""
        if id(value) in self._leaves:
            return value
        if isinstance(value, Attribute):
            base = resolved(value.base)
            return base if layer_name(base) in TRAINABLE else None
        if not isinstance(value, Call):
            return None
        wanted = value.keywords.get("requires_grad")
        is_wanted = wanted is not None and not (isinstance(wanted, Const) and not wanted.value)
        if is_wanted or value.method == "requires_grad_" or value.qualified == "torch.nn.Parameter":
            return value
        callee = resolved(value.function)
        if isinstance(callee, Call):
            return callee if layer_name(callee) in TRAINABLE else None
        return callee if not isinstance(callee, Instance) and role(callee) == MODEL else None

    def _parts(self, value: Value) -> tuple[list[Value], bool]:
        """What a value is computed from as far as gradients go, and whether something in it cannot be seen."""
        if isinstance(value, Call):
            use = self._losses.get(id(value))
            if use is not None and use.prediction is not None:
                plain = use.target is None or is_given(use.target)
                return [use.prediction, *([] if plain or use.target is None else [use.target])], value.open
            return _parts_of_call(value)
        if isinstance(value, Operation):
            return ([] if value.operator in ("slice", "format") else list(value.operands)), False
        if isinstance(value, Either):
            return list(value.options), False
        if isinstance(value, Collection):
            return list(value.items), value.open and not value.repeated
        if isinstance(value, Attribute):
            if value.name in _NO_DATA:
                return [], False
            return [value.base], isinstance(resolved(value.base), Name | Instance)
        if isinstance(value, Item):
            return ([], False) if is_from_loop(value) else ([value.base], False)
        if isinstance(value, Element):
            return ([], False) if is_data(value) else ([value.iterable], False)
        return [], not isinstance(value, Const)


def _made_leaves(event: Event) -> Iterator[Value]:
    """`x.requires_grad = True`, `x.requires_grad_()`, `Adam([x])`: from here on `x` is something that learns."""
    target, call = event.target, event.call
    if target is not None and target.name == "requires_grad" and target.base is not None:
        if constant(event.value, True):
            yield target.base
    elif call is not None and call.method == "requires_grad_" and call.receiver is not None:
        if constant(call.argument("requires_grad", 0), True):
            yield call.receiver
    elif call is not None and role(call) == OPTIMISER:
        given = call.argument("params", 0)
        yield from _tensors(resolved(given)) if given is not None else ()


def _tensors(given: Value) -> Iterator[Value]:
    if isinstance(given, Collection):
        for item in given.items if given.kind != "dict" else filter(None, (given.get("params"),)):
            yield from _tensors(resolved(item))
    elif not (isinstance(given, Call) and given.method in ("parameters", "named_parameters")):
        yield given


def _inside_guard(event: Event) -> ast.AST:
    """The call that is written inside the `with torch.no_grad()` around an event, however deep the event itself stands."""
    written = event.node
    for part in event.around():
        if isinstance(part, Body) and part.call is not None and part.call.node is not None:
            written = part.call.node
        elif isinstance(part, Guard) and isinstance(part.node, ast.With):
            first, last = part.node.lineno, part.node.end_lineno or part.node.lineno
            inside = first <= getattr(written, "lineno", 0) <= last
            return written if inside else part.node.body[0]
    return written


def _parts_of_call(call: Call) -> tuple[list[Value], bool]:
    given = [*call.args, *call.keywords.values()]
    callee = resolved(call.function)
    if isinstance(callee, Attribute):
        base = resolved(callee.base)
        hides = isinstance(base, Instance | Name) or callee.name in _HIDING or bool(layer_name(base))
        return ([callee.base, *given], call.open) if not hides else (given, True)
    if isinstance(callee, Name):
        known = (
            callee.qualified.startswith(("torch.", "numpy.", "math.")) or callee.qualified in _PLAIN_FUNCTIONS
        )
        return given, not known or call.open
    if isinstance(callee, Call):
        return given, not callee.qualified.startswith("torch.nn.") or call.open
    return given, True


_HIDING = frozenset(("sample", "parameters", "named_parameters", "get", "pop"))
_PLAIN_FUNCTIONS = frozenset(
    ("sum", "float", "int", "len", "abs", "max", "min", "list", "tuple", "round", "zip", "range", "enumerate")
)


def layers_of(value: Value) -> Iterator[Value]:
    """Every layer that a model holds, through attributes, lists and containers."""
    return (
        part for part in parts(value) if isinstance(part, Call) and part.qualified.startswith("torch.nn.")
    )


def lost(event: CallEvent) -> list[Value]:
    """The loss that a backward call starts from: `loss.backward()`, `scaler.scale(loss).backward()`, `accelerator.backward(loss)`."""
    call = event.call
    if call.receiver is None:
        return list(call.args[:1])
    receiver = resolved(call.receiver)
    if call.args and is_launcher(receiver):
        return [call.args[0]]
    if (
        isinstance(receiver, Call)
        and receiver.method == "scale"
        and role(receiver.receiver) == SCALER
        and receiver.args
    ):
        return [receiver.args[0]]
    return [call.receiver]


_paths = once(Paths)
