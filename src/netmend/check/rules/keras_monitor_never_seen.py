from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Collection, Value, constant, resolved
from netmend.program.meaning.keras_models import fits
from netmend.vocabulary.finding import Finding

_CALLBACKS = ("EarlyStopping", "ModelCheckpoint", "ReduceLROnPlateau")
HEAD = "import keras\n\nmodel = keras.Sequential([keras.layers.Dense(1)])\nmodel.compile('adam', 'mse')\n"


@register
class KerasMonitorNeverSeen(StaticRule):
    """A callback watches a validation value, and `fit` has no validation data.

    `val_loss` then never appears: early stopping does not stop, the best model is never saved, the rate is never lowered. A warning
    passes by in the log.

    Give `validation_split=0.1` or `validation_data`, or let the callback watch `"loss"`.
    """

    code = "S823"
    needs = "keras"
    cause = "VAL-SET-MISSING"
    message = "{} watches {}, which does not exist without validation data; give fit() validation_split or validation_data."
    triggers = _CALLBACKS

    GOOD = (
        Snippet("with validation data", HEAD + "stop = keras.callbacks.EarlyStopping()\nmodel.fit(x, y, validation_split=0.1, callbacks=[stop])\n"),
        Snippet("watches the training loss", HEAD + "model.fit(x, y, callbacks=[keras.callbacks.EarlyStopping(monitor='loss')])\n"),
        Snippet("saves every epoch", HEAD + "model.fit(x, y, callbacks=[keras.callbacks.ModelCheckpoint('net.keras')])\n"),
        Snippet("options from outside", HEAD + "model.fit(x, y, callbacks=[keras.callbacks.EarlyStopping()], **options)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("early stopping", HEAD + "stop = keras.callbacks.EarlyStopping(patience=3)\nmodel.fit(x, y, epochs=50, callbacks=[stop])\n", line=6),
        Snippet("the best model", "from tensorflow.keras import Input, Model, layers\nfrom tensorflow.keras.callbacks import ModelCheckpoint\n\ndef run(x, y):\n    a = Input((4,))\n"
                "    model = Model(a, layers.Dense(1)(a))\n    model.compile('adam', 'mse')\n    best = ModelCheckpoint('best.keras', monitor='val_mae', save_best_only=True)\n"
                "    model.fit(x, y, callbacks=best)\n", line=9),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for event, call, _ in fits(program):
            if (
                call.open
                or {"validation_data", "validation_split", "validation_steps"} & set(call.keywords)
                or len(call.args) > 5
            ):
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
