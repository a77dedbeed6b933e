"""Models as objects: the one behind wrappers and moves, what is part of what, which layers hold parameters."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.library.operations import GIVE_BACK_SELF
from netmend.program.engine.history import Body, Event
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Either,
    Instance,
    Item,
    Name,
    Operation,
    Unknown,
    Value,
    resolved,
)
from netmend.program.meaning.roles import MODEL, role, same

_WRAPPERS = frozenset(
    (
        "torch.nn.DataParallel",
        "torch.nn.parallel.DataParallel",
        "torch.nn.parallel.DistributedDataParallel",
        "torch.compile",
        "torch.jit.script",
    )
)
_WITH_PARAMETERS = (
    "Linear", "Bilinear", "Conv", "LazyLinear", "LazyConv", "Embedding", "LSTM", "GRU", "RNN", "BatchNorm", "LayerNorm", "GroupNorm",
    "Transformer", "MultiheadAttention", "PReLU",
)  # fmt: skip
_MOST_PARTS = 400  # parts of one model that are looked at


def bare(value: Value | None) -> Value | None:
    """The model itself behind `.to(device)`, `.train()`, `DataParallel(…)`, `torch.compile(…)`."""
    for _ in range(20):
        if value is None:
            return None
        value = resolved(value)
        if not isinstance(value, Call):
            return value
        if value.method in GIVE_BACK_SELF and value.receiver is not None:
            value = value.receiver
        elif value.qualified in _WRAPPERS and value.args:
            value = value.args[0]
        else:
            return value
    return value


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
    waiting: list[Value] = [model]
    seen: set[int] = set()
    while waiting and len(seen) < _MOST_PARTS:
        value = bare(waiting.pop())
        if value is None or id(value) in seen or isinstance(value, Const | Name | Operation | Unknown):
            continue
        seen.add(id(value))
        yield value
        if isinstance(value, Instance):
            waiting.extend(value.attributes.values())
        elif isinstance(value, Call):
            waiting.extend(value.args)
            waiting.extend(value.keywords.values())
        elif isinstance(value, Collection):
            waiting.extend(value.items)
        elif isinstance(value, Either):
            waiting.extend(value.options)


def is_part(inner: Value | None, model: Value | None) -> bool:
    """Is a value the model or inside it: an attribute of it, an item of an attribute, a module stored in it?"""
    inner, model = bare(inner), bare(model)
    if inner is None or model is None:
        return False
    if any(part is inner for part in parts(model)):
        return True
    for _ in range(10):
        if inner is None or same(inner, model):
            return inner is not None
        if not isinstance(inner, Attribute | Item):
            return False
        inner = bare(inner.base)
    return False


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
