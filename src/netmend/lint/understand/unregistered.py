"""Layers that a module keeps in plain lists or dicts, where `parameters()` does not see them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.lint.engine.program import Program
from netmend.lint.engine.values import Call, Class, Collection, Element, Instance, Value, resolved
from netmend.lint.understand.modules import bodies, is_module, learns, loads_of, module_classes
from netmend.lint.understand.operations import walk

# Words in a class that say: it registers, or hides on purpose, by its own means.
_OWN_MEANS = frozenset(
    ("add_module", "register_module", "_modules", "setattr", "__setattr__", "parameters", "named_parameters", "__dict__",
     "requires_grad_", "requires_grad", "no_grad", "state_dict", "eval", "named_modules", "modules", "children")
)  # fmt: skip
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
        if not cls.is_known or not bodies(program, cls, "__init__") or _has_own_means(cls):
            continue
        for instance in program.instances_of(cls)[:1]:
            registered = None
            for name, value in instance.attributes.items():
                held = resolved(value)
                if not isinstance(held, Collection) or held.kind not in kinds or name not in instance.stores:
                    continue
                if not all(is_module(item) for item in held.items) or not _is_list(held):
                    continue
                if not any(learns(item) for item in held.items):
                    continue
                if registered is None:
                    registered = _registered(program, instance, cls)
                if any(id(resolved(item)) in registered for item in held.items) or id(held) in registered:
                    continue
                node = instance.stores[name]
                if program.module_of(node) is cls.module and loads_of(cls, name, outside="__init__"):
                    yield Hidden(cls, name, node, held)


def _is_list(held: Collection) -> bool:
    """Not the list of one item that is written to hide a model on purpose."""
    return len(held.items) > 1 or held.open or held.repeated or held.kind == "dict"


def _has_own_means(cls: Class) -> bool:
    for node in ast.walk(cls.definition):
        word = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
        if word in _OWN_MEANS:
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
            if call is not None and (call.qualified in _CONTAINERS or call.method in ("append", "extend", "insert")):
                receiver = resolved(call.receiver) if call.receiver is not None else None
                if call.qualified in _CONTAINERS or isinstance(receiver, Call):
                    found.update(_inside(call.args))
    return found


def _inside(values: tuple[Value, ...]) -> Iterator[int]:
    for value in values:
        for part in walk(value, into=lambda inner: isinstance(inner, Collection | Element)):
            yield id(resolved(part))
