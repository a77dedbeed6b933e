from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, resolved
from netmend.program.meaning.keras_compiled import BINARY, ENTROPIES, compiles, loss_of
from netmend.program.meaning.keras_models import LINEAR, Chain, head, kind
from netmend.program.meaning.test_code import is_test_code
from netmend.vocabulary.finding import Finding

_CUT = ("relu", "leaky_relu", "elu", "selu", "tanh", "relu6", "gelu")
HEAD = "import keras\nfrom keras import layers\n\n"


@register
class KerasProbabilitiesMissing(StaticRule):
    """A cross-entropy that expects probabilities is given a last layer without softmax or sigmoid.

    Raw scores are clipped to [0, 1] (or only rescaled) and their logarithm taken: the loss is large or constant, gradients vanish,
    and accuracy stays near chance. A ReLU or tanh at the end cuts half of the scores off, with or without `from_logits`.

    Give the last layer `activation="softmax"` (`"sigmoid"` for binary), or leave it linear and use the loss with `from_logits=True`.
    """

    code = "S802"
    needs = "keras"
    cause = "LYR-SOFTMAX-MISSING"
    message = 'The loss expects probabilities; give the last layer activation="{}", or use the loss with from_logits=True.'
    triggers = ("crossentropy", "Crossentropy", ".compile(", "GradientTape(")

    GOOD = (
        Snippet("softmax", HEAD + "model = keras.Sequential([layers.Dense(10, activation='softmax')])\nmodel.compile('adam', 'categorical_crossentropy')\n"),
        Snippet("raw scores on both sides", HEAD + "model = keras.Sequential([layers.Dense(10)])\nmodel.compile('adam', keras.losses.CategoricalCrossentropy(from_logits=True))\n"),
        Snippet("an activation layer", HEAD + "model = keras.Sequential([layers.Dense(1), layers.Activation('sigmoid')])\nmodel.compile('adam', 'binary_crossentropy')\n"),
        Snippet("an activation of its own", HEAD + "model = keras.Sequential([layers.Dense(10, activation=my_softmax)])\nmodel.compile('adam', 'categorical_crossentropy')\n"),
        Snippet("regression", HEAD + "model = keras.Sequential([layers.Dense(1)])\nmodel.compile('adam', 'mse')\n"),
        Snippet("an unknown layer behind", HEAD + "model = keras.Sequential([layers.Dense(10), Normalise()])\nmodel.compile('adam', 'categorical_crossentropy')\n"),
    )  # fmt: skip
    BAD = (
        Snippet("in a loop of one's own", HEAD + "import tensorflow as tf\nmodel = keras.Sequential([layers.Dense(16, activation='relu'), layers.Dense(4)])\nloss_fn = keras.losses.SparseCategoricalCrossentropy()\n"
                "def step(x, y):\n    with tf.GradientTape() as tape:\n        loss = loss_fn(y, model(x, training=True))\n    return tape.gradient(loss, model.trainable_variables)\n", line=9),
        Snippet("linear end", HEAD + "model = keras.models.Sequential()\nmodel.add(layers.Dense(32, activation='relu'))\nmodel.add(layers.Dense(10))\n"
                "model.compile(optimizer='adam', loss='sparse_categorical_crossentropy')\n", line=6),
        Snippet("binary in a class", HEAD + "class Spam:\n    def __init__(self, words):\n        self.model = keras.Sequential([\n            layers.Embedding(words, 32),\n"
                "            layers.GlobalAveragePooling1D(),\n            layers.Dense(1),\n        ])\n"
                "        self.model.compile(optimizer='rmsprop', loss='binary_crossentropy')\n", line=9),
        Snippet("relu at the end", HEAD + "model = keras.Sequential([layers.Dense(80, activation='relu'), layers.Dense(6, activation='relu')])\n"
                "model.compile('adam', keras.losses.SparseCategoricalCrossentropy(from_logits=True))\n", line=4),
        Snippet("functional", "import tensorflow as tf\nfrom tensorflow.keras.layers import Dense, Input\n\na = Input(shape=(8,))\nb = Dense(3)(Dense(16, activation='relu')(a))\n"
                "model = tf.keras.Model(inputs=a, outputs=b)\nmodel.compile(loss=tf.keras.losses.CategoricalCrossentropy(), optimizer='adam')\n", line=5),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for compiled in compiles(program):
            end = compiled.head
            if compiled.loss not in ENTROPIES or end is None or compiled.from_logits is None:
                continue
            node = end.last.node or compiled.event.node
            wanted = "sigmoid" if compiled.loss == BINARY else "softmax"
            if end.activation == LINEAR and not compiled.from_logits:
                cause = "ACT-OUT-MISSING" if compiled.loss == BINARY else None
                yield self.finding(program, node, self.message.format(wanted), cause=cause)
            elif end.activation in _CUT:
                text = f"{end.activation} at the end cuts scores off before the cross-entropy; use {wanted}, or no activation with from_logits=True."
                yield self.finding(program, node, text, cause="ACT-OUT-WRONG")
        yield from self._own_loop(program)

    def _own_loop(self, program: Program) -> Iterator[Finding]:
        """`loss_fn(y, model(x))` in a training loop of one's own."""
        told: set[int] = set()
        for event in program.calls if not is_test_code(program) else ():
            call = event.call
            made = resolved(call.function) if call is not None else None
            if call is None or not isinstance(made, Call) or len(call.args) < 2:
                continue
            loss, from_logits = loss_of(made)
            output = resolved(call.args[1]) if loss in ENTROPIES and from_logits is False else None
            last = (
                resolved(output.function) if isinstance(output, Call) else None
            )  # models are followed to their last layer
            end = head(Chain((last,), False)) if isinstance(last, Call) and kind(last) else None
            if end is not None and end.activation == LINEAR and id(made) not in told:
                told.add(id(made))
                wanted = "sigmoid" if loss == BINARY else "softmax"
                cause = "ACT-OUT-MISSING" if loss == BINARY else None
                yield self.finding(program, event.node, self.message.format(wanted), cause=cause)
