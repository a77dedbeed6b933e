"""Keras: compile() and fit()."""

from __future__ import annotations

from netmend.check.rule import Findings, KerasRule, Snippet, mended
from netmend.library.keras import SEQUENCE_LAYERS
from netmend.program.engine.history import Event, before
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Call,
    Collection,
    Function,
    Item,
    Name,
    Unknown,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.keras import Compiled, chain, compiles, fits, kind, model_of, source
from netmend.program.meaning.operations import walk
from netmend.program.meaning.roles import same
from netmend.program.meaning.statements import without_argument
from netmend.vocabulary.finding import Fix

VALIDATION_HEAD = (
    "import keras\n\nmodel = keras.Sequential([keras.layers.Dense(1)])\nmodel.compile('adam', 'mse')\n"
)


class KerasValidationIsTraining(KerasRule, code="S810", cause="VAL-SPLIT", in_tests=False):
    """`fit` is given its own training data as validation data.

    Validation then shows how well the data is remembered, not how well the model will do; overfitting cannot be seen, and early
    stopping and checkpoints choose by the wrong number.

    Keep data aside: `validation_split=0.1`, or a part of its own.
    """

    message = (
        "The validation data is the training data; hold out a part, for example with validation_split=0.1."
    )
    triggers = ("validation_data",)

    GOOD = (
        Snippet("a part of its own", VALIDATION_HEAD + "model.fit(x, y, validation_data=(x_val, y_val))\n"),
        Snippet(
            "split off", VALIDATION_HEAD + "model.fit(x, y, validation_split=0.1)  # no validation_data\n"
        ),
        Snippet(
            "another cut",
            VALIDATION_HEAD + "model.fit(x[:800], y[:800], validation_data=(x[800:], y[800:]))\n",
        ),
    )
    BAD = (
        Snippet(
            "the same rows",
            VALIDATION_HEAD
            + "x, y = load()\nfor train, val in folds:\n    model.fit(x[val], y[val], validation_data=(x[val], y[val]))\n",
            line=7,
        ),
        Snippet(
            "arrays",
            VALIDATION_HEAD + "x, y = load()\nmodel.fit(x, y, epochs=5, validation_data=(x, y))\n",
            line=6,
        ),
        Snippet(
            "a data set",
            "import tensorflow as tf\n\ndef run(model: tf.keras.Model, train_ds):\n    model.fit(train_ds, validation_data=train_ds, epochs=3)\n",
            line=4,
        ),
    )

    def check(self, program: Program) -> Findings:
        for event in program.methods_of("fit"):
            call = event.call
            if "validation_data" not in call.keywords:
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


TEST_HEAD = """\
from sklearn.model_selection import train_test_split
from tensorflow import keras

model = keras.Sequential([keras.layers.Dense(1)])
model.compile("adam", "mse")
x_train, x_test, y_train, y_test = train_test_split(x, y)
"""


class KerasFitOnTestData(KerasRule, code="S811", cause="VAL-TEST-LEAK", in_tests=False):
    """`fit` is given the test part of the data.

    What the model was trained on cannot test it: the score on it says nothing about new data.

    Fit on the training part and keep the test part for the last evaluation.
    """

    message = "The model is fitted on the test part of the data; use the training part."
    triggers = ("load_data", "train_test_split", ".fit(")

    GOOD = (
        Snippet(
            "the training part", TEST_HEAD + "model.fit(x_train, y_train)\nmodel.evaluate(x_test, y_test)\n"
        ),
        Snippet(
            "both, for the last model",
            TEST_HEAD
            + "model.fit(x_train, y_train)\nprint(model.evaluate(x_test, y_test))\nmodel.fit(x_test, y_test)\n",
        ),
    )
    BAD = (
        Snippet("a split", TEST_HEAD + "model.fit(x_test, y_test, epochs=5)\n", line=7),
        Snippet("a data set of Keras", "import keras\n\n(x_train, y_train), (x_test, y_test) = keras.datasets.mnist.load_data()\nx_test = x_test.reshape(-1, 784) / 255\n"
                "model = keras.Sequential([keras.layers.Dense(10, activation='softmax')])\nmodel.compile('adam', 'sparse_categorical_crossentropy')\nmodel.fit(x_test, y_test)\n", line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        events = program.methods_of("fit")
        given = [
            (event, source(event.call.argument("x", 0) if event.call is not None else None))
            for event in events
        ]
        for event, data in given:
            if data.split != 1 or data.part != 0 or event.call is None or len(event.call.args) < 2:
                continue
            if event.call.receiver is None or "validation_data" in event.call.keywords:
                continue
            if not any(other.made is data.made and other.split == 0 for _, other in given):
                yield self.finding(program, event.node)


TRAINABLE_HEAD = """\
from tensorflow import keras

base = keras.applications.ResNet50(include_top=False, pooling="avg")
model = keras.Sequential([base, keras.layers.Dense(10, activation="softmax")])
"""
COMPILE = "model.compile('adam', 'sparse_categorical_crossentropy')\n"


class KerasTrainableAfterCompile(KerasRule, code="S812", cause="LOOP-FREEZE"):
    """`trainable` is changed after `compile`, and `fit` follows without another `compile`.

    The set of trained weights is taken over by `compile`. What is frozen or thawed afterwards is trained, or stays fixed, as before.

    Call `compile` again after the change, usually with a smaller learning rate.
    """

    message = "This has no effect until the model is compiled again; call compile() after it."
    triggers = (".trainable",)

    GOOD = (
        Snippet("before", TRAINABLE_HEAD + "base.trainable = False\n" + COMPILE + "model.fit(x, y)\n"),
        Snippet("compiled again", TRAINABLE_HEAD + COMPILE + "model.fit(x, y)\nbase.trainable = True\n" + COMPILE + "model.fit(x, y)\n"),
        Snippet("not fitted any more", TRAINABLE_HEAD + COMPILE + "model.fit(x, y)\nmodel.trainable = False\nmodel.predict(x)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("the base", TRAINABLE_HEAD + COMPILE + "base.trainable = False\nmodel.fit(x, y)\n", line=6),
        Snippet("layers of the model", TRAINABLE_HEAD + "def tune(x, y):\n    " + COMPILE + "    for layer in model.layers[:-1]:\n        layer.trainable = False\n    model.fit(x, y)\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        stores = [event for event in program.stores if event.target.name == "trainable"]
        if not stores:
            return
        known = list(compiles(program))
        fitted = [(event, model) for event, _, model in fits(program)]
        for store in stores:
            base = store.target.base if store.target is not None else None
            for compiled in known:
                if base is None or not before(compiled.event, store) or not _belongs(base, compiled.model):
                    continue
                after = [
                    event
                    for event, model in fitted
                    if (model is compiled.model and before(store, event))
                    or _follows(store, event, model, compiled)
                ]
                if after and not any(store.order < other.event.order for other in known):
                    yield self.finding(program, store.node)
                    break


def _follows(store: Event, fit: Event, model: Call, compiled: Compiled) -> bool:
    """A loop over layers counts as happening."""
    return model is compiled.model and fit.order > store.order and fit.block is compiled.event.block


def _belongs(base: Value, model: Call) -> bool:
    """The model itself, one of its layers, or a model inside it."""
    inside = {id(part) for argument in (*model.args, *model.keywords.values()) for part in walk(argument)}
    for part in walk(base):
        made = resolved(part)
        if made is model or (
            id(made) in inside
            and isinstance(made, Call)
            and (kind(made) or made.qualified.startswith("keras."))
        ):
            return True
    return False


COMPILE_HEAD = "import keras\n\nmodel = keras.Sequential([keras.layers.Dense(1)])\n"


class KerasFitBeforeCompile(KerasRule, code="S813", cause="API-CALL-MISSING"):
    """`fit` or `evaluate` is called on a model that was never compiled before.

    The call stops with "You must call `compile()` before using the model".

    Call `model.compile(optimizer=…, loss=…)` first.
    """

    message = "The model is not compiled here; call model.compile(optimizer=..., loss=...) before fit()."
    triggers = (".fit(",)

    GOOD = (
        Snippet("compiled", COMPILE_HEAD + "model.compile('adam', 'mse')\nmodel.fit(x, y)\n"),
        Snippet("compiled by a helper", COMPILE_HEAD + "from tools import prepare\nprepare(model)\nmodel.fit(x, y)\n"),
        Snippet("loaded, compiled inside", "import keras\n\nmodel = keras.models.load_model('net.keras')\nmodel.fit(x, y)\n"),
        Snippet("fitted in a function", COMPILE_HEAD + "def run(x, y):\n    model.fit(x, y)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("never", COMPILE_HEAD + "model.fit(x, y, epochs=3)\n", line=4),
        Snippet("too late", "from tensorflow import keras\n\ndef main(x, y):\n    a = keras.Input((4,))\n    net = keras.Model(a, keras.layers.Dense(1)(a))\n    net.fit(x, y)\n"
                "    net.compile('adam', 'mse')\n", line=6),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for event, _, model in fits(program):
            made = next((other for other in program.calls if other.value is model), None)
            entry = program.entry_of(event)
            if made is None or program.entry_of(made) is not entry or not entry.complete:
                continue
            if not any(
                _may_compile(other.call, model) for other in program.calls if other.order < event.order
            ):
                yield self.finding(program, event.node)


def _may_compile(call: Call | None, model: Call) -> bool:
    """`compile` of the model, or a call that was not followed and is given it."""
    if call is None:
        return False
    if call.method == "compile" and model_of(call.receiver) is model:
        return True
    if call.result is not None or (
        isinstance(resolved(call.function), Function) and call.result is None and call is model
    ):
        return False
    callee: Value = resolved(call.function)
    is_own = (isinstance(callee, Name) and callee.qualified.startswith(("keras.", "tensorflow.keras."))) or (
        "." not in call.qualified and bool(call.qualified)
    )
    return not is_own and any(
        part is model for value in (*call.args, *call.keywords.values()) for part in walk(value)
    )


SHUFFLE_HEAD = "import keras\nfrom keras import layers\n\nmodel = keras.Sequential([layers.Dense(10, activation='softmax')])\nmodel.compile('adam', 'categorical_crossentropy')\n"


class KerasFitNotShuffled(KerasRule, code="S817", cause="API-SHUFFLE-POS", advisory=True):
    """`fit` is told not to shuffle, and the model is not one for sequences.

    Batches then come in the order of the data. Where that is sorted, by class or by time, each batch pulls the weights one way and
    the next one back.

    Leave `shuffle` at its default, True; set it to False for stateful models and time series only.
    """

    message = "shuffle=False trains on the data in its order; leave shuffle at True unless the order matters."
    triggers = ("shuffle=False",)

    GOOD = (
        Snippet("shuffled", SHUFFLE_HEAD + "model.fit(x, y)\n"),
        Snippet("a sequence model", "import keras\nfrom keras import layers\n\nmodel = keras.Sequential([layers.LSTM(8, stateful=True), layers.Dense(1)])\nmodel.compile('adam', 'mse')\n"
                "model.fit(x, y, shuffle=False)\n"),
        Snippet("an option", SHUFFLE_HEAD + "model.fit(x, y, shuffle=args.shuffle)  # not shuffle=False\n"),
    )  # fmt: skip
    BAD = (
        mended("script", SHUFFLE_HEAD + "model.fit(x, y, epochs=3⟨, shuffle=False → ⟩)\n"),
        Snippet(
            "function",
            SHUFFLE_HEAD + "def run(x, y):\n    return model.fit(x, y, shuffle=False, batch_size=32)\n",
            line=7,
        ),
    )

    def check(self, program: Program) -> Findings:
        for event, call, model in fits(program):
            layers = chain(program, model)
            if constant(call.keywords.get("shuffle"), True) is not False or layers is None:
                continue
            if not layers.whole or call.argument("y", 1) is None:
                continue
            if any(kind(layer) in SEQUENCE_LAYERS for layer in layers.layers):
                continue
            edits = without_argument(program, call.node, "shuffle")
            yield self.finding(program, event.node, fix=Fix("Shuffle", edits))
