from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.keras_compiled import REGRESSION, Compiled, compiles
from netmend.program.meaning.keras_models import LINEAR, model_of
from netmend.vocabulary.finding import Finding

HEAD = "import keras\nfrom keras import layers\n\n"


@register
class KerasAccuracyOfAmounts(StaticRule):
    """A model with a regression loss and a linear output is measured by accuracy.

    Accuracy asks whether an output is the right class; of amounts it shows near 0 however good the model is.
    A compile that nothing is fitted with, where other models of the file are, is left alone.

    Use `metrics=["mae"]` or another distance. For classes use a cross-entropy with softmax or sigmoid.
    """

    code = "S807"
    needs = "keras"
    cause = "VAL-METRIC"
    message = 'Accuracy is meaningless for regression; use metrics=["mae"].'
    triggers = ("accuracy", '"acc"', "'acc'", ".compile(")

    GOOD = (
        Snippet("a distance", HEAD + "model = keras.Sequential([layers.Dense(1)])\nmodel.compile('adam', 'mse', metrics=['mae'])  # no accuracy\n"),
        Snippet("classes", HEAD + "model = keras.Sequential([layers.Dense(3, activation='softmax')])\nmodel.compile('adam', 'categorical_crossentropy', metrics=['accuracy'])\n"),
        Snippet("classes by squared error", HEAD + "model = keras.Sequential([layers.Dense(1, activation='sigmoid')])\nmodel.compile('adam', 'mse', metrics=['accuracy'])\n"),
        Snippet("only shown", HEAD + "model = keras.Sequential([layers.Dense(1)])\nmodel.compile('adam', 'mse', metrics=['accuracy'])\n"
                "model = keras.Sequential([layers.Dense(1)])\nmodel.compile('adam', 'mse', metrics=['mae'])\nmodel.fit(x, y)\n"),
        Snippet("a loss of its own", HEAD + "model = keras.Sequential([layers.Dense(1)])\nmodel.compile('adam', my_loss, metrics=['accuracy'])\n"),
    )  # fmt: skip
    BAD = (
        Snippet("mse", HEAD + "model = keras.Sequential([layers.Dense(8, activation='relu'), layers.Dense(1)])\n"
                "model.compile(optimizer='adam', loss='mean_squared_error', metrics=['accuracy'])\n", line=5),
        Snippet("fitted", HEAD + "model = keras.Sequential([layers.Dense(1)])\nmodel.compile('adam', 'mse', metrics=['accuracy'])\nmodel.fit(x, y)\n", line=5),
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
            if any(metric in ("accuracy", "acc") for metric in compiled.metrics) and not _is_idle(
                program, compiled
            ):
                yield self.finding(program, compiled.event.node)


def _is_idle(program: Program, compiled: Compiled) -> bool:
    """Is some model of the file fitted or evaluated, but never this one as it is compiled here?"""
    used = program.methods_of("fit", "evaluate", "fit_generator", "train_on_batch")
    again = [
        event.order
        for event in program.methods_of("compile")
        if event.order > compiled.event.order
        and event.call
        and model_of(event.call.receiver) is compiled.model
    ]
    end = min(again, default=None)
    return bool(used) and not any(
        event.call is not None
        and event.order > compiled.event.order
        and (end is None or event.order < end)
        and model_of(event.call.receiver) in (compiled.model, None)
        for event in used
    )
