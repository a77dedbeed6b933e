"""`nn.Module` classes of the project: what their `__init__` and `forward` do, which layers learn, which are kept where `parameters()` does not see them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.library.layers import CONVOLUTIONS, LAYERS, LINEAR, RECURRENT_CELLS, named
from netmend.program.engine.containers import container_layers
from netmend.program.engine.history import Body, Event
from netmend.program.engine.program import Program, once
from netmend.program.engine.values import (
    Call,
    Class,
    Collection,
    Either,
    Element,
    Instance,
    Name,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.operations import layer_name, walk

_NO_MODULES = frozenset(("Parameter", "Buffer", "UninitializedParameter", "UninitializedBuffer", "ParameterList", "ParameterDict"))  # fmt: skip
_OTHER_PACKAGES = ("torch.nn.functional.", "torch.nn.utils.", "torch.nn.init.", "torch.nn.attention.")
_LIGHTNING = ("pytorch_lightning.LightningModule", "pytorch_lightning.core.LightningModule", "lightning.LightningModule")  # fmt: skip
NORMS = frozenset(
    ("batchnorm1d", "batchnorm2d", "batchnorm3d", "syncbatchnorm", "layernorm", "groupnorm", "instancenorm1d",
     "instancenorm2d", "instancenorm3d", "rmsnorm", "lazybatchnorm1d", "lazybatchnorm2d", "lazybatchnorm3d")
)  # fmt: skip
BATCH_NORMS = frozenset(("batchnorm1d", "batchnorm2d", "batchnorm3d", "syncbatchnorm"))
DROPOUTS = frozenset(
    ("dropout", "dropout1d", "dropout2d", "dropout3d", "alphadropout", "featurealphadropout")
)
RECURRENT = frozenset(("lstm", "gru", "rnn"))
# Layers whose weights are drawn at random when they are made.
_ATTENTION = tuple(layer.kind for layer in LAYERS if layer.kind.startswith(("Multihead", "Transformer")))
RANDOM = frozenset(
    name.lower()
    for name in (
        *LINEAR,
        *RECURRENT_CELLS,
        *(f"Lazy{name}" for name in CONVOLUTIONS),
        *named(*_ATTENTION, "Bilinear", "Embedding", "EmbeddingBag"),
    )
)
TRAINABLE = RANDOM | NORMS | {"prelu"}


def is_module_name(qualified: str) -> bool:
    """Is it a library class whose objects are modules: `torch.nn.Linear`, not `torch.nn.Parameter`?"""
    if qualified in _LIGHTNING:
        return True
    last = qualified.rpartition(".")[2]
    return (
        qualified.startswith("torch.nn.")
        and not qualified.startswith(_OTHER_PACKAGES)
        and last[:1].isupper()
        and last not in _NO_MODULES
    )


def is_module_class(cls: Class) -> bool:
    return any(isinstance(value, Name) and is_module_name(value.qualified) for value in cls.ancestry())


@once
def module_classes(program: Program) -> tuple[Class, ...]:
    """The classes of this file whose objects are modules, in order."""
    return tuple(cls for cls in program.classes if is_module_class(cls))


@once
def _bodies(program: Program) -> dict[int, list[Body]]:
    found: dict[int, list[Body]] = {}
    for part in program.parts:
        if isinstance(part, Body):
            found.setdefault(id(part.function.definition), []).append(part)
    return found


def bodies(program: Program, cls: Class, method: str) -> list[Body]:
    """Each evaluation of a method that the class itself defines."""
    function = cls.methods.get(method)
    return [] if function is None else _bodies(program).get(id(function.definition), [])


def forward_around(event: Event) -> Body | None:
    """The evaluation of a module's own `forward` that an event happens in, however deep in calls; innermost."""
    for part in event.around():
        if isinstance(part, Body) and part.function.name == "forward":
            within = part.function.within
            if within is not None and is_module_class(within):
                return part
    return None


def is_module(value: Value) -> bool:
    """Is it a module: a library layer or an object of a project's module class?"""
    value = resolved(value)
    if isinstance(value, Instance):
        return is_module_class(value.cls)
    if isinstance(value, Either):
        return all(is_module(option) for option in value.options)
    return isinstance(value, Call) and is_module_name(value.qualified)


def learns(value: Value, kinds: frozenset[str] = TRAINABLE, depth: int = 0) -> bool:
    """Does a module hold weights that training should change?"""
    value = resolved(value)
    if depth > 4:
        return False
    if isinstance(value, Instance):
        return is_module_class(value.cls) and any(
            learns(part, kinds, depth + 1)
            for part in value.attributes.values()
            if isinstance(resolved(part), Call | Instance)
        )
    if isinstance(value, Either):
        return all(learns(option, kinds, depth + 1) for option in value.options)
    if not isinstance(value, Call):
        return False
    name = layer_name(value)
    if name == "sequential":
        return any(learns(layer, kinds, depth + 1) for layer in container_layers(None, value) or ())
    if name in ("modulelist", "moduledict"):
        inner = resolved(value.args[0]) if value.args else None
        return isinstance(inner, Collection) and any(learns(item, kinds, depth + 1) for item in inner.items)
    if name not in kinds:
        return False
    affine = value.keywords.get("affine", value.keywords.get("elementwise_affine"))
    return constant(affine, True) is not False and not (
        name.startswith("instancenorm") and constant(affine) is not True
    )


def self_name(definition: ast.AST) -> str:
    """The name of a method's first parameter."""
    arguments = getattr(definition, "args", None)
    if not isinstance(arguments, ast.arguments):
        return ""
    positional = [*arguments.posonlyargs, *arguments.args]
    return positional[0].arg if positional else ""


def loads_of(cls: Class, name: str, outside: str = "") -> list[ast.Attribute]:
    """Where methods of the class, except `outside`, read `self.name`."""
    found = []
    for method in cls.methods.values():
        if method.name == outside:
            continue
        owner = self_name(method.definition)
        for node in ast.walk(method.definition):
            if (
                isinstance(node, ast.Attribute)
                and node.attr == name
                and isinstance(node.ctx, ast.Load)
                and isinstance(node.value, ast.Name)
                and node.value.id == owner
            ):
                found.append(node)
    return found


# Words in a class that say: it registers, or hides on purpose, by its own means.
_OWN_MEANS = frozenset(
    ("add_module", "register_module", "_modules", "setattr", "__setattr__", "__dict__", "requires_grad", "no_grad")
)  # fmt: skip
# Said of the module itself these mean nothing special; said of something else, that is looked after by hand.
_BY_HAND = frozenset(("parameters", "named_parameters", "requires_grad_", "state_dict", "eval", "modules", "named_modules", "children"))  # fmt: skip
_CONTAINERS = frozenset(
    ("torch.nn.ModuleList", "torch.nn.Sequential", "torch.nn.ModuleDict", "torch.nn.ParameterList")
)


@dataclass(frozen=True)
class Hidden:
    """An attribute with unregistered layers: where it is stored, and what is stored there."""

    cls: Class
    attribute: str
    node: ast.AST
    collection: Collection


def hidden_layers(program: Program, kinds: tuple[str, ...]) -> Iterator[Hidden]:
    """Attributes of module classes that hold layers with weights in a collection of one of these kinds."""
    for cls in module_classes(program):
        for instance in program.instances_of(cls)[:1]:
            held = [
                (name, plain)
                for name in instance.stores
                if (plain := _held(instance, name, kinds)) is not None
            ]
            if not held or not cls.is_known or not bodies(program, cls, "__init__") or _has_own_means(cls):
                continue
            registered = _registered(program, instance, cls)
            for name, plain in held:
                if id(plain) in registered or any(id(resolved(item)) in registered for item in plain.items):
                    continue
                node = instance.stores[name]
                if program.module_of(node) is cls.module and loads_of(cls, name, outside="__init__"):
                    yield Hidden(cls, name, node, plain)


def _held(instance: Instance, name: str, kinds: tuple[str, ...]) -> Collection | None:
    """The layers that an attribute holds, if it is a plain collection of nothing else."""
    held = resolved(instance.attributes[name]) if name in instance.attributes else None
    if not isinstance(held, Collection) or held.kind not in kinds or not _is_list(held):
        return None
    is_layers = all(is_module(item) for item in held.items) and any(learns(item) for item in held.items)
    return held if is_layers else None


def _is_list(held: Collection) -> bool:
    """Not the list of one item that is written to hide a model on purpose."""
    return len(held.items) > 1 or held.open or held.repeated or held.kind == "dict"


def _has_own_means(cls: Class) -> bool:
    if _BY_HAND & set(cls.methods):
        return True
    for node in ast.walk(cls.definition):
        word = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
        if word in _OWN_MEANS:
            return True
        if word in _BY_HAND and isinstance(node, ast.Attribute):
            is_self = isinstance(node.value, ast.Name) and node.value.id == "self"
            is_super = isinstance(node.value, ast.Call) and getattr(node.value.func, "id", "") == "super"
            if not is_self and not is_super:
                return True
    return False


def _registered(program: Program, instance: Instance, cls: Class) -> set[int]:
    """Everything that is an attribute of its own or stands in a container of layers."""
    found: set[int] = set()
    for value in instance.attributes.values():
        value = resolved(value)
        if not isinstance(value, Collection):
            found.add(id(value))
    for body in bodies(program, cls, "__init__"):
        for event in body.events():
            call = event.call
            if call is not None and (
                call.qualified in _CONTAINERS or call.method in ("append", "extend", "insert")
            ):
                receiver = resolved(call.receiver)
                if call.qualified in _CONTAINERS or isinstance(receiver, Call):
                    found.update(_inside(call.args))
    return found


def _inside(values: tuple[Value, ...]) -> Iterator[int]:
    for value in values:
        for part in walk(value, into=lambda inner: isinstance(inner, Collection | Element)):
            yield id(resolved(part))
