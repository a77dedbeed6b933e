"""The names that a model's layers have in `named_parameters()` and `state_dict()`."""

from __future__ import annotations

from netmend.program.engine.containers import container_layers
from netmend.program.engine.values import (
    Call,
    Collection,
    Const,
    Instance,
    Item,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.modules import is_module, is_module_class
from netmend.program.meaning.operations import layer_name
from netmend.program.meaning.roles import bare

_MOST_DEPTH = 5
_UNNAMED = frozenset(("modulelist", "moduledict", "parameterlist", "parameterdict"))


def named_layers(model: Value | None) -> dict[str, Call] | None:
    """Every layer of torch inside a model by its name; None when the text does not tell all of them."""
    found: dict[str, Call] = {}
    return found if _collect(bare(model), "", found, 0) else None


def _collect(value: Value | None, prefix: str, found: dict[str, Call], depth: int) -> bool:
    value = bare(value)
    if value is None or depth > _MOST_DEPTH:
        return False
    if isinstance(value, Instance):
        if not is_module_class(value.cls) or not value.cls.is_known:
            return False
        return all(
            _collect(part, f"{prefix}{name}.", found, depth + 1)
            for name, part in value.attributes.items()
            if not name.startswith("__") and not _is_plain(part)
        )
    if not isinstance(value, Call):
        return False
    kind = layer_name(value)
    if kind == "sequential":
        layers = container_layers(None, value)
        if layers is None or (value.args and isinstance(resolved(value.args[0]), Collection)):
            return False
        return all(
            _collect(layer, f"{prefix}{place}.", found, depth + 1) for place, layer in enumerate(layers)
        )
    if not kind or kind in _UNNAMED or not is_module(value):
        return False
    found[prefix] = value
    return True


def _is_plain(value: Value) -> bool:
    """Numbers, strings and lists of them have no parameters."""
    value = resolved(value)
    if isinstance(value, Collection):
        return all(_is_plain(item) for item in value.items)
    return isinstance(value, Const | Operation)


def holds(test: Value, name: Item, text: str) -> bool | None:
    """The outcome of a test on the name of a parameter, for one such name; None when it cannot be told."""
    test = resolved(test)
    if isinstance(test, Const):
        return bool(test.value)
    if isinstance(test, Call) and test.receiver is not None and _is_name(test.receiver, name):
        return _starts(test, text)
    if not isinstance(test, Operation):
        return None
    if test.operator == "not":
        inner = holds(test.operands[0], name, text)
        return None if inner is None else not inner
    if test.operator in ("and", "or"):
        outcomes = [holds(part, name, text) for part in test.operands]
        if None in outcomes:
            return None
        return all(outcomes) if test.operator == "and" else any(outcomes)
    if test.operator in ("in", "not in") and len(test.operands) == 2:
        piece = constant(test.operands[0])
        if isinstance(piece, str) and _is_name(test.operands[1], name):
            return (piece in text) is (test.operator == "in")
    return None


def _is_name(value: Value, name: Item) -> bool:
    value = resolved(value)
    return isinstance(value, Item) and value.base is name.base and constant(value.key) == constant(name.key)


def _starts(call: Call, text: str) -> bool | None:
    given = resolved(call.args[0]) if call.args else None
    items = given.items if isinstance(given, Collection) else [given] if given is not None else []
    pieces = [constant(resolved(item)) for item in items]
    if not pieces or not all(isinstance(piece, str) for piece in pieces):
        return None
    if call.method == "startswith":
        return text.startswith(tuple(pieces))
    return text.endswith(tuple(pieces)) if call.method == "endswith" else None
