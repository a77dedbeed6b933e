from __future__ import annotations

from collections.abc import Iterator
from math import prod

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Collection, Value, constant, resolved
from netmend.program.meaning.keras_data import IMAGES, source
from netmend.program.meaning.keras_models import INPUTS, chain, fits, kind, width
from netmend.program.meaning.operations import operation
from netmend.vocabulary.finding import Finding

HEAD = "import keras\nfrom keras import layers\n\n(x, y), (x_test, y_test) = keras.datasets.mnist.load_data()\nx = x / 255.0\n"
TAIL = "model.compile('adam', 'sparse_categorical_crossentropy')\nmodel.fit(x, y)\n"


@register
class KerasShapeConflict(StaticRule):
    """Sizes that are written in the program cannot fit: a Reshape of another number of values, or an input shape the data does not have.

    Keras stops there when the model is built, or at the first batch of `fit`.

    Make the sizes agree: a Reshape keeps the number of values; MNIST images are 28 × 28, CIFAR images 32 × 32 × 3.
    """

    code = "S822"
    needs = "keras"
    cause = "LYR-IN-SHAPE"
    message = "The sizes do not fit."
    triggers = ("Reshape(", ".fit(")

    GOOD = (
        Snippet("the same number", "import keras\nfrom keras import layers\n\na = keras.Input((100,))\nb = layers.Dense(7 * 7 * 32)(a)\nb = layers.Reshape((7, 7, 32))(b)\nc = layers.Reshape((-1, 32))(b)\n"),
        Snippet("an axis of one more", HEAD + "model = keras.Sequential([keras.Input((28, 28, 1)), layers.Conv2D(8, 3), layers.Flatten(), layers.Dense(10, 'softmax')])\n" + TAIL),
        Snippet("reshaped before", HEAD + "x = x.reshape(-1, 784)\nmodel = keras.Sequential([keras.Input((784,)), layers.Dense(10, 'softmax')])\n" + TAIL),
        Snippet("any size", HEAD + "model = keras.Sequential([keras.Input((None, None)), layers.Flatten(), layers.Dense(10, 'softmax')])\n" + TAIL),
    )  # fmt: skip
    BAD = (
        Snippet("Reshape of another number", "import keras\nfrom keras import layers\n\na = keras.Input((100,))\nb = layers.Dense(7 * 7 * 32, activation='relu')(a)\nb = layers.Reshape((8, 8, 32))(b)\n", line=6),
        Snippet("in a list", "from tensorflow.keras import Sequential, layers\n\ndef build():\n    model = Sequential([layers.Dense(128), layers.Reshape((4, 4, 16))])\n"
                "    model.compile('adam', 'mse')\n    return model\n", line=4),
        Snippet("flat input, images given", HEAD + "model = keras.Sequential([keras.Input((784,)), layers.Dense(10, 'softmax')])\n" + TAIL, line=8),
        Snippet("input_shape of other images", "from tensorflow import keras\nfrom tensorflow.keras import layers\n\n(x, y), _ = keras.datasets.cifar10.load_data()\n"
                "model = keras.Sequential([layers.Conv2D(8, 3, input_shape=(28, 28, 1)), layers.Flatten(), layers.Dense(10, 'softmax')])\n" + TAIL.replace("fit(x", "fit(x / 255"), line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        told: set[int] = set()
        for first, second in _neighbours(program):
            wide, shape = width(first), _shape(second.argument("target_shape", 0))
            if kind(first) != "Dense" or wide is None or shape is None or id(second) in told:
                continue
            if -1 not in shape and None not in shape and prod(size or 0 for size in shape) != wide:
                told.add(id(second))
                text = f"Reshape to {shape} needs {prod(size or 0 for size in shape)} values, the layer before gives {wide}."
                yield self.finding(program, second.node or program.tree, text, cause="TSR-SHAPE")
        for event, call, model in fits(program):
            data = source(call.argument("x", 0))
            layers = chain(program, model)
            if (
                data.data not in IMAGES
                or data.part != 0
                or data.reshaped
                or layers is None
                or not layers.whole
            ):
                continue
            given, declared = IMAGES[data.data][0], _declared(layers.layers[0])
            if (
                declared is not None
                and None not in declared
                and declared != given
                and declared != (*given, 1)
            ):
                yield self.finding(
                    program,
                    event.node,
                    f"The model expects samples of shape {declared}, {data.data} has {given}.",
                )


def _neighbours(program: Program) -> Iterator[tuple[Call, Call]]:
    """A layer and the Reshape that follows it at once."""
    for event in program.calls:
        op = operation(event.call)
        before = (
            operation(resolved(op.input))
            if op is not None and op.input is not None and kind(op.layer or op.value) == "Reshape"
            else None
        )
        if op is not None and op.layer is not None and before is not None and before.layer is not None:
            yield before.layer, op.layer
    for event in program.calls_of("keras.Sequential", "keras.models.Sequential"):
        layers = chain(program, event.call) if event.call is not None else None
        for first, second in (
            zip(layers.layers, layers.layers[1:], strict=False) if layers is not None else ()
        ):
            if kind(second) == "Reshape" and kind(first):
                yield first, second


def _declared(first: Call) -> tuple[int | None, ...] | None:
    if first.qualified in INPUTS:
        return _shape(first.argument("shape", 0))
    if "input_dim" in first.keywords:
        size = constant(first.keywords["input_dim"])
        return (size,) if type(size) is int else None
    return _shape(first.keywords.get("input_shape"))


def _shape(value: Value | None) -> tuple[int | None, ...] | None:
    found = resolved(value) if value is not None else None
    if not isinstance(found, Collection) or found.open or found.kind not in ("tuple", "list"):
        return None
    sizes = tuple(constant(item, "?") for item in found.items)
    return sizes if all(size is None or type(size) is int for size in sizes) else None
