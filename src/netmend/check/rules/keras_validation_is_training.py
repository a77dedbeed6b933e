from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Collection, Item, Unknown, Value, resolved
from netmend.program.meaning.roles import same
from netmend.program.meaning.test_code import is_test_code
from netmend.vocabulary.finding import Finding

HEAD = "import keras\n\nmodel = keras.Sequential([keras.layers.Dense(1)])\nmodel.compile('adam', 'mse')\n"


@register
class KerasValidationIsTraining(StaticRule):
    """`fit` is given its own training data as validation data.

    Validation then shows how well the data is remembered, not how well the model will do; overfitting cannot be seen, and early
    stopping and checkpoints choose by the wrong number.

    Keep data aside: `validation_split=0.1`, or a part of its own.
    """

    code = "S810"
    needs = "keras"
    cause = "VAL-SPLIT"
    message = (
        "The validation data is the training data; hold out a part, for example with validation_split=0.1."
    )
    triggers = ("validation_data",)

    GOOD = (
        Snippet("a part of its own", HEAD + "model.fit(x, y, validation_data=(x_val, y_val))\n"),
        Snippet("split off", HEAD + "model.fit(x, y, validation_split=0.1)  # no validation_data\n"),
        Snippet("another cut", HEAD + "model.fit(x[:800], y[:800], validation_data=(x[800:], y[800:]))\n"),
        Snippet("another generator", HEAD + "model.fit(train, validation_data=val)\n"),
    )
    BAD = (
        Snippet(
            "the same rows",
            HEAD
            + "x, y = load()\nfor train, val in folds:\n    model.fit(x[val], y[val], validation_data=(x[val], y[val]))\n",
            line=7,
        ),
        Snippet(
            "arrays", HEAD + "x, y = load()\nmodel.fit(x, y, epochs=5, validation_data=(x, y))\n", line=6
        ),
        Snippet(
            "a data set",
            "import tensorflow as tf\n\ndef run(model: tf.keras.Model, train_ds):\n    model.fit(train_ds, validation_data=train_ds, epochs=3)\n",
            line=4,
        ),
    )

    def check(self, program: Program) -> Iterator[Finding]:
        for event in program.methods_of("fit") if not is_test_code(program) else ():
            call = event.call
            if call is None or "validation_data" not in call.keywords:
                continue
            given = call.argument("x", 0)
            held = resolved(call.keywords["validation_data"])
            other = (
                held.items[0]
                if isinstance(held, Collection) and held.kind == "tuple" and held.items
                else held
            )
            if given is None or isinstance(resolved(given), Unknown):
                continue
            if _same(given, other):
                yield self.finding(program, event.node)


def _same(one: Value, other: Value) -> bool:
    one, other = resolved(one), resolved(other)
    if isinstance(one, Item) and isinstance(other, Item):
        return one is other or (same(one.key, other.key) and _same(one.base, other.base))
    return same(one, other)
