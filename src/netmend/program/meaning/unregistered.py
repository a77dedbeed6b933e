"""Layers that a module keeps in plain lists or dicts, where `parameters()` does not see them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Class, Collection, Element, Instance, Value, resolved
from netmend.program.meaning.modules import bodies, is_module, learns, loads_of, module_classes
from netmend.program.meaning.operations import walk

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
