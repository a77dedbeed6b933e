from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Function, Name, Value, resolved
from netmend.program.meaning.keras_models import fits, model_of
from netmend.program.meaning.operations import walk
from netmend.vocabulary.finding import Finding

HEAD = "import keras\n\nmodel = keras.Sequential([keras.layers.Dense(1)])\n"


@register
class KerasFitBeforeCompile(StaticRule):
    """`fit` or `evaluate` is called on a model that was never compiled before.

    The call stops with "You must call `compile()` before using the model".

    Call `model.compile(optimizer=…, loss=…)` first.
    """

    code = "S813"
    needs = "keras"
    cause = "API-CALL-MISSING"
    message = "The model is not compiled here; call model.compile(optimizer=..., loss=...) before fit()."
    triggers = (".fit(",)

    GOOD = (
        Snippet("compiled", HEAD + "model.compile('adam', 'mse')\nmodel.fit(x, y)\n"),
        Snippet("compiled by a helper", HEAD + "from tools import prepare\nprepare(model)\nmodel.fit(x, y)\n"),
        Snippet("compiled on one path", HEAD + "if fresh:\n    model.compile('adam', 'mse')\nmodel.fit(x, y)\n"),
        Snippet("a model from outside", "import keras\n\ndef run(model: keras.Model, x, y):\n    model.fit(x, y)\n"),
        Snippet("loaded, compiled inside", "import keras\n\nmodel = keras.models.load_model('net.keras')\nmodel.fit(x, y)\n"),
        Snippet("fitted in a function", HEAD + "def run(x, y):\n    model.fit(x, y)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("never", HEAD + "model.fit(x, y, epochs=3)\n", line=4),
        Snippet("too late", "from tensorflow import keras\n\ndef main(x, y):\n    a = keras.Input((4,))\n    net = keras.Model(a, keras.layers.Dense(1)(a))\n    net.fit(x, y)\n"
                "    net.compile('adam', 'mse')\n", line=6),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
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
