"""States of models on their way from `state_dict()` over files to `load_state_dict()`."""

from __future__ import annotations

from netmend.program.engine.joined import WRAPPERS
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Element,
    Item,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.modules import TRAINABLE
from netmend.program.meaning.operations import layer_name
from netmend.program.meaning.parameter_names import named_layers


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
