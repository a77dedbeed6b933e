from __future__ import annotations

from collections.abc import Iterator

from netmend.lint.engine.program import Program
from netmend.lint.rule import Snippet, StaticRule, register
from netmend.lint.understand.keras_compiled import REGRESSION, compiles
from netmend.lint.understand.keras_models import LINEAR
from netmend.vocabulary.finding import Finding

HEAD = "import keras\nfrom keras import layers\n\n"


@register
class KerasAccuracyOfAmounts(StaticRule):
    """A model with a regression loss and a linear output is measured by accuracy.

    Accuracy counts exact matches; amounts hardly ever match exactly, so it shows near 0 however good the model is.

    Use `metrics=["mae"]` or another distance. For classes use a cross-entropy with softmax or sigmoid.
    """

    code = "S807"
    needs = "keras"
    cause = "VAL-METRIC"
    message = 'Accuracy counts exact matches and says nothing about amounts; use metrics=["mae"].'
    triggers = ("accuracy", '"acc"', "'acc'", ".compile(")

    GOOD = (
        Snippet("a distance", HEAD + "model = keras.Sequential([layers.Dense(1)])\nmodel.compile('adam', 'mse', metrics=['mae'])  # no accuracy\n"),
        Snippet("classes", HEAD + "model = keras.Sequential([layers.Dense(3, activation='softmax')])\nmodel.compile('adam', 'categorical_crossentropy', metrics=['accuracy'])\n"),
        Snippet("classes by squared error", HEAD + "model = keras.Sequential([layers.Dense(1, activation='sigmoid')])\nmodel.compile('adam', 'mse', metrics=['accuracy'])\n"),
        Snippet("a loss of its own", HEAD + "model = keras.Sequential([layers.Dense(1)])\nmodel.compile('adam', my_loss, metrics=['accuracy'])\n"),
    )  # fmt: skip
    BAD = (
        Snippet("mse", HEAD + "model = keras.Sequential([layers.Dense(8, activation='relu'), layers.Dense(1)])\n"
                "model.compile(optimizer='adam', loss='mean_squared_error', metrics=['accuracy'])\n", line=5),
        Snippet("mae, functional", "from tensorflow import keras\n\ndef build():\n    a = keras.Input((4,))\n    model = keras.Model(a, keras.layers.Dense(1, activation='linear')(a))\n"
                "    model.compile('rmsprop', loss='mae', metrics=['mae', 'acc'])\n    return model\n", line=6),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for compiled in compiles(program):
            head = compiled.head
            if (
                compiled.loss not in REGRESSION
                or head is None
                or head.activation != LINEAR
                or head.width != 1
            ):
                continue
            if any(metric in ("accuracy", "acc") for metric in compiled.metrics):
                yield self.finding(program, compiled.event.node)
