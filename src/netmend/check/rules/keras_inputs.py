"""Keras: what a model is fed."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from netmend.check.rule import Findings, KerasRule, Snippet
from netmend.library.keras import KEEP_RANGE
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Collection, Value, constant, resolved
from netmend.program.meaning.keras import (
    CATEGORICAL,
    IMAGES,
    INPUTS,
    SPARSE,
    Chain,
    chain,
    compiles,
    fits,
    kind,
    source,
    width,
)
from netmend.program.meaning.operations import operation

LABEL_HEAD = """\
import keras
from keras import layers

(x, y), (x_test, y_test) = keras.datasets.mnist.load_data()
model = keras.Sequential([layers.Flatten(), layers.Dense(10, activation="softmax")])
"""


class KerasLabelForm(KerasRule, code="S804", cause="INP-METHOD-SHAPE"):
    """Labels and loss disagree on the form: one-hot codes for the sparse loss, or class numbers for the categorical one.

    `sparse_categorical_crossentropy` takes class numbers, `categorical_crossentropy` one-hot codes. With the other form `fit` stops
    with an error of shapes, or, where shapes can be broadcast, learns nonsense.

    Change the loss, or the labels with `keras.utils.to_categorical(y)`.
    """

    message = "The labels do not have the format this loss expects."
    triggers = ("categorical_crossentropy", "CategoricalCrossentropy", ".fit(")

    GOOD = (
        Snippet("numbers, sparse", LABEL_HEAD + "model.compile('adam', 'sparse_categorical_crossentropy')\nmodel.fit(x / 255, y)\n"),
        Snippet("codes, categorical", LABEL_HEAD + "y = keras.utils.to_categorical(y, 10)\nmodel.compile('adam', 'categorical_crossentropy')\nmodel.fit(x / 255, y)\n"),
        Snippet("of unknown form", LABEL_HEAD + "model.compile('adam', 'categorical_crossentropy')\nmodel.fit(x / 255, encode(y))\n"),
        Snippet("compiled again", LABEL_HEAD + "model.compile('adam', 'categorical_crossentropy')\nmodel.compile('adam', 'sparse_categorical_crossentropy')\nmodel.fit(x / 255, y)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("codes for the sparse loss", LABEL_HEAD + "model.compile('adam', 'sparse_categorical_crossentropy')\nmodel.fit(x / 255, keras.utils.to_categorical(y))\n", line=7),
        Snippet("numbers for the categorical loss", LABEL_HEAD + "model.compile(optimizer='adam', loss='categorical_crossentropy')\nmodel.fit(x / 255, y, epochs=3)\n", line=7),
        Snippet("in functions", "import tensorflow as tf\nfrom tensorflow.keras.utils import to_categorical\n\ndef build():\n"
                "    model = tf.keras.Sequential([tf.keras.layers.Dense(3, activation='softmax')])\n"
                "    model.compile(loss=tf.keras.losses.SparseCategoricalCrossentropy(), optimizer='adam')\n    return model\n\n"
                "def run(x, y):\n    model = build()\n    y = to_categorical(y, 3)\n    model.fit(x, y)\n", line=12),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        known = list(compiles(program))
        for event, call, model in fits(program):
            last = [
                compiled
                for compiled in known
                if compiled.model is model and compiled.event.order < event.order
            ]
            if not last or (
                len({compiled.loss for compiled in last}) > 1 and not _is_plain(last[-1].event, event)
            ):
                continue
            loss = last[-1].loss
            labels = source(call.argument("y", 1))
            if loss == SPARSE and labels.one_hot:
                yield self.finding(
                    program,
                    event.node,
                    "The labels are one-hot codes, the sparse loss takes class numbers; use categorical_crossentropy.",
                )
            elif (
                loss == CATEGORICAL
                and labels.data in IMAGES
                and labels.part == 1
                and not labels.one_hot
                and not labels.scaled
            ):
                yield self.finding(
                    program,
                    event.node,
                    "The labels are class numbers, categorical_crossentropy takes one-hot codes; use sparse_categorical_crossentropy.",
                )


def _is_plain(compile_event: object, fit_event: object) -> bool:
    """The last compile stands in the same block as the fit: no branch chooses."""
    return getattr(compile_event, "block", None) is getattr(fit_event, "block", 0)


PIXELS_HEAD = """\
import keras
from keras import layers

(x_train, y_train), (x_test, y_test) = keras.datasets.mnist.load_data()
"""
MODEL = "model = keras.Sequential([layers.Flatten(), layers.Dense(64, activation='relu'), layers.Dense(10, activation='softmax')])\n"
COMPILE = "model.compile('adam', 'sparse_categorical_crossentropy')\n"


class KerasPixelsNotScaled(KerasRule, code="S816", cause="PRE-MISS-NORM"):
    """Images of a Keras data set go into the model as they are loaded: whole numbers from 0 to 255.

    Layers start out for inputs around one. With values in the hundreds sigmoids saturate, gradients are far too large, and training
    is slow, unstable or stuck.

    Divide by 255 (`x_train = x_train / 255.0`, the test images too), or begin the model with `layers.Rescaling(1 / 255)`.
    """

    message = "Pixels from 0 to 255 go into the model unscaled; divide the images by 255, for training and test alike."
    triggers = ("load_data", ".fit(")

    GOOD = (
        Snippet("scaled", PIXELS_HEAD + "x_train, x_test = x_train / 255.0, x_test / 255.0\n" + MODEL + COMPILE + "model.fit(x_train, y_train)\n"),
        Snippet("scaled by the model", PIXELS_HEAD + "model = keras.Sequential([layers.Rescaling(1 / 255), layers.Flatten(), layers.Dense(10, activation='softmax')])\n" + COMPILE
                + "model.fit(x_train, y_train)\n"),
        Snippet("a helper", PIXELS_HEAD + "x_train = prepare(x_train)\n" + MODEL + COMPILE + "model.fit(x_train, y_train)\n"),
        Snippet("words, no pixels", "import keras\nfrom keras import layers\n\n(x, y), test = keras.datasets.imdb.load_data(num_words=1000)\n" + MODEL + COMPILE + "model.fit(x, y)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("as loaded", PIXELS_HEAD + MODEL + COMPILE + "model.fit(x_train, y_train, epochs=5)\n", line=7),
        Snippet("only reshaped", "from tensorflow.keras import Input, Model, layers\nfrom tensorflow.keras.datasets import cifar10\n\n(x, y), (x_test, y_test) = cifar10.load_data()\n"
                "x = x.astype('float32')\na = Input((32, 32, 3))\nb = layers.Conv2D(16, 3, activation='relu')(a)\nb = layers.Flatten()(b)\nmodel = Model(a, layers.Dense(10, activation='softmax')(b))\n"
                + COMPILE + "model.fit(x, y, validation_data=(x_test, y_test))\n", line=11),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for event, call, model in fits(program):
            data = source(call.argument("x", 0))
            if data.data not in IMAGES or data.part != 0 or data.scaled:
                continue
            if _takes_raw(chain(program, model)):
                yield self.finding(program, event.node)


def _takes_raw(layers: Chain | None) -> bool:
    """Nothing before the second layer with weights that would bring the values into range."""
    if layers is None or not layers.whole:
        return False
    first: list[Call] = []
    for layer in layers.layers:
        first.append(layer)
        if kind(layer) in ("Dense", "Conv2D", "SeparableConv2D"):
            break
    following = layers.layers[len(first) : len(first) + 1]
    return all(kind(layer) in KEEP_RANGE for layer in first) and not any(
        kind(layer) == "BatchNormalization" for layer in following
    )


SHAPE_HEAD = "import keras\nfrom keras import layers\n\n(x, y), (x_test, y_test) = keras.datasets.mnist.load_data()\nx = x / 255.0\n"
TAIL = "model.compile('adam', 'sparse_categorical_crossentropy')\nmodel.fit(x, y)\n"


class KerasShapeConflict(KerasRule, code="S822", cause="LYR-IN-SHAPE"):
    """Sizes that are written in the program cannot fit: a Reshape of another number of values, or an input shape the data does not have.

    Keras stops there when the model is built, or at the first batch of `fit`.

    Make the sizes agree: a Reshape keeps the number of values; MNIST images are 28 × 28, CIFAR images 32 × 32 × 3.
    """

    message = "The sizes do not fit."
    triggers = ("Reshape(", ".fit(")

    GOOD = (
        Snippet("the same number", "import keras\nfrom keras import layers\n\na = keras.Input((100,))\nb = layers.Dense(7 * 7 * 32)(a)\nb = layers.Reshape((7, 7, 32))(b)\nc = layers.Reshape((-1, 32))(b)\n"),
        Snippet("an axis of one more", SHAPE_HEAD + "model = keras.Sequential([keras.Input((28, 28, 1)), layers.Conv2D(8, 3), layers.Flatten(), layers.Dense(10, 'softmax')])\n" + TAIL),
        Snippet("reshaped before", SHAPE_HEAD + "x = x.reshape(-1, 784)\nmodel = keras.Sequential([keras.Input((784,)), layers.Dense(10, 'softmax')])\n" + TAIL),
        Snippet("any size", SHAPE_HEAD + "model = keras.Sequential([keras.Input((None, None)), layers.Flatten(), layers.Dense(10, 'softmax')])\n" + TAIL),
    )  # fmt: skip
    BAD = (
        Snippet("Reshape of another number", "import keras\nfrom keras import layers\n\na = keras.Input((100,))\nb = layers.Dense(7 * 7 * 32, activation='relu')(a)\nb = layers.Reshape((8, 8, 32))(b)\n", line=6),
        Snippet("in a list", "from tensorflow.keras import Sequential, layers\n\ndef build():\n    model = Sequential([layers.Dense(128), layers.Reshape((4, 4, 16))])\n"
                "    model.compile('adam', 'mse')\n    return model\n", line=4),
        Snippet("flat input, images given", SHAPE_HEAD + "model = keras.Sequential([keras.Input((784,)), layers.Dense(10, 'softmax')])\n" + TAIL, line=8),
        Snippet("input_shape of other images", "from tensorflow import keras\nfrom tensorflow.keras import layers\n\n(x, y), _ = keras.datasets.cifar10.load_data()\n"
                "model = keras.Sequential([layers.Conv2D(8, 3, input_shape=(28, 28, 1)), layers.Flatten(), layers.Dense(10, 'softmax')])\n" + TAIL.replace("fit(x", "fit(x / 255"), line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
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
            if data.data not in IMAGES or data.part != 0 or data.reshaped or layers is None:
                continue
            if not layers.whole:
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
        layers = chain(program, event.call)
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
    found = resolved(value)
    if not isinstance(found, Collection) or found.open or found.kind not in ("tuple", "list"):
        return None
    sizes = tuple(constant(item, "?") for item in found.items)
    return sizes if all(size is None or type(size) is int for size in sizes) else None
