from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.keras_compiled import compiles
from netmend.program.meaning.keras_models import LINEAR, UNSURE, activation, is_activation, is_map
from netmend.vocabulary.finding import Finding

HEAD = "import keras\nfrom keras import layers\n\n"


@register
class KerasActivationTwice(StaticRule):
    """A layer has an activation, and an activation layer follows at once.

    Two in a row are at best one too many (ReLU of ReLU); ReLU before sigmoid or softmax cuts the negative scores off, sigmoid
    before ReLU does nothing at all.

    Keep one: in the layer or as a layer of its own.
    """

    code = "S814"
    needs = "keras"
    cause = "ACT-EXTRA"
    message = "{} follows {} at once; keep one of the two."
    triggers = ("Activation(", "ReLU(", "Softmax(", "ELU(", ".compile(")
    patterns = (r"\bDense\(|\.compile\(|\bConv2D\(",)

    GOOD = (
        Snippet("one each", HEAD + "model = keras.Sequential([layers.Dense(8), layers.ReLU(), layers.Dense(3), layers.Activation('softmax')])\nmodel.compile('adam', 'mse')\n"),
        Snippet("normalisation between", HEAD + "model = keras.Sequential([layers.Dense(8, activation='relu'), layers.BatchNormalization(), layers.ReLU(), layers.Dense(3)])\n"
                "model.compile('adam', 'mse')\n"),
        Snippet("attention weights", HEAD + "model = keras.Sequential([layers.Dense(1, activation='tanh'), layers.Flatten(), layers.Activation('softmax')])\nmodel.compile('adam', 'mse')\n"),
        Snippet("scores pressed before softmax", HEAD + "model = keras.Sequential([layers.Dense(5, activation='tanh'), layers.Softmax()])\nmodel.compile('adam', 'mse')\n"),
        Snippet("linear by name", HEAD + "model = keras.Sequential([layers.Dense(8, activation='linear'), layers.LeakyReLU(), layers.Dense(3)])\nmodel.compile('adam', 'mse')\n"),
    )  # fmt: skip
    BAD = (
        Snippet("relu twice", HEAD + "model = keras.Sequential([\n    layers.Dense(8, activation='relu'),\n    layers.ReLU(),\n    layers.Dense(1),\n])\nmodel.compile('adam', 'mse')\n", line=6),
        Snippet("relu before sigmoid", HEAD + "model = keras.Sequential()\nmodel.add(layers.Dense(1, activation='relu'))\nmodel.add(layers.Activation('sigmoid'))\n"
                "model.compile('adam', 'binary_crossentropy')\n", line=6),
        Snippet("functional", "from tensorflow.keras import Input, Model, layers\n\na = Input((8, 8, 3))\nb = layers.Conv2D(4, 3, activation='relu')(a)\nb = layers.LeakyReLU()(b)\n"
                "b = layers.Flatten()(b)\nmodel = Model(a, layers.Dense(1)(b))\nmodel.compile('adam', 'mse')\n", line=5),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        told: set[int] = set()
        for compiled in compiles(program):
            layers = compiled.layers.layers if compiled.layers is not None else ()
            for first, second in pairwise(layers):
                one, two = activation(first), activation(second)
                if (
                    not (is_map(first) or is_activation(first))
                    or not is_activation(second)
                    or {one, two} & {LINEAR, UNSURE}
                    or id(second) in told
                ):
                    continue
                if two == "softmax" and one not in ("relu", "softmax", "sigmoid"):
                    continue
                told.add(id(second))
                yield self.finding(program, second.node or compiled.event.node, self.message.format(two, one))
