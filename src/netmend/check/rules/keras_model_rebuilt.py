from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import Event, Loop
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Element, Value, constant, resolved
from netmend.program.meaning.keras_models import fits, model_of
from netmend.program.meaning.operations import walk
from netmend.vocabulary.finding import Finding

_BUILDING = ("add", "build", "compile", "summary", "fit")
HEAD = """\
import keras

def build(units=32):
    model = keras.Sequential([keras.layers.Dense(units, activation="relu"), keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse")
    return model

"""


@register
class KerasModelRebuilt(StaticRule):
    """A loop over epochs makes a new model in each round and fits it for one epoch.

    Each round throws away what the one before has learnt; after the loop the model has seen one epoch. Memory grows as well.

    Make the model before the loop, or call `fit` once with `epochs=…`.
    """

    code = "S826"
    needs = "keras"
    cause = "ARC-INIT-MULTI"
    message = (
        "Each iteration creates a new model and loses what was learned; create the model before the loop."
    )
    triggers = (".fit(",)

    GOOD = (
        Snippet("made before", HEAD + "model = build()\nfor epoch in range(20):\n    model.fit(x, y, epochs=1)\n"),
        Snippet("one model per fold", HEAD + "for train, test in folds.split(x):\n    model = build()\n    model.fit(x[train], y[train])\n"),
        Snippet("one model per setting", HEAD + "for units in range(1, 5):\n    model = build(units)\n    model.fit(x, y)\n"),
        Snippet("each is measured", HEAD + "for run in range(5):\n    model = build()\n    model.fit(x, y)\n    scores.append(model.evaluate(x, y))\n"),
        Snippet("each is trained to the end", HEAD + "for run in range(5):\n    model = build()\n    model.fit(x, y, epochs=50)\n"),
        Snippet("kept", HEAD + "models = []\nfor run in range(5):\n    model = build()\n    model.fit(x, y)\n    models.append(model)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("a builder", HEAD + "for epoch in range(20):\n    model = build()\n    model.fit(x, y, epochs=1, verbose=0)\nprint(model.evaluate(x, y))\n", line=10),
        Snippet("written out", "from tensorflow import keras\n\ndef train(x, y, epochs):\n    for epoch in range(epochs):\n        model = keras.Sequential()\n        model.add(keras.layers.Dense(1))\n"
                "        model.compile('sgd', 'mse')\n        model.fit(x, y)\n    return model\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        made: dict[int, Event] | None = None
        for event, call, model in fits(program):
            loop = next(iter(event.loops()), None)
            if (
                loop is None
                or not _counts(loop.iterable)
                or call.open
                or constant(call.argument("epochs", 3), 1) != 1
            ):
                continue
            made = {id(other.value): other for other in program.calls} if made is None else made
            birth = made.get(id(model))
            if (
                birth is None
                or loop not in birth.around()
                or (call.argument("epochs", 3) is not None and constant(call.argument("epochs", 3)) is None)
            ):
                continue
            if not _is_used_otherwise(loop, model):
                yield self.finding(program, event.node)


def _counts(iterable: Value | None) -> bool:
    inner = resolved(iterable) if iterable is not None else None
    return isinstance(inner, Call) and inner.qualified == "range"


def _is_used_otherwise(loop: Loop, model: Call) -> bool:
    """Is the model, or the loop's number, used in the round for anything but building and fitting?"""
    for event in loop.body.events():
        call = event.call
        if call is None:
            continue
        given = [part for value in (*call.args, *call.keywords.values()) for part in walk(value)]
        if any(isinstance(part, Element) and part.iterable is loop.iterable for part in given):
            return True
        if any(part is model for part in given):
            return True
        if model_of(call.receiver) is model and call.method not in _BUILDING:
            return True
    return False
