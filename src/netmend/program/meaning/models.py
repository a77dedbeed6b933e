"""Models as objects: the one behind wrappers and moves, what is part of what, which layers hold parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

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
from netmend.program.meaning.operations import reached
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
