"""Keras: own training loops, repeated runs, predictions."""

from __future__ import annotations

from netmend.check.rule import Findings, KerasRule, Snippet
from netmend.program.engine.history import CallEvent, Event, Guard, Loop
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Element,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.keras import fits, model_of
from netmend.program.meaning.operations import walk
from netmend.program.meaning.roles import same

TAPE_HEAD = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(3)])
other = tf.keras.Sequential([tf.keras.layers.Dense(3)])
optimizer = tf.keras.optimizers.Adam(1e-3)
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


"""


class KerasGradientTape(KerasRule, code="S821", cause="LOS-GRAPH-CUT"):
    """The loss is computed outside the `GradientTape`, or gradients are applied to other variables than they were taken of.

    The tape records only what happens inside its `with`. A loss computed behind it has no recorded path: all gradients are None and
    the optimizer refuses them, or updates nothing. Gradients applied to other variables move those at random.

    Compute the loss inside the `with`, and use one list of variables for `gradient` and `apply_gradients`.
    """

    message = "The loss is computed outside the tape, so it has no gradient; move the line into the `with`."
    triggers = ("GradientTape",)

    GOOD = (
        Snippet("inside", TAPE_HEAD + "def step(x, y):\n    with tf.GradientTape() as tape:\n        loss = loss_fn(y, model(x, training=True))\n"
                "    grads = tape.gradient(loss, model.trainable_variables)\n    optimizer.apply_gradients(zip(grads, model.trainable_variables))\n"),
        Snippet("a helper inside", TAPE_HEAD + "def compute(x, y):\n    return loss_fn(y, model(x))\n\ndef step(x, y):\n    with tf.GradientTape() as tape:\n        loss = compute(x, y)\n"
                "    weights = model.trainable_weights\n    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("behind the tape", TAPE_HEAD + "@tf.function\ndef step(x, y):\n    with tf.GradientTape() as tape:\n        logits = model(x, training=True)\n    loss = loss_fn(y, logits)\n"
                "    grads = tape.gradient(loss, model.trainable_variables)\n    optimizer.apply_gradients(zip(grads, model.trainable_variables))\n", line=13),
        Snippet("to another model", TAPE_HEAD + "def step(x, y):\n    with tf.GradientTape() as tape:\n        loss = loss_fn(y, model(x, training=True))\n"
                "    grads = tape.gradient(loss, model.trainable_variables)\n    optimizer.apply_gradients(zip(grads, other.trainable_variables))\n", line=13),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        made = {id(event.value): event for event in program.calls}
        for event in program.methods_of("gradient"):
            call = event.call
            tape = resolved(call.receiver)
            if not isinstance(tape, Call) or tape.qualified != "tensorflow.GradientTape":
                continue
            loss = made.get(id(_computed(call.argument("target", 0))))
            if (
                loss is not None
                and loss.order < event.order
                and _is_loss(loss.call)
                and not _inside(loss, tape)
            ):
                yield self.finding(program, loss.node)
        for event in program.methods_of("apply_gradients"):
            text = _other_variables(event)
            if text:
                yield self.finding(program, event.node, text, cause="OPT-PARAMS")


def _computed(target: Value | None) -> Value | None:
    """The loss itself where a penalty or a factor was added to it."""
    for _ in range(10):
        if not isinstance(target, Operation) or target.operator not in ("+", "*", "/", "-"):
            break
        target = target.operands[0]
    return target


def _is_loss(call: Call | None) -> bool:
    if call is None:
        return False
    made = resolved(call.function)
    return (
        isinstance(made, Call) and made.qualified.startswith("keras.losses.")
    ) or call.qualified.startswith(("keras.losses.", "tensorflow.reduce_", "tensorflow.nn."))


def _inside(event: Event, tape: Call) -> bool:
    return any(
        isinstance(part, Guard) and any(resolved(manager) is tape for manager in part.managers)
        for part in event.around()
    )


def _other_variables(event: CallEvent) -> str:
    """Pairs of gradients and variables where both are known lists of two different models."""
    call = event.call
    pairs = resolved(call.args[0]) if call.args else None
    if not isinstance(pairs, Call) or pairs.qualified != "zip" or len(pairs.args) != 2:
        return ""
    grads, applied = resolved(pairs.args[0]), resolved(pairs.args[1])
    taken: Value | None = (
        grads.argument("sources", 1) if isinstance(grads, Call) and grads.method == "gradient" else None
    )
    taken = resolved(taken)
    if isinstance(taken, Collection) or not isinstance(taken, Attribute):
        return ""
    if not isinstance(applied, Attribute):
        return ""
    if all(isinstance(resolved(part.base), Call) for part in (taken, applied)) and not same(
        taken.base, applied.base
    ):
        return "The gradients are of another model's variables; apply them to the same list."
    return ""


_FLOWS = ("flow_from_directory", "flow_from_dataframe")
PREDICTIONS_HEAD = """\
from sklearn.metrics import confusion_matrix
from tensorflow.keras.preprocessing.image import ImageDataGenerator

def test(model, folder):
"""


class KerasShuffledPredictions(KerasRule, code="S825", cause="PRE-WRONG-STEP"):
    """Predictions for a shuffled generator are compared with its `classes`, which are in the order of the files.

    `flow_from_directory` shuffles unless told not to. Predictions come in the shuffled order, `classes` does not: the comparison is
    between different images, and a good model looks like chance.

    Make the test generator with `shuffle=False`.
    """

    message = (
        "The predictions are in shuffled order, `classes` is not; create the generator with shuffle=False."
    )
    triggers = _FLOWS

    GOOD = (
        Snippet("in order", PREDICTIONS_HEAD + "    data = ImageDataGenerator().flow_from_directory(folder, shuffle=False)\n    guess = model.predict(data).argmax(1)\n    return confusion_matrix(data.classes, guess)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("shuffled by default", PREDICTIONS_HEAD + "    data = ImageDataGenerator(rescale=1 / 255).flow_from_directory(folder, target_size=(64, 64))\n    guess = model.predict(data).argmax(axis=1)\n"
                "    return confusion_matrix(data.classes, guess)\n", line=7),
        Snippet("in a script", "import numpy as np\nimport keras\nfrom sklearn.metrics import classification_report\nfrom keras.preprocessing.image import ImageDataGenerator\n\n"
                "test = ImageDataGenerator().flow_from_dataframe(rows, shuffle=True)\nscores = model.predict(test)\nguess = np.argmax(scores, axis=1)\n"
                "print(classification_report(test.classes, guess))\n", line=9),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        shuffled = {
            id(call): event
            for event in program.methods_of(*_FLOWS)
            if (call := event.call) is not None
            and not call.open
            and constant(call.keywords.get("shuffle"), True) is True
        }
        if not shuffled:
            return
        for event in program.calls:
            call = event.call
            if len(call.args) < 2 or call.result is not None:
                continue
            wanted = {
                id(resolved(value.base))
                for argument in call.args
                for value in walk(argument)
                if isinstance(value, Attribute) and value.name == "classes"
            }
            for flow in wanted & set(shuffled):
                if any(_is_prediction(value, flow) for argument in call.args for value in walk(argument)):
                    yield self.finding(
                        program, event.node, see=[("the generator is created here", shuffled[flow].node)]
                    )


def _is_prediction(value: Value, flow: int) -> bool:
    return (
        isinstance(value, Call)
        and value.method in ("predict", "predict_generator")
        and bool(value.args)
        and id(resolved(value.args[0])) == flow
    )


_BUILDING = ("add", "build", "compile", "summary", "fit")
REBUILT_HEAD = """\
import keras

def build(units=32):
    model = keras.Sequential([keras.layers.Dense(units, activation="relu"), keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse")
    return model

"""


class KerasModelRebuilt(KerasRule, code="S826", cause="ARC-INIT-MULTI"):
    """A loop over epochs makes a new model in each round and fits it for one epoch.

    Each round throws away what the one before has learnt; after the loop the model has seen one epoch. Memory grows as well.

    Make the model before the loop, or call `fit` once with `epochs=…`.
    """

    message = (
        "Each iteration creates a new model and loses what was learned; create the model before the loop."
    )
    triggers = (".fit(",)

    GOOD = (
        Snippet("made before", REBUILT_HEAD + "model = build()\nfor epoch in range(20):\n    model.fit(x, y, epochs=1)\n"),
        Snippet("one model per fold", REBUILT_HEAD + "for train, test in folds.split(x):\n    model = build()\n    model.fit(x[train], y[train])\n"),
        Snippet("one model per setting", REBUILT_HEAD + "for units in range(1, 5):\n    model = build(units)\n    model.fit(x, y)\n"),
        Snippet("each is measured", REBUILT_HEAD + "for run in range(5):\n    model = build()\n    model.fit(x, y)\n    scores.append(model.evaluate(x, y))\n"),
        Snippet("each is trained to the end", REBUILT_HEAD + "for run in range(5):\n    model = build()\n    model.fit(x, y, epochs=50)\n"),
        Snippet("kept", REBUILT_HEAD + "models = []\nfor run in range(5):\n    model = build()\n    model.fit(x, y)\n    models.append(model)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("a builder", REBUILT_HEAD + "for epoch in range(20):\n    model = build()\n    model.fit(x, y, epochs=1, verbose=0)\nprint(model.evaluate(x, y))\n", line=10),
        Snippet("written out", "from tensorflow import keras\n\ndef train(x, y, epochs):\n    for epoch in range(epochs):\n        model = keras.Sequential()\n        model.add(keras.layers.Dense(1))\n"
                "        model.compile('sgd', 'mse')\n        model.fit(x, y)\n    return model\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        made: dict[int, Event] | None = None
        for event, call, model in fits(program):
            loop = event.loop
            if loop is None or not _counts(loop.iterable) or call.open:
                continue
            if constant(call.argument("epochs", 3), 1) != 1:
                continue
            made = {id(other.value): other for other in program.calls} if made is None else made
            birth = made.get(id(model))
            if birth is None or loop not in birth.around():
                continue
            if call.argument("epochs", 3) is not None and constant(call.argument("epochs", 3)) is None:
                continue
            if not _is_used_otherwise(loop, model):
                yield self.finding(program, event.node)


def _counts(iterable: Value | None) -> bool:
    inner = resolved(iterable)
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
