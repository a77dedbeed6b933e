"""Keras models: their layers, the end of the network, what they are compiled with, and the data that they are given."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from netmend.library.keras import ACTIVATION_LAYERS, OPTIMISERS, SAME_NUMBERS, SAME_NUMBERS_FUNCTIONS
from netmend.program.engine.containers import container_layers
from netmend.program.engine.history import CallEvent
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Call,
    Collection,
    Const,
    Either,
    Item,
    Name,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.operations import operation

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
    for event in program.methods_of("fit") if not program.is_test_code else ():
        call = event.call
        model = model_of(call.receiver)
        if model is not None:
            yield event, call, model


BINARY, CATEGORICAL, SPARSE = "binary", "categorical", "sparse"
ENTROPIES = (BINARY, CATEGORICAL, SPARSE)
REGRESSION = ("mse", "mae", "msle", "huber", "logcosh", "mape")
_LOSSES = {
    "binary_crossentropy": BINARY, "binarycrossentropy": BINARY, "categorical_crossentropy": CATEGORICAL, "categoricalcrossentropy": CATEGORICAL,
    "sparse_categorical_crossentropy": SPARSE, "sparsecategoricalcrossentropy": SPARSE, "mse": "mse", "mean_squared_error": "mse",
    "meansquarederror": "mse", "mae": "mae", "mean_absolute_error": "mae", "meanabsoluteerror": "mae", "huber": "huber", "msle": "msle",
    "mean_squared_logarithmic_error": "msle", "meansquaredlogarithmicerror": "msle", "mape": "mape", "log_cosh": "logcosh", "logcosh": "logcosh",
}  # fmt: skip


@dataclass(frozen=True)
class Compiled:
    """One call of `compile` on a known model."""

    event: CallEvent
    call: Call
    model: Call
    layers: Chain | None
    head: Head | None
    loss: str  # "" when it is another, or none
    from_logits: bool | None  # None when it cannot be told

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of metrics that are given as text."""
        given = self.call.keywords.get("metrics")
        given = resolved(given)
        if isinstance(given, Collection):
            return tuple(str(item.value) for item in given.items if isinstance(item, Const))
        return ()


def compiles(program: Program) -> Iterator[Compiled]:
    """Every `compile` of a `Sequential` or `Model` that the file makes."""
    for event in program.methods_of("compile") if not program.is_test_code else ():
        call = event.call
        model = model_of(call.receiver)
        if model is None:
            continue
        loss, from_logits = (
            loss_of(call.argument("loss", 1)) if not call.open or "loss" in call.keywords else ("", None)
        )
        layers = chain(program, model)
        yield Compiled(event, call, model, layers, head(layers), loss, from_logits)


def loss_of(value: Value | None) -> tuple[str, bool | None]:
    """The kind of a loss and whether it takes raw scores."""
    value = resolved(value)
    if isinstance(value, Const) and isinstance(value.value, str):
        return _LOSSES.get(value.value.lower(), ""), False
    if isinstance(value, Name) and value.qualified.startswith(("keras.losses.", "keras.metrics.")):
        return _LOSSES.get(value.qualified.rpartition(".")[2].lower(), ""), False
    if isinstance(value, Call) and value.qualified.startswith("keras.losses."):
        found = _LOSSES.get(value.qualified.rpartition(".")[2].lower(), "")
        given = value.argument("from_logits", 0) if found in ENTROPIES else None
        if value.open:
            return found, None
        return found, False if given is None else constant(given)
    return "", None


_NAMES = tuple(f"keras.optimizers.{legacy}{name}" for name in OPTIMISERS for legacy in ("", "legacy."))


def rates(program: Program) -> Iterator[tuple[CallEvent, str, float]]:
    """Every optimizer with a constant rate: where it is made, its name, the rate."""
    for event in program.calls_of(*_NAMES) if not program.is_test_code else ():
        call = event.call
        given = (
            call.keywords.get("learning_rate") or call.keywords.get("lr") or call.argument("learning_rate", 0)
        )
        rate = constant(given)
        if type(rate) in (int, float):
            yield event, call.qualified.rpartition(".")[2], float(rate)


# Shape of one sample and number of classes.
IMAGES: dict[str, tuple[tuple[int, ...], int]] = {
    "mnist": ((28, 28), 10),
    "fashion_mnist": ((28, 28), 10),
    "cifar10": ((32, 32, 3), 10),
    "cifar100": ((32, 32, 3), 100),
}
HOUSES = ("boston_housing", "california_housing")


@dataclass(frozen=True)
class Source:
    """What an array is: part (0 training, 1 test; 0 inputs, 1 targets) of a data set, and what was done to it."""

    data: str  # "mnist", …; "split" for train_test_split; "" when unknown
    split: int = -1
    part: int = -1
    scaled: bool = False
    one_hot: bool = False
    reshaped: bool = False
    made: Call | None = None  # the load or the split


def source(value: Value | None) -> Source:
    """Follow an array back to where it was loaded or split."""
    scaled = one_hot = reshaped = False
    for _ in range(40):
        value = resolved(value)
        if isinstance(value, Item):
            found = _part(value)
            if found is not None:
                return Source(found[0], found[1], found[2], scaled, one_hot, reshaped, found[3])
            key = resolved(value.key)
            if isinstance(key, Collection):
                reshaped = True  # `x[..., None]`
            elif not (isinstance(key, Operation) and key.operator == "slice"):
                return Source("", one_hot=one_hot)
            value = value.base
        elif isinstance(value, Operation):
            if value.operator not in ("/", "*", "-", "+"):
                return Source("", one_hot=one_hot)
            scaled = True
            value = value.operands[0]
        elif isinstance(value, Call) and value.method in SAME_NUMBERS:
            reshaped = reshaped or value.method not in ("astype", "copy")
            value = value.receiver
        elif isinstance(value, Call) and value.qualified in SAME_NUMBERS_FUNCTIONS and value.args:
            reshaped = reshaped or value.qualified.rpartition(".")[2] in (
                "expand_dims",
                "reshape",
                "squeeze",
                "transpose",
            )
            value = value.args[0]
        elif (
            isinstance(value, Call) and value.qualified.rpartition(".")[2] == "to_categorical" and value.args
        ):
            one_hot = True
            value = value.args[0]
        elif isinstance(value, Either):
            return Source("")
        else:
            return Source("", one_hot=one_hot)
    return Source("")


def _part(value: Item) -> tuple[str, int, int, Call] | None:
    outer = resolved(value.base)
    if not isinstance(value.key, Const) or type(value.key.value) is not int:
        return None
    if isinstance(outer, Call) and outer.qualified.endswith(".train_test_split"):
        # x_train, x_test, y_train, y_test
        place = value.key.value
        return ("split", place % 2, place // 2, outer) if len(outer.args) == 2 and 0 <= place < 4 else None
    if isinstance(outer, Item) and isinstance(outer.key, Const):
        load = resolved(outer.base)
        if (
            isinstance(load, Call)
            and load.qualified.startswith("keras.datasets.")
            and load.qualified.endswith(".load_data")
        ):
            return load.qualified.split(".")[2], int(outer.key.value), value.key.value, load
    return None
