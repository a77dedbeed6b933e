from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.keras_compiled import ENTROPIES, compiles
from netmend.program.text.edits import replace
from netmend.vocabulary.finding import Finding, Fix

HEAD = "import keras\nfrom keras import layers\n\n"


@register
class KerasActivationBeforeLogitsLoss(StaticRule):
    """The model ends in softmax or sigmoid, and the loss is told `from_logits=True`.

    The loss then applies softmax or sigmoid a second time. Gradients flatten, training is slow and ends worse; nothing crashes.

    Drop the activation of the last layer, or leave `from_logits` at False.
    """

    code = "S801"
    needs = "keras"
    cause = "LYR-SOFTMAX-EXTRA"
    message = "The model already applies {}, and from_logits=True makes the loss apply it again; drop one of the two."
    triggers = ("from_logits", "CategoricalCrossentropy(True", "BinaryCrossentropy(True")

    GOOD = (
        Snippet("raw scores", HEAD + "model = keras.Sequential([layers.Dense(10)])\n"
                "model.compile('adam', keras.losses.SparseCategoricalCrossentropy(from_logits=True))\n"),
        Snippet("probabilities", HEAD + "model = keras.Sequential([layers.Dense(10, activation='softmax')])\n"
                "model.compile('adam', keras.losses.SparseCategoricalCrossentropy(from_logits=False))\n"),
        Snippet("an option", HEAD + "model = keras.Sequential([layers.Dense(10, activation='softmax')])\n"
                "model.compile('adam', keras.losses.SparseCategoricalCrossentropy(from_logits=args.logits))\n"),
        Snippet("softmax inside", HEAD + "model = keras.Sequential([layers.Dense(10, activation='softmax'), layers.Dense(3)])\n"
                "model.compile('adam', keras.losses.CategoricalCrossentropy(from_logits=True))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("softmax", HEAD + "model = keras.Sequential([\n    layers.Dense(64, activation='relu'),\n    layers.Dense(10, activation='softmax'),\n])\n"
                "model.compile('adam', loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))\n", line=8),
        Snippet("functional", "import tensorflow as tf\n\nx = tf.keras.Input((4,))\ny = tf.keras.layers.Dense(1, activation='sigmoid')(x)\nmodel = tf.keras.Model(x, y)\n"
                "model.compile(optimizer='sgd', loss=tf.keras.losses.BinaryCrossentropy(from_logits=True))\n", line=6),
        Snippet("a layer of its own", HEAD + "model = keras.Sequential()\nmodel.add(layers.Dense(3))\nmodel.add(layers.Softmax())\nloss = keras.losses.CategoricalCrossentropy(True)\n"
                "model.compile(loss=loss)  # from_logits\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for compiled in compiles(program):
            head = compiled.head
            if (
                compiled.loss in ENTROPIES
                and compiled.from_logits is True
                and head is not None
                and head.activation in ("softmax", "sigmoid")
            ):
                text = self.message.format(head.activation)
                given = compiled.call.keywords.get("loss") or compiled.call.args[1]
                node = getattr(given, "node", None)
                keyword = next(
                    (part for part in getattr(node, "keywords", ()) if part.arg == "from_logits"), None
                )
                edits = replace(program, keyword.value, "False") if keyword is not None else ()
                yield self.finding(
                    program,
                    compiled.event.node,
                    text,
                    fix=Fix("Take probabilities", edits) if edits else None,
                )
