"""Keras models: their layers in order, the end of the network, and how they are compiled and fitted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from netmend.library.keras import ACTIVATION_LAYERS
from netmend.program.engine.containers import container_layers
from netmend.program.engine.history import CallEvent
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Collection, Const, Name, Value, constant, resolved
from netmend.program.meaning.operations import operation
from netmend.program.meaning.test_code import is_test_code

SEQUENTIAL = ("keras.Sequential", "keras.models.Sequential")
FUNCTIONAL = ("keras.Model", "keras.models.Model")
INPUTS = ("keras.Input", "keras.layers.Input", "keras.layers.InputLayer")
LINEAR, UNSURE = "linear", "?"
_MAPS = ("Dense", "Conv1D", "Conv2D", "Conv3D", "Conv2DTranspose", "SeparableConv2D", "Convolution2D")


@dataclass(frozen=True)
class Chain:
    """Layers one after the other, input first; `whole` when it starts at the model's input."""

    layers: tuple[Call, ...]
    whole: bool


@dataclass(frozen=True)
class Head:
    """The last layer with weights and what is applied to its output."""

    layer: Call
    width: int | None
    activation: str
    last: Call  # where the activation is written


def kind(layer: Value) -> str:
    """`Dense` for the value of `keras.layers.Dense(3)`; "" for anything else."""
    layer = resolved(layer)
    if isinstance(layer, Call) and layer.qualified.startswith("keras.layers."):
        return layer.qualified.rpartition(".")[2]
    return "Input" if isinstance(layer, Call) and layer.qualified in INPUTS else ""


def model_of(value: Value | None) -> Call | None:
    """The `Sequential(...)` or `Model(...)` that a value is."""
    made = resolved(value)
    return made if isinstance(made, Call) and made.qualified in (*SEQUENTIAL, *FUNCTIONAL) else None


def chain(program: Program, model: Call) -> Chain | None:
    """The layers of a model with one path and one output; from the last that is known to the output."""
    if model.qualified in SEQUENTIAL:
        found = container_layers(program.machine, model)
        if not found:
            return None
        layers = [resolved(layer) for layer in found]
        known = [layer for layer in layers if isinstance(layer, Call) and kind(layer)]
        if len(known) == len(layers):
            return Chain(tuple(known), True)
        first = max(place for place, layer in enumerate(layers) if not kind(layer)) + 1
        rest = [layer for layer in layers[first:] if isinstance(layer, Call)]
        return Chain(tuple(rest), False) if rest else None
    outputs = model.argument("outputs", 1)
    end = resolved(outputs)
    if isinstance(end, Collection):
        end = resolved(end.items[0]) if len(end.items) == 1 and not end.open else None
    backwards: list[Call] = []
    for _ in range(500):
        if isinstance(end, Call) and end.qualified in INPUTS:
            return Chain((end, *reversed(backwards)), True)
        op = operation(end)
        if op is None or op.layer is None or not kind(op.layer) or op.input is None:
            break
        backwards.append(op.layer)
        end = resolved(op.input)
    return Chain(tuple(reversed(backwards)), False) if backwards else None


def activation(layer: Call) -> str:
    """What a layer applies: `relu`, `softmax`, …; `linear` for nothing, `?` when it cannot be told."""
    name = kind(layer)
    if name in ACTIVATION_LAYERS:
        return ACTIVATION_LAYERS[name]
    if layer.open:
        return UNSURE
    if name == "Activation":
        return _named(layer.argument("activation", 0))
    if name in _MAPS:
        return _named(layer.argument("activation", 1 if name == "Dense" else None))
    return UNSURE


def _named(value: Value | None) -> str:
    value = resolved(value) if value is not None else Const(None)
    if isinstance(value, Const):
        return LINEAR if value.value is None else str(value.value).lower()
    if isinstance(value, Name) and value.qualified.startswith(
        ("keras.activations.", "tensorflow.nn.", "keras.ops.")
    ):
        return value.qualified.rpartition(".")[2].lower()
    if isinstance(value, Call):
        return ACTIVATION_LAYERS.get(kind(value), UNSURE)
    return UNSURE


def width(layer: Call) -> int | None:
    """Units of a Dense, filters of a convolution."""
    name = kind(layer)
    found = constant(layer.argument("units" if name == "Dense" else "filters", 0)) if name in _MAPS else None
    return found if type(found) is int else None


def is_map(layer: Call) -> bool:
    """A layer that multiplies by weights."""
    return kind(layer) in _MAPS


def is_activation(layer: Call) -> bool:
    return kind(layer) == "Activation" or kind(layer) in ACTIVATION_LAYERS


def head(layers: Chain | None) -> Head | None:
    """The end of a model, when it is a layer with weights and at most one activation behind it."""
    if layers is None or not layers.layers:
        return None
    last = layers.layers[-1]
    if is_map(last):
        return Head(last, width(last), activation(last), last)
    if is_activation(last) and len(layers.layers) > 1 and is_map(before := layers.layers[-2]):
        applied = activation(last) if activation(before) == LINEAR else UNSURE
        return Head(before, width(before), applied, last)
    return None


def fits(program: Program) -> Iterator[tuple[CallEvent, Call, Call]]:
    """Every `fit` of a known model: the event, the call, the model."""
    for event in program.methods_of("fit") if not is_test_code(program) else ():
        call = event.call
        model = model_of(call.receiver)
        if model is not None:
            yield event, call, model
