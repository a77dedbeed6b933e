from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.keras_models import activation, width
from netmend.program.meaning.test_code import is_test_code
from netmend.program.text.edits import replace
from netmend.vocabulary.finding import Finding, Fix

HEAD = "import keras\nfrom keras import layers\n\n"


@register
class KerasSoftmaxOverOne(StaticRule):
    """Softmax is applied to one unit.

    Softmax makes the units sum to one; with one unit the output is 1 whatever goes in, and no gradient comes back.

    Use `activation="sigmoid"` for two classes, or one unit per class.
    """

    code = "S805"
    needs = "keras"
    cause = "ACT-OUT-WRONG"
    message = 'Softmax over one unit is always 1; use activation="sigmoid", or one unit per class.'
    triggers = ("softmax",)
    patterns = (r"\bDense\(|\.compile\(",)

    GOOD = (
        Snippet("two units", HEAD + "layer = layers.Dense(2, activation='softmax')\n"),
        Snippet("sigmoid", HEAD + "layer = layers.Dense(1, activation='sigmoid')\n"),
        Snippet("over another axis", HEAD + "score = layers.Dense(1, activation='tanh')(x)\nweights = layers.Softmax(axis=1)(score)\n"),
        Snippet("width from outside", HEAD + "def top(classes):\n    return layers.Dense(classes, activation='softmax')\n"),
    )  # fmt: skip
    BAD = (
        Snippet("in a list", HEAD + "model = keras.Sequential([layers.Dense(32, activation='relu'), layers.Dense(1, activation='softmax')])\n", line=4,
                fixed=HEAD + "model = keras.Sequential([layers.Dense(32, activation='relu'), layers.Dense(1, activation='sigmoid')])\n"),
        Snippet("functional", "import tensorflow as tf\n\ndef build(n):\n    a = tf.keras.layers.Input((n,))\n    b = tf.keras.layers.Dense(units=1, activation=tf.nn.softmax)(a)\n"
                "    return tf.keras.Model(a, b)\n", line=5),
        Snippet("added", HEAD + "model = keras.Sequential()\nmodel.add(layers.Dense(1, 'softmax'))\n", line=5),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for event in program.calls_of("keras.layers.Dense") if not is_test_code(program) else ():
            call = event.call
            if call is None or width(call) != 1 or activation(call) != "softmax":
                continue
            keyword = (
                next((part for part in call.node.keywords if part.arg == "activation"), None)
                if call.node
                else None
            )
            text = program.source(keyword.value) if keyword is not None else ""
            edits = (
                replace(program, keyword.value, text.replace("softmax", "sigmoid"))
                if keyword is not None and text[:1] in "'\""
                else ()
            )
            yield self.finding(program, event.node, fix=Fix("Use sigmoid", edits) if edits else None)
