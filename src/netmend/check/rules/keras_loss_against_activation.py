from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.keras_compiled import BINARY, CATEGORICAL, SPARSE, Compiled, compiles
from netmend.vocabulary.finding import Finding

HEAD = "import keras\nfrom keras import layers\n\n"


@register
class KerasLossAgainstActivation(StaticRule):
    """The loss and the last activation belong to different tasks: binary cross-entropy on softmax, categorical on sigmoid or one unit.

    Binary cross-entropy on a softmax over several classes treats each class alone, and "accuracy" then counts single entries: it
    shows 90 % where one in ten is right. Categorical cross-entropy on one unit is always zero; on sigmoids nothing makes
    the classes compete.

    One of several classes: softmax with categorical cross-entropy. Two classes or several labels at once: sigmoid with binary.
    """

    code = "S803"
    needs = "keras"
    cause = "LOS-SELECT"
    message = "The loss does not fit the last activation."
    triggers = ("crossentropy", "Crossentropy", ".compile(")

    GOOD = (
        Snippet("categorical", HEAD + "model = keras.Sequential([layers.Dense(12, activation='softmax')])\nmodel.compile('adam', 'categorical_crossentropy')\n"),
        Snippet("several labels", HEAD + "model = keras.Sequential([layers.Dense(12, activation='sigmoid')])\nmodel.compile('adam', 'binary_crossentropy')\n"),
        Snippet("two classes with softmax", HEAD + "model = keras.Sequential([layers.Dense(2, activation='softmax')])\nmodel.compile('adam', 'binary_crossentropy')\n"),
        Snippet("width from outside", HEAD + "def build(n):\n    model = keras.Sequential([layers.Dense(n, activation='softmax')])\n    model.compile('adam', 'binary_crossentropy')\n    return model\n"),
        Snippet("an autoencoder of pixels", HEAD + "model = keras.Sequential([layers.Dense(32, activation='relu'), layers.Dense(784, activation='sigmoid')])\n"
                "model.compile('adam', 'binary_crossentropy')\n"),
    )  # fmt: skip
    BAD = (
        Snippet("binary on softmax", HEAD + "model = keras.Sequential([layers.Dense(64, activation='relu'), layers.Dense(12, activation='softmax')])\n"
                "model.compile(loss='binary_crossentropy', optimizer='adam', metrics=['accuracy'])\n", line=5),
        Snippet("categorical on one unit", HEAD + "a = keras.Input((9,))\nmodel = keras.Model(a, layers.Dense(1, activation='sigmoid')(a))\n"
                "model.compile('adam', loss=keras.losses.CategoricalCrossentropy())\n", line=6),
        Snippet("categorical on sigmoids", HEAD + "def build():\n    model = keras.Sequential()\n    model.add(layers.Dense(5))\n    model.add(layers.Activation('sigmoid'))\n"
                "    model.compile(loss='sparse_categorical_crossentropy', optimizer='sgd')\n    return model\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for compiled in compiles(program):
            text = _conflict(compiled)
            if text:
                yield self.finding(program, compiled.event.node, text)


def _conflict(compiled: Compiled) -> str:
    head = compiled.head
    if head is None or head.width is None:
        return ""
    if compiled.loss == BINARY and head.activation == "softmax" and head.width > 2:
        return f"Binary cross-entropy on a softmax over {head.width} classes; use categorical_crossentropy."
    if compiled.loss in (CATEGORICAL, SPARSE):
        if head.width == 1 and head.activation != "softmax":
            return "Categorical cross-entropy of one unit is always zero; use binary_crossentropy."
        if head.activation == "sigmoid" and not compiled.from_logits:
            return f"Categorical cross-entropy on {head.width} sigmoids, where no class excludes another; use softmax."
    return ""
