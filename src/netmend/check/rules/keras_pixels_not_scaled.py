from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call
from netmend.program.meaning.keras_data import IMAGES, source
from netmend.program.meaning.keras_models import Chain, chain, fits, kind
from netmend.vocabulary.finding import Finding

_KEEP_RANGE = ("Input", "InputLayer", "Flatten", "Reshape", "Conv2D", "Dense", "MaxPooling2D", "ZeroPadding2D", "Dropout", "RandomFlip", "RandomRotation",
               "RandomCrop", "RandomZoom", "AveragePooling2D", "Permute", "SeparableConv2D")  # fmt: skip
HEAD = """\
import keras
from keras import layers

(x_train, y_train), (x_test, y_test) = keras.datasets.mnist.load_data()
"""
MODEL = "model = keras.Sequential([layers.Flatten(), layers.Dense(64, activation='relu'), layers.Dense(10, activation='softmax')])\n"
COMPILE = "model.compile('adam', 'sparse_categorical_crossentropy')\n"


@register
class KerasPixelsNotScaled(StaticRule):
    """Images of a Keras data set go into the model as they are loaded: whole numbers from 0 to 255.

    Layers start out for inputs around one. With values in the hundreds sigmoids saturate, gradients are far too large, and training
    is slow, unstable or stuck.

    Divide by 255 (`x_train = x_train / 255.0`, the test images too), or begin the model with `layers.Rescaling(1 / 255)`.
    """

    code = "S816"
    needs = "keras"
    cause = "PRE-MISS-NORM"
    message = "Pixels from 0 to 255 go into the model unscaled; divide the images by 255, for training and test alike."
    triggers = ("load_data", ".fit(")

    GOOD = (
        Snippet("scaled", HEAD + "x_train, x_test = x_train / 255.0, x_test / 255.0\n" + MODEL + COMPILE + "model.fit(x_train, y_train)\n"),
        Snippet("scaled in place", HEAD + "x_train = x_train.reshape(-1, 784).astype('float32')\nx_train /= 255\n" + MODEL + COMPILE + "model.fit(x_train, y_train)\n"),
        Snippet("scaled by the model", HEAD + "model = keras.Sequential([layers.Rescaling(1 / 255), layers.Flatten(), layers.Dense(10, activation='softmax')])\n" + COMPILE
                + "model.fit(x_train, y_train)\n"),
        Snippet("normalised by the model", HEAD + "model = keras.Sequential([layers.Flatten(), layers.BatchNormalization(), layers.Dense(10, activation='softmax')])\n" + COMPILE
                + "model.fit(x_train, y_train)\n"),
        Snippet("a helper", HEAD + "x_train = prepare(x_train)\n" + MODEL + COMPILE + "model.fit(x_train, y_train)\n"),
        Snippet("words, no pixels", "import keras\nfrom keras import layers\n\n(x, y), test = keras.datasets.imdb.load_data(num_words=1000)\n" + MODEL + COMPILE + "model.fit(x, y)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("as loaded", HEAD + MODEL + COMPILE + "model.fit(x_train, y_train, epochs=5)\n", line=7),
        Snippet("only reshaped", "from tensorflow.keras import Input, Model, layers\nfrom tensorflow.keras.datasets import cifar10\n\n(x, y), (x_test, y_test) = cifar10.load_data()\n"
                "x = x.astype('float32')\na = Input((32, 32, 3))\nb = layers.Conv2D(16, 3, activation='relu')(a)\nb = layers.Flatten()(b)\nmodel = Model(a, layers.Dense(10, activation='softmax')(b))\n"
                + COMPILE + "model.fit(x, y, validation_data=(x_test, y_test))\n", line=11),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
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
    return all(kind(layer) in _KEEP_RANGE for layer in first) and not any(
        kind(layer) == "BatchNormalization" for layer in following
    )
