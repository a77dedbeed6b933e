from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.keras_compiled import REGRESSION, compiles
from netmend.program.meaning.keras_data import HOUSES, IMAGES, source
from netmend.program.meaning.keras_models import fits
from netmend.vocabulary.finding import Finding

HEAD = "import keras\nfrom keras import layers\n\n(x, y), (x_test, y_test) = keras.datasets.boston_housing.load_data()\n"


@register
class KerasBoundedOutputForAmounts(StaticRule):
    """A regression loss compares amounts, or class numbers, with an output that cannot reach them.

    Sigmoid and softmax end at 1, tanh between -1 and 1; house prices of 5 to 50 lie outside, so the output sticks to its bound and
    the gradient vanishes. A squared error between class numbers and a softmax compares shapes that do not belong together.

    Leave the last layer linear for amounts, or scale the targets to the range of the activation. Use a cross-entropy for classes.
    """

    code = "S806"
    needs = "keras"
    cause = "ACT-OUT-WRONG"
    message = "{} cannot reach these targets; leave the last layer linear or scale the targets."
    triggers = ("housing", "mnist", "cifar", ".fit(")

    GOOD = (
        Snippet("linear", HEAD + "model = keras.Sequential([layers.Dense(1)])\nmodel.compile('adam', 'mse')\nmodel.fit(x, y)\n"),
        Snippet("scaled targets", HEAD + "model = keras.Sequential([layers.Dense(1, activation='sigmoid')])\nmodel.compile('adam', 'mse')\nmodel.fit(x, y / 50.0)\n"),
        Snippet("an autoencoder", "import keras\nfrom keras import layers\n\n(x, _), _ = keras.datasets.mnist.load_data()\nx = x.reshape(-1, 784) / 255\n"
                "model = keras.Sequential([layers.Dense(32, activation='relu'), layers.Dense(784, activation='sigmoid')])\nmodel.compile('adam', 'mse')\nmodel.fit(x, x)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("prices from a sigmoid", HEAD + "model = keras.Sequential([layers.Dense(64, activation='relu'), layers.Dense(1, activation='sigmoid')])\n"
                "model.compile(optimizer='adam', loss='mse')\nmodel.fit(x, y, epochs=10)\n", line=7),
        Snippet("prices from a softmax", HEAD + "a = keras.Input((13,))\nmodel = keras.Model(a, layers.Dense(1, activation='tanh')(a))\n"
                "model.compile(optimizer='adam', loss=keras.losses.MeanAbsoluteError())\nmodel.fit(x, y, epochs=10)\n", line=8),
        Snippet("squared error of class numbers", "import keras\nfrom keras import layers\n\n(x, y), test = keras.datasets.mnist.load_data()\n"
                "model = keras.Sequential([layers.Flatten(), layers.Dense(10, activation='softmax')])\nmodel.compile('sgd', 'mse')\nmodel.fit(x / 255, y)\n", line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        known = [
            compiled
            for compiled in compiles(program)
            if compiled.loss in REGRESSION and compiled.head is not None
        ]
        for event, call, model in fits(program) if known else ():
            for compiled in known:
                head = compiled.head
                if compiled.model is not model or head is None or compiled.event.order > event.order:
                    continue
                target = source(call.argument("y", 1))
                if target.part != 1 or target.scaled or target.one_hot:
                    continue
                if target.data in HOUSES and head.activation in ("sigmoid", "softmax", "tanh"):
                    yield self.finding(program, event.node, self.message.format(head.activation))
                elif target.data in IMAGES and head.activation == "softmax" and (head.width or 0) > 1:
                    text = "A squared error between class numbers and a softmax; use sparse_categorical_crossentropy."
                    yield self.finding(program, event.node, text, cause="LOS-SELECT")
