"""Where gradients can flow: from a loss back to trainable layers, and what stops them on the way."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from netmend.library.layers import LINEAR, RECURRENT, named
from netmend.program.engine.history import Body, CallEvent, Event, Guard
from netmend.program.engine.program import Program, once
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
    Param,
    Unknown,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.batches import is_data, is_from_loop
from netmend.program.meaning.losses import loss_uses
from netmend.program.meaning.models import parts
from netmend.program.meaning.operations import LAYOUT, behind, input_through, layer_name, operation, walk
from netmend.program.meaning.roles import MODEL, OPTIMISER, SCALER, role
from netmend.program.meaning.training import grad_is_off, is_launcher

_CUTS = {
    "detach": ".detach()", "detach_": ".detach_()", "item": ".item()", "numpy": ".numpy()", "tolist": ".tolist()", "argmax": "argmax",
    "argmin": "argmin", "round": "round", "long": ".long()", "int": ".int()", "bool": ".bool()", "byte": ".byte()", "argsort": "argsort",
    "tensor": "torch.tensor()", "from_numpy": "torch.from_numpy()", "sign": "sign", "floor": "floor", "ceil": "ceil", "eq": "a comparison",
    "gt": "a comparison", "lt": "a comparison", "ge": "a comparison", "le": "a comparison", "ne": "a comparison",
}  # fmt: skip
_COMPARISONS = frozenset(("==", "!=", "<", ">", "<=", ">=", "compare", "not", "in", "not in", "is", "is not"))
_NUMBERS = frozenset(("float", "int", "bool", "round", "len"))
_TYPES = ("torch.int", "torch.long", "torch.bool", "torch.uint8", "torch.LongTensor", "torch.IntTensor")


@dataclass(frozen=True)
class Cut:
    """Something that lets no gradient through."""

    title: str
    node: ast.AST


def cut_at(value: Value) -> Cut | None:
    """What stops the gradient at this very value, if anything."""
    node = value.node
    if node is None:
        return None
    if isinstance(value, Attribute):
        return Cut(".data", node) if value.name == "data" and not isinstance(value.base, Name) else None
    if isinstance(value, Operation):
        return Cut("a comparison", node) if value.operator in _COMPARISONS else None
    if not isinstance(value, Call):
        return None
    if value.qualified.startswith("numpy."):
        return Cut("numpy", node)
    if value.qualified in _NUMBERS:
        return Cut(f"{value.qualified}()", node)
    op = operation(value)
    if op is None or not op.inputs or op.layer is not None:
        return None
    if op.name in _CUTS:
        return Cut(_CUTS[op.name], node)
    if op.name in ("to", "type") and any(
        isinstance(arg, Name) and arg.qualified.startswith(_TYPES) for arg in value.args
    ):
        return Cut(f".{op.name}() a whole-number type", node)
    return None


def is_given(value: Value) -> bool:
    """A target that the code at hand is given and does not compute: a parameter, a variable from elsewhere, a part of a batch."""
    value = behind(value, _taken_from)
    if isinstance(value, Either):
        return all(is_given(option) for option in value.options)
    return isinstance(value, Param | Unknown | Element | Const)


def _taken_from(value: Value) -> Value | None:
    return value.base if isinstance(value, Item | Attribute) else input_through(value, _LAYOUT_AND_CUTS)


_LAYOUT_AND_CUTS = LAYOUT | _CUTS.keys()
_COUNTING = LAYOUT | {"mean", "sum", "count_nonzero", "requires_grad_"}


def compared(value: Value | None) -> ast.AST | None:
    """The comparison of an accuracy: `(out.argmax(1) == y).float().mean()`, also `1 - accuracy`; None for anything else."""
    value = behind(value, _counted)
    if isinstance(value, Operation) and value.operator in ("==", "!="):
        is_of_answers = any(cut_at(resolved(part)) is not None for part in value.operands)
        return value.node if is_of_answers else None
    op = operation(value)
    return op.node if op is not None and op.name in ("eq", "ne") and op.inputs else None


def _counted(value: Value) -> Value | None:
    if isinstance(value, Operation) and value.operator in ("-", "/", "*", "neg"):
        return next((part for part in value.operands if not isinstance(part, Const)), None)
    return input_through(value, _COUNTING)


_MAKERS = ("torch.tensor", "torch.autograd.Variable", "torch.as_tensor", "torch.Tensor", "torch.FloatTensor")


def is_forced(value: Value) -> bool:
    """A leaf made of a computed loss: `torch.tensor(loss.item(), requires_grad=True)`, `loss.detach().requires_grad_()`."""
    value = resolved(value)
    if not isinstance(value, Call):
        return False
    wanted = value.keywords.get("requires_grad")
    if value.qualified in _MAKERS and isinstance(wanted, Const) and wanted.value is True and value.args:
        return is_computed(value.args[0])
    return value.method == "requires_grad_" and value.receiver is not None and is_computed(value.receiver)


def is_computed(value: Value) -> bool:
    """Does it come out of a loss or a network, not only out of constants and given data?"""
    value = resolved(value)
    if isinstance(value, Either):
        return all(is_computed(option) for option in value.options)
    for part in walk(value):
        op = operation(part)
        if op is not None and (
            op.layer is not None or op.name.endswith(("_loss", "cross_entropy", "kl_div"))
        ):
            return True
    return False


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
                # a leaf that is made here needs nothing behind it
                stop = cut if trainable is current else here or cut
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
