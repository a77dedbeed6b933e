from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import STORE, Event, before
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Value, resolved
from netmend.program.meaning.keras_compiled import Compiled, compiles
from netmend.program.meaning.keras_models import fits, kind
from netmend.program.meaning.operations import walk
from netmend.vocabulary.finding import Finding

HEAD = """\
from tensorflow import keras

base = keras.applications.ResNet50(include_top=False, pooling="avg")
model = keras.Sequential([base, keras.layers.Dense(10, activation="softmax")])
"""
COMPILE = "model.compile('adam', 'sparse_categorical_crossentropy')\n"


@register
class KerasTrainableAfterCompile(StaticRule):
    """`trainable` is changed after `compile`, and `fit` follows without another `compile`.

    The set of trained weights is taken over by `compile`. What is frozen or thawed afterwards is trained, or stays fixed, as before.

    Call `compile` again after the change, usually with a smaller learning rate.
    """

    code = "S812"
    needs = "keras"
    cause = "LOOP-FREEZE"
    message = "This has no effect until the model is compiled again; call compile() after it."
    triggers = (".trainable",)

    GOOD = (
        Snippet("before", HEAD + "base.trainable = False\n" + COMPILE + "model.fit(x, y)\n"),
        Snippet("compiled again", HEAD + COMPILE + "model.fit(x, y)\nbase.trainable = True\n" + COMPILE + "model.fit(x, y)\n"),
        Snippet("two models that play against each other", "import keras\n\nd = keras.Sequential([keras.layers.Dense(1)])\nd.compile('adam', 'binary_crossentropy')\nd.trainable = False\n"
                "z = keras.Input((8,))\ngan = keras.Model(z, d(keras.layers.Dense(4)(z)))\ngan.compile('adam', 'binary_crossentropy')\nd.train_on_batch(x, y)\ngan.fit(a, b)\n"),
        Snippet("not fitted any more", HEAD + COMPILE + "model.fit(x, y)\nmodel.trainable = False\nmodel.predict(x)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("the base", HEAD + COMPILE + "base.trainable = False\nmodel.fit(x, y)\n", line=6),
        Snippet("layers of the model", HEAD + "def tune(x, y):\n    " + COMPILE + "    for layer in model.layers[:-1]:\n        layer.trainable = False\n    model.fit(x, y)\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        stores = [
            event
            for event in program.events
            if event.kind == STORE and event.target is not None and event.target.name == "trainable"
        ]
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
