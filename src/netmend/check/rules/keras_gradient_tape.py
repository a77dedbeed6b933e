from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import Event, Guard
from netmend.program.engine.program import Program
from netmend.program.engine.values import Attribute, Call, Collection, Operation, Value, resolved
from netmend.program.meaning.roles import same
from netmend.vocabulary.finding import Finding

HEAD = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(3)])
other = tf.keras.Sequential([tf.keras.layers.Dense(3)])
optimizer = tf.keras.optimizers.Adam(1e-3)
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


"""


@register
class KerasGradientTape(StaticRule):
    """The loss is computed outside the `GradientTape`, or gradients are applied to other variables than they were taken of.

    The tape records only what happens inside its `with`. A loss computed behind it has no recorded path: all gradients are None and
    the optimizer refuses them, or updates nothing. Gradients applied to other variables move those at random.

    Compute the loss inside the `with`, and use one list of variables for `gradient` and `apply_gradients`.
    """

    code = "S821"
    needs = "keras"
    cause = "LOS-GRAPH-CUT"
    message = "The loss is computed outside the tape, so it has no gradient; move the line into the `with`."
    triggers = ("GradientTape",)

    GOOD = (
        Snippet("inside", HEAD + "def step(x, y):\n    with tf.GradientTape() as tape:\n        loss = loss_fn(y, model(x, training=True))\n"
                "    grads = tape.gradient(loss, model.trainable_variables)\n    optimizer.apply_gradients(zip(grads, model.trainable_variables))\n"),
        Snippet("a helper inside", HEAD + "def compute(x, y):\n    return loss_fn(y, model(x))\n\ndef step(x, y):\n    with tf.GradientTape() as tape:\n        loss = compute(x, y)\n"
                "    weights = model.trainable_weights\n    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))\n"),
        Snippet("two tapes", HEAD + "def step(x):\n    with tf.GradientTape() as a, tf.GradientTape() as b:\n        one, two = tf.reduce_mean(model(x)), tf.reduce_mean(other(x))\n"
                "    optimizer.apply_gradients(zip(a.gradient(one, model.trainable_variables), model.trainable_variables))\n"
                "    optimizer.apply_gradients(zip(b.gradient(two, other.trainable_variables), other.trainable_variables))\n"),
        Snippet("of an input", HEAD + "def attack(x):\n    with tf.GradientTape() as tape:\n        tape.watch(x)\n        score = model(x)\n    return tape.gradient(score, x)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("behind the tape", HEAD + "@tf.function\ndef step(x, y):\n    with tf.GradientTape() as tape:\n        logits = model(x, training=True)\n    loss = loss_fn(y, logits)\n"
                "    grads = tape.gradient(loss, model.trainable_variables)\n    optimizer.apply_gradients(zip(grads, model.trainable_variables))\n", line=13),
        Snippet("to another model", HEAD + "def step(x, y):\n    with tf.GradientTape() as tape:\n        loss = loss_fn(y, model(x, training=True))\n"
                "    grads = tape.gradient(loss, model.trainable_variables)\n    optimizer.apply_gradients(zip(grads, other.trainable_variables))\n", line=13),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        made = {id(event.value): event for event in program.calls}
        for event in program.methods_of("gradient"):
            call = event.call
            tape = resolved(call.receiver) if call is not None and call.receiver is not None else None
            if call is None or not isinstance(tape, Call) or tape.qualified != "tensorflow.GradientTape":
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


def _other_variables(event: Event) -> str:
    """Pairs of gradients and variables where both are known lists of two different models."""
    call = event.call
    pairs = resolved(call.args[0]) if call is not None and call.args else None
    if not isinstance(pairs, Call) or pairs.qualified != "zip" or len(pairs.args) != 2:
        return ""
    grads, applied = resolved(pairs.args[0]), resolved(pairs.args[1])
    taken: Value | None = (
        grads.argument("sources", 1) if isinstance(grads, Call) and grads.method == "gradient" else None
    )
    taken = resolved(taken) if taken is not None else None
    if (
        isinstance(taken, Collection)
        or not isinstance(taken, Attribute)
        or not isinstance(applied, Attribute)
    ):
        return ""
    if all(isinstance(resolved(part.base), Call) for part in (taken, applied)) and not same(
        taken.base, applied.base
    ):
        return "The gradients are of another model's variables; apply them to the same list."
    return ""
