"""The names that a model's layers have in its state, and states on their way from `state_dict()` over files to `load_state_dict()`."""

from __future__ import annotations

from netmend.program.engine.containers import container_layers
from netmend.program.engine.joined import WRAPPERS
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Element,
    Instance,
    Item,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.modules import TRAINABLE, is_module, is_module_class
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


def model_of_state(program: Program, state: Value | None, before: int) -> Value | None:
    """The model whose `state_dict()` a value is, also through a file that this program wrote before."""
    state = unfiltered(state)
    key: object = None
    if isinstance(state, Item) and isinstance(state.key, Const):
        key, state = state.key.value, resolved(state.base)
    if not isinstance(state, Call):
        return None
    if state.method == "state_dict" and key is None and not state.args and not state.keywords:
        return state.receiver
    if state.qualified != "torch.load" or not state.args:
        return None
    written = [
        event.call
        for event in program.calls_of("torch.save")
        if event.order < before
        and len(event.call.args) >= 2
        and _same_file(event.call.args[1], state.args[0])
    ]
    if len(written) != 1:
        return None
    saved = resolved(written[0].args[0])
    if key is not None:
        saved = resolved(saved.get(key) or saved) if isinstance(saved, Collection) else Value()
    is_state = (
        isinstance(saved, Call) and saved.method == "state_dict" and not saved.args and not saved.keywords
    )
    return saved.receiver if is_state and isinstance(saved, Call) else None


def unfiltered(state: Value | None) -> Value | None:
    """The state behind `{name: value for name, value in state.items() if …}`; names that are changed stay unknown."""
    state = resolved(state)
    if not isinstance(state, Collection) or state.kind != "dict" or not state.repeated:
        return state
    keys = [resolved(key) for key in state.keys or () if key is not None]
    if len(keys) != 1 or len(state.items) != 1:
        return None
    name, value = keys[0], resolved(state.items[0])
    if not isinstance(name, Item) or not isinstance(value, Item) or name.base is not value.base:
        return None
    element = resolved(name.base)
    source = resolved(element.iterable) if isinstance(element, Element) else None
    is_plain = (constant(name.key), constant(value.key)) == (0, 1)
    if not is_plain or not isinstance(source, Call) or source.method != "items" or source.receiver is None:
        return None
    return resolved(source.receiver)


def _same_file(one: Value, other: Value) -> bool:
    one, other = resolved(one), resolved(other)
    if isinstance(one, Const) and isinstance(other, Const):
        return constant(one) is not None and one.value == other.value
    return one is other


def state_names(model: Value | None) -> set[str] | None:
    """The names under which a model's layers with weights stand in its state; None when not all are known."""
    model = resolved(model)
    prefix = ""
    if isinstance(model, Attribute) and model.name == "module" and _is_wrapped(resolved(model.base)):
        model = resolved(model.base)
    elif _is_wrapped(model):
        prefix = "module."
    layers = named_layers(model)
    if layers is None:
        return None
    return {f"{prefix}{name}" for name, layer in layers.items() if layer_name(layer) in TRAINABLE}


def _is_wrapped(value: Value | None) -> bool:
    return isinstance(value, Call) and value.qualified in WRAPPERS
