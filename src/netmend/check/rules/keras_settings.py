"""Keras: rates, metrics and callbacks."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Findings, KerasRule, Snippet
from netmend.library.keras import USUAL_RATES
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Collection, Value, constant, resolved
from netmend.program.meaning.keras import LINEAR, REGRESSION, Compiled, compiles, fits, model_of, rates

ACCURACY_HEAD = "import keras\nfrom keras import layers\n\n"


class KerasAccuracyOfAmounts(KerasRule, code="S807", cause="VAL-METRIC"):
    """A model with a regression loss and a linear output is measured by accuracy.

    Accuracy asks whether an output is the right class; of amounts it shows near 0 however good the model is.
    A compile that nothing is fitted with, where other models of the file are, is left alone.

    Use `metrics=["mae"]` or another distance. For classes use a cross-entropy with softmax or sigmoid.
    """

    message = 'Accuracy is meaningless for regression; use metrics=["mae"].'
    triggers = ("accuracy", '"acc"', "'acc'", ".compile(")

    GOOD = (
        Snippet("a distance", ACCURACY_HEAD + "model = keras.Sequential([layers.Dense(1)])\nmodel.compile('adam', 'mse', metrics=['mae'])  # no accuracy\n"),
        Snippet("classes by squared error", ACCURACY_HEAD + "model = keras.Sequential([layers.Dense(1, activation='sigmoid')])\nmodel.compile('adam', 'mse', metrics=['accuracy'])\n"),
        Snippet("only shown", ACCURACY_HEAD + "model = keras.Sequential([layers.Dense(1)])\nmodel.compile('adam', 'mse', metrics=['accuracy'])\n"
                "model = keras.Sequential([layers.Dense(1)])\nmodel.compile('adam', 'mse', metrics=['mae'])\nmodel.fit(x, y)\n"),
        Snippet("a loss of its own", ACCURACY_HEAD + "model = keras.Sequential([layers.Dense(1)])\nmodel.compile('adam', my_loss, metrics=['accuracy'])\n"),
    )  # fmt: skip
    BAD = (
        Snippet("mse", ACCURACY_HEAD + "model = keras.Sequential([layers.Dense(8, activation='relu'), layers.Dense(1)])\n"
                "model.compile(optimizer='adam', loss='mean_squared_error', metrics=['accuracy'])\n", line=5),
        Snippet("fitted", ACCURACY_HEAD + "model = keras.Sequential([layers.Dense(1)])\nmodel.compile('adam', 'mse', metrics=['accuracy'])\nmodel.fit(x, y)\n", line=5),
        Snippet("mae, functional", "from tensorflow import keras\n\ndef build():\n    a = keras.Input((4,))\n    model = keras.Model(a, keras.layers.Dense(1, activation='linear')(a))\n"
                "    model.compile('rmsprop', loss='mae', metrics=['mae', 'acc'])\n    return model\n", line=6),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for compiled in compiles(program):
            head = compiled.head
            if compiled.loss not in REGRESSION or head is None or head.activation != LINEAR:
                continue
            if head.width != 1:
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


class KerasRateTooHigh(KerasRule, code="S818", cause="HYP-LR-HIGH"):
    """The learning rate of a Keras optimizer is so high, or so wrong, that nothing can be learnt with it.

    Adam and its kin move each weight by about the learning rate in each step; a rate of 1 replaces weights of size 0.05 by noise.
    A rate of zero changes nothing, a negative one climbs.

    Begin at the default: 0.001 for Adam and RMSprop, 0.01 for SGD.
    """

    message = "A learning rate of {} cannot work for {}; start with {}."
    triggers = ("keras", "Adam(", "AdamW(", "Nadam(", "Adamax(", "RMSprop(", "SGD(", "Adagrad(", "Lion(")

    GOOD = (
        Snippet(
            "usual",
            "import keras\n\noptimizer = keras.optimizers.Adam(learning_rate=1e-3)\nother = keras.optimizers.SGD(0.1)\n",
        ),
        Snippet(
            "a high rate that SGD may have",
            "import keras\n\noptimizer = keras.optimizers.SGD(learning_rate=1.0)\nother = keras.optimizers.Adadelta(1.0)\n",
        ),
    )
    BAD = (
        Snippet("Adam", "import keras\n\noptimizer = keras.optimizers.Adam(learning_rate=1.0)\n", line=3),
        Snippet(
            "by position",
            "from tensorflow.keras.optimizers import RMSprop\n\ndef build(model):\n    model.compile(RMSprop(3), 'mse')\n",
            line=4,
        ),
        Snippet("negative", "import keras\n\noptimizer = keras.optimizers.SGD(-0.01)\n", line=3),
    )

    def check(self, program: Program) -> Findings:
        for event, name, rate in rates(program):
            is_adaptive = name not in ("SGD", "Adadelta", "Adagrad", "Ftrl", "Adafactor")
            if rate <= 0 or (is_adaptive and rate >= 1) or (name == "SGD" and rate >= 100):
                default = "0.01" if name == "SGD" else "0.001"
                cause = "HYP-LR-LOW" if rate <= 0 else None
                yield self.finding(program, event.node, self.message.format(rate, name, default), cause=cause)


class KerasUnusualSetting(KerasRule, code="S819", cause="HYP-LR-HIGH", advisory=True):
    """A learning rate or a dropout rate lies outside of what is usual.

    It may be right for this model; more often a digit is wrong, or the rate to keep was given where Keras wants the rate to drop.

    Compare with the default (0.001 for Adam, 0.01 for SGD; dropout of 0.2 to 0.5) and keep it if the unusual value does better.
    """

    message = "A learning rate of {} is unusual for {} (usual: {} to {})."
    triggers = ("keras", "Adam(", "AdamW(", "Nadam(", "Adamax(", "RMSprop(", "SGD(", "Dropout(")

    GOOD = (
        Snippet(
            "usual",
            "import keras\n\noptimizer = keras.optimizers.Adam(3e-4)\ndrop = keras.layers.Dropout(0.5)\n",
        ),
        Snippet("from outside", "import keras\n\ndef build(rate):\n    return keras.optimizers.Adam(rate)\n"),
    )
    BAD = (
        Snippet("high", "import keras\n\noptimizer = keras.optimizers.Adam(learning_rate=0.1)\n", line=3),
        Snippet("low", "import keras\n\noptimizer = keras.optimizers.Adam(learning_rate=1e-8)\n", line=3),
        Snippet("dropout", "from keras import layers\n\ndrop = layers.Dropout(0.9)\n", line=3),
    )

    def check(self, program: Program) -> Findings:
        for event, name, rate in rates(program):
            low, high = USUAL_RATES.get(name, (0.0, float("inf")))
            if rate > 0 and not low <= rate <= high:
                text = self.message.format(f"{rate:g}", name, f"{low:g}", f"{high:g}")
                yield self.finding(program, event.node, text, cause="HYP-LR-LOW" if rate < low else None)
        for event in program.calls_of("keras.layers.Dropout"):
            share = constant(event.call.argument("rate", 0))
            if isinstance(share, float) and 0.8 < share < 1:
                text = f"Dropout({share:g}) drops {share:.0%} of the values; Keras wants the rate to drop, not the one to keep."
                yield self.finding(program, event.node, text, cause="LYR-DROPOUT-RATE")


_CALLBACKS = ("EarlyStopping", "ModelCheckpoint", "ReduceLROnPlateau")
MONITOR_HEAD = (
    "import keras\n\nmodel = keras.Sequential([keras.layers.Dense(1)])\nmodel.compile('adam', 'mse')\n"
)


class KerasMonitorNeverSeen(KerasRule, code="S823", cause="VAL-SET-MISSING"):
    """A callback watches a validation value, and `fit` has no validation data.

    `val_loss` then never appears: early stopping does not stop, the best model is never saved, the rate is never lowered. A warning
    passes by in the log.

    Give `validation_split=0.1` or `validation_data`, or let the callback watch `"loss"`.
    """

    message = "{} watches {}, which does not exist without validation data; give fit() validation_split or validation_data."
    triggers = _CALLBACKS

    GOOD = (
        Snippet("with validation data", MONITOR_HEAD + "stop = keras.callbacks.EarlyStopping()\nmodel.fit(x, y, validation_split=0.1, callbacks=[stop])\n"),
        Snippet("watches the training loss", MONITOR_HEAD + "model.fit(x, y, callbacks=[keras.callbacks.EarlyStopping(monitor='loss')])\n"),
        Snippet("saves every epoch", MONITOR_HEAD + "model.fit(x, y, callbacks=[keras.callbacks.ModelCheckpoint('net.keras')])\n"),
        Snippet("options from outside", MONITOR_HEAD + "model.fit(x, y, callbacks=[keras.callbacks.EarlyStopping()], **options)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("early stopping", MONITOR_HEAD + "stop = keras.callbacks.EarlyStopping(patience=3)\nmodel.fit(x, y, epochs=50, callbacks=[stop])\n", line=6),
        Snippet("the best model", "from tensorflow.keras import Input, Model, layers\nfrom tensorflow.keras.callbacks import ModelCheckpoint\n\ndef run(x, y):\n    a = Input((4,))\n"
                "    model = Model(a, layers.Dense(1)(a))\n    model.compile('adam', 'mse')\n    best = ModelCheckpoint('best.keras', monitor='val_mae', save_best_only=True)\n"
                "    model.fit(x, y, callbacks=best)\n", line=9),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for event, call, _ in fits(program):
            if call.open or {"validation_data", "validation_split", "validation_steps"} & set(call.keywords):
                continue
            if len(call.args) > 5:
                continue
            given = call.keywords.get("callbacks")
            for callback in _each(given) if given is not None else ():
                name = callback.qualified.rpartition(".")[2]
                monitor = constant(
                    callback.argument("monitor", 1 if name == "ModelCheckpoint" else 0),
                    "val_loss" if _is_default(callback, name) else "",
                )
                if (
                    name == "ModelCheckpoint"
                    and constant(callback.keywords.get("save_best_only"), False) is not True
                ):
                    continue
                if isinstance(monitor, str) and monitor.startswith("val_") and not callback.open:
                    yield self.finding(program, event.node, self.message.format(name, monitor))


def _is_default(callback: Call, name: str) -> bool:
    return callback.argument("monitor", 1 if name == "ModelCheckpoint" else 0) is None


def _each(value: Value) -> Iterator[Call]:
    value = resolved(value)
    for item in value.items if isinstance(value, Collection) else (value,):
        made = resolved(item)
        if isinstance(made, Call) and made.qualified in tuple(
            f"keras.callbacks.{name}" for name in _CALLBACKS
        ):
            yield made
