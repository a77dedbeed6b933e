"""Models as objects: the one behind wrappers and moves, what is part of what, which ones a value was computed by, where they are moved."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from netmend.program.engine.history import Body, CallEvent, Event
from netmend.program.engine.joined import WRAPPERS
from netmend.program.engine.program import Program, once
from netmend.program.engine.values import (
    Attribute,
    Call,
    Class,
    Collection,
    Const,
    Either,
    Instance,
    Item,
    Name,
    Operation,
    Param,
    Unknown,
    Value,
    options,
    resolved,
)
from netmend.program.meaning.operations import reached, walk
from netmend.program.meaning.roles import MODEL, bare, role, same

_WITH_PARAMETERS = (
    "Linear", "Bilinear", "Conv", "LazyLinear", "LazyConv", "Embedding", "LSTM", "GRU", "RNN", "BatchNorm", "LayerNorm", "GroupNorm",
    "Transformer", "MultiheadAttention", "PReLU",
)  # fmt: skip
_MOST_PARTS = 400  # parts of one model that are looked at


def is_module(value: Value | None) -> bool:
    """Is it proven to be a torch module: made by `torch.nn`, `torchvision.models`, timm, or of a project class of that kind?"""
    value = bare(value)
    if isinstance(value, Instance):
        return value.cls.inherits("torch.nn.Module", "torch.nn.", "pytorch_lightning.LightningModule")
    if isinstance(value, Call):
        return role(value) == MODEL and not value.qualified.startswith(("keras.", "torch.nn.utils."))
    if isinstance(value, Attribute):
        return is_module(value.base) and not isinstance(bare(value.base), Instance)
    return False


def parts(model: Value) -> Iterator[Value]:
    """A model and everything it was made of, as far as the text tells."""
    return reached(bare(model), _made_of, _MOST_PARTS)


def _made_of(value: Value) -> Iterator[Value]:
    held: Iterable[Value] = ()
    if isinstance(value, Instance):
        held = value.attributes.values()
    elif isinstance(value, Call):
        held = value.given
    elif isinstance(value, Collection | Either):
        held = value.items if isinstance(value, Collection) else value.options
    return (part for part in map(bare, held) if not isinstance(part, Const | Name | Operation | Unknown))


def is_part(inner: Value | None, model: Value | None) -> bool:
    """Is a value the model or inside it: an attribute of it, an item of an attribute, a module stored in it?"""
    inner, model = bare(inner), bare(model)
    if inner is None or model is None:
        return False
    if any(part is inner for part in parts(model)):
        return True
    while inner is not None and not same(inner, model):
        inner = bare(inner.base) if isinstance(inner, Attribute | Item) else None
    return inner is not None


def new_parameters(layer: Value | None) -> Iterator[Call]:
    """Layers with parameters that a value brings: `nn.Linear(8, 2)`, also inside `nn.Sequential(…)` and project modules."""
    if layer is None:
        return
    for part in parts(layer):
        if isinstance(part, Call) and part.qualified.startswith("torch.nn."):
            name = part.qualified.rpartition(".")[2]
            if name.startswith(_WITH_PARAMETERS) and not name.endswith("Loss"):
                yield part


def is_construction(event: Event) -> bool:
    """Does it happen in the `__init__` of the very object that it changes?"""
    base = resolved(event.target.base) if event.target is not None and event.target.base is not None else None
    return any(
        isinstance(part, Body) and part.function.name == "__init__" and part.function.owner is base
        for part in event.around()
    )


def is_wrapped(value: Value) -> bool:
    """Is a model a parallel wrapper, on some path?"""
    return any(
        isinstance(option, Call) and option.qualified in WRAPPERS for option in options(resolved(value))
    )


def called_model(event: Event) -> Value | None:
    """The model that a call runs: `model(x)`; None for calls of anything else."""
    call = event.call
    if call is None or call.method or call.qualified:
        return None
    model = resolved(call.function)
    return model if role(model) == MODEL else None


def moves(program: Program) -> list[tuple[CallEvent, Value, Value | None]]:
    """Every `model.to(device)` and `model.cuda()`: the event, the model, the device (None for `cuda()`)."""
    found: list[tuple[CallEvent, Value, Value | None]] = []
    for event in program.methods_of("to", "cuda"):
        call = event.call
        if call.receiver is None or role(call.receiver) != MODEL:
            continue
        device = call.argument("device", 0) if call.method == "to" else None
        if call.method == "cuda" or (device is not None and may_be_gpu(device)):
            found.append((event, resolved(call.receiver), device))
    return found


def may_be_gpu(device: Value) -> bool:
    """A device that is a GPU, at least where there is one; types of numbers and the CPU are not."""
    device = resolved(device)
    if isinstance(device, Either):
        return any(may_be_gpu(option) for option in device.options)
    if isinstance(device, Const):
        return (isinstance(device.value, str) and device.value.startswith(("cuda", "mps", "xpu"))) or type(
            device.value
        ) is int
    if isinstance(device, Call):
        return device.qualified == "torch.device" and bool(device.args) and may_be_gpu(device.args[0])
    return isinstance(device, Param) and device.name == "device"


def moves_inside(model: Value) -> bool:
    """Does the model's own code move what it is given?"""
    if not isinstance(model, Instance):
        return False
    for cls in model.cls.ancestry():
        definition = getattr(cls, "definition", None)
        if definition is not None and any(
            isinstance(node, ast.Attribute) and node.attr in ("to", "cuda", "device")
            for node in ast.walk(definition)
        ):
            return True
    return False


def is_computed_by(value: Value | None, model: Value) -> bool:
    """Was a model, or a layer of it, called on the way to a value?"""
    model = bare(model)
    inside = members(model)
    return any(
        called is not None and (id(bare(called)) in inside or same(bare(called), model))
        for called in callees(value)
    )


def members(model: Value) -> set[int]:
    """The `id`s of a model and of everything that it holds."""
    return {id(part) for part in parts(model)}


def callees(value: Value | None) -> Iterator[Value | None]:
    """The objects that were called on the way to a value."""
    for part in walk(value):
        if isinstance(part, Call):
            yield from options(resolved(part.function))


def holds(value: Value | None, wanted: Value, depth: int = 4) -> bool:
    """Is a value the wanted object, or a list, tuple or dict with it?"""
    if value is None or depth == 0:
        return False
    value = resolved(value)
    if value is wanted or bare(value) is wanted:
        return True
    if isinstance(value, Collection):
        return any(holds(item, wanted, depth - 1) for item in value.items)
    if isinstance(value, Either):
        return any(holds(option, wanted, depth - 1) for option in value.options)
    return False


def escapes(program: Program, wanted: Value, known: tuple[str, ...] = ()) -> bool:
    """May code that is not seen get hold of an object? `known` are prefixes of library names that do it no harm."""
    for event in program.calls:
        call = event.call
        if call.result is not None:
            continue
        callee = resolved(call.function)
        if isinstance(callee, Class) and callee.method("__init__") is not None:
            continue
        if call.qualified == "super" or (known and call.qualified.startswith(known)):
            continue
        if any(holds(given, wanted) for given in call.given):
            return True
    return any(holds(entry.result, wanted) for entry in program.entries) or any(
        event.kind in ("store", "yield")
        and holds(event.value, wanted)
        and (
            event.kind == "yield" or _is_stored_away(event.target.base if event.target is not None else None)
        )
        for event in program.events
    )


def _is_stored_away(base: Value | None) -> bool:
    return base is not None and not isinstance(resolved(base), Instance | Collection)


@once
def unseen_calls(program: Program) -> frozenset[str]:
    """Methods that are called in the text at places which were never evaluated: in functions that nobody calls."""
    seen = {id(event.node) for event in program.calls}
    return frozenset(
        node.func.attr
        for node in program.nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and id(node) not in seen
    )
