"""Keras: the last layer and the loss."""

from __future__ import annotations

import ast

from netmend.check.rule import Findings, KerasRule, Snippet, mended
from netmend.library.keras import CUT_OFF
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, resolved
from netmend.program.meaning.keras import (
    BINARY,
    CATEGORICAL,
    ENTROPIES,
    HOUSES,
    IMAGES,
    LINEAR,
    REGRESSION,
    SPARSE,
    Chain,
    Compiled,
    activation,
    compiles,
    fits,
    head,
    kind,
    loss_of,
    source,
    width,
)
from netmend.program.meaning.statements import argument_node
from netmend.program.text.edits import replace
from netmend.vocabulary.finding import Fix

LOGITS_HEAD = "import keras\nfrom keras import layers\n\n"


class KerasActivationBeforeLogitsLoss(KerasRule, code="S801", cause="LYR-SOFTMAX-EXTRA"):
    """The model ends in softmax or sigmoid, and the loss is told `from_logits=True`.

    The loss then applies softmax or sigmoid a second time. Gradients flatten, training is slow and ends worse; nothing crashes.

    Drop the activation of the last layer, or leave `from_logits` at False.
    """

    message = "The model already applies {}, and from_logits=True makes the loss apply it again; drop one of the two."
    triggers = ("from_logits", "CategoricalCrossentropy(True", "BinaryCrossentropy(True")

    GOOD = (
        Snippet("raw scores", LOGITS_HEAD + "model = keras.Sequential([layers.Dense(10)])\n"
                "model.compile('adam', keras.losses.SparseCategoricalCrossentropy(from_logits=True))\n"),
        Snippet("probabilities", LOGITS_HEAD + "model = keras.Sequential([layers.Dense(10, activation='softmax')])\n"
                "model.compile('adam', keras.losses.SparseCategoricalCrossentropy(from_logits=False))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("softmax", LOGITS_HEAD + "model = keras.Sequential([\n    layers.Dense(64, activation='relu'),\n    layers.Dense(10, activation='softmax'),\n])\n"
                "model.compile('adam', loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))\n", line=8),
        Snippet("functional", "import tensorflow as tf\n\nx = tf.keras.Input((4,))\ny = tf.keras.layers.Dense(1, activation='sigmoid')(x)\nmodel = tf.keras.Model(x, y)\n"
                "model.compile(optimizer='sgd', loss=tf.keras.losses.BinaryCrossentropy(from_logits=True))\n", line=6),
        Snippet("a layer of its own", LOGITS_HEAD + "model = keras.Sequential()\nmodel.add(layers.Dense(3))\nmodel.add(layers.Softmax())\nloss = keras.losses.CategoricalCrossentropy(True)\n"
                "model.compile(loss=loss)  # from_logits\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for compiled in compiles(program):
            head = compiled.head
            if (
                compiled.loss in ENTROPIES
                and compiled.from_logits is True
                and head is not None
                and head.activation in ("softmax", "sigmoid")
            ):
                text = self.message.format(head.activation)
                loss = (compiled.call.keywords.get("loss") or compiled.call.args[1]).node
                given = argument_node(loss if isinstance(loss, ast.Call) else None, "from_logits")
                fix = Fix("Take probabilities", replace(program, given, "False"))
                yield self.finding(program, compiled.event.node, text, fix=fix)


class KerasProbabilitiesMissing(KerasRule, code="S802", cause="LYR-SOFTMAX-MISSING", in_tests=False):
    """A cross-entropy that expects probabilities is given a last layer without softmax or sigmoid.

    Raw scores are clipped to [0, 1] (or only rescaled) and their logarithm taken: the loss is large or constant, gradients vanish,
    and accuracy stays near chance. A ReLU or tanh at the end cuts half of the scores off, with or without `from_logits`.

    Give the last layer `activation="softmax"` (`"sigmoid"` for binary), or leave it linear and use the loss with `from_logits=True`.
    """

    message = 'The loss expects probabilities; give the last layer activation="{}", or use the loss with from_logits=True.'
    triggers = ("crossentropy", "Crossentropy", ".compile(", "GradientTape(")

    GOOD = (
        Snippet("softmax", LOGITS_HEAD + "model = keras.Sequential([layers.Dense(10, activation='softmax')])\nmodel.compile('adam', 'categorical_crossentropy')\n"),
        Snippet("raw scores on both sides", LOGITS_HEAD + "model = keras.Sequential([layers.Dense(10)])\nmodel.compile('adam', keras.losses.CategoricalCrossentropy(from_logits=True))\n"),
        Snippet("an activation of its own", LOGITS_HEAD + "model = keras.Sequential([layers.Dense(10, activation=my_softmax)])\nmodel.compile('adam', 'categorical_crossentropy')\n"),
        Snippet("regression", LOGITS_HEAD + "model = keras.Sequential([layers.Dense(1)])\nmodel.compile('adam', 'mse')\n"),
        Snippet("an unknown layer behind", LOGITS_HEAD + "model = keras.Sequential([layers.Dense(10), Normalise()])\nmodel.compile('adam', 'categorical_crossentropy')\n"),
    )  # fmt: skip
    BAD = (
        Snippet("in a loop of one's own", LOGITS_HEAD + "import tensorflow as tf\nmodel = keras.Sequential([layers.Dense(16, activation='relu'), layers.Dense(4)])\nloss_fn = keras.losses.SparseCategoricalCrossentropy()\n"
                "def step(x, y):\n    with tf.GradientTape() as tape:\n        loss = loss_fn(y, model(x, training=True))\n    return tape.gradient(loss, model.trainable_variables)\n", line=9),
        Snippet("linear end", LOGITS_HEAD + "model = keras.models.Sequential()\nmodel.add(layers.Dense(32, activation='relu'))\nmodel.add(layers.Dense(10))\n"
                "model.compile(optimizer='adam', loss='sparse_categorical_crossentropy')\n", line=6),
        Snippet("relu at the end", LOGITS_HEAD + "model = keras.Sequential([layers.Dense(80, activation='relu'), layers.Dense(6, activation='relu')])\n"
                "model.compile('adam', keras.losses.SparseCategoricalCrossentropy(from_logits=True))\n", line=4),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for compiled in compiles(program):
            end = compiled.head
            if compiled.loss not in ENTROPIES or end is None or compiled.from_logits is None:
                continue
            node = end.last.node or compiled.event.node
            wanted = "sigmoid" if compiled.loss == BINARY else "softmax"
            if end.activation == LINEAR and not compiled.from_logits:
                cause = "ACT-OUT-MISSING" if compiled.loss == BINARY else None
                yield self.finding(program, node, self.message.format(wanted), cause=cause)
            elif end.activation in CUT_OFF:
                text = f"{end.activation} at the end cuts scores off before the cross-entropy; use {wanted}, or no activation with from_logits=True."
                yield self.finding(program, node, text, cause="ACT-OUT-WRONG")
        yield from self._own_loop(program)

    def _own_loop(self, program: Program) -> Findings:
        """`loss_fn(y, model(x))` in a training loop of one's own."""
        told: set[int] = set()
        for event in program.calls:
            call = event.call
            made = resolved(call.function)
            if not isinstance(made, Call) or len(call.args) < 2:
                continue
            loss, from_logits = loss_of(made)
            output = resolved(call.args[1]) if loss in ENTROPIES and from_logits is False else None
            # models are followed to their last layer
            last = resolved(output.function) if isinstance(output, Call) else None
            end = head(Chain((last,), False)) if isinstance(last, Call) and kind(last) else None
            if end is not None and end.activation == LINEAR and id(made) not in told:
                told.add(id(made))
                wanted = "sigmoid" if loss == BINARY else "softmax"
                cause = "ACT-OUT-MISSING" if loss == BINARY else None
                yield self.finding(program, event.node, self.message.format(wanted), cause=cause)


class KerasLossAgainstActivation(KerasRule, code="S803", cause="LOS-SELECT"):
    """The loss and the last activation belong to different tasks: binary cross-entropy on softmax, categorical on sigmoid or one unit.

    Binary cross-entropy on a softmax over several classes treats each class alone, and "accuracy" then counts single entries: it
    shows 90 % where one in ten is right. Categorical cross-entropy on one unit is always zero; on sigmoids nothing makes
    the classes compete.

    One of several classes: softmax with categorical cross-entropy. Two classes or several labels at once: sigmoid with binary.
    """

    message = "The loss does not fit the last activation."
    triggers = ("crossentropy", "Crossentropy", ".compile(")

    GOOD = (
        Snippet("categorical", LOGITS_HEAD + "model = keras.Sequential([layers.Dense(12, activation='softmax')])\nmodel.compile('adam', 'categorical_crossentropy')\n"),
        Snippet("several labels", LOGITS_HEAD + "model = keras.Sequential([layers.Dense(12, activation='sigmoid')])\nmodel.compile('adam', 'binary_crossentropy')\n"),
        Snippet("two classes with softmax", LOGITS_HEAD + "model = keras.Sequential([layers.Dense(2, activation='softmax')])\nmodel.compile('adam', 'binary_crossentropy')\n"),
        Snippet("width from outside", LOGITS_HEAD + "def build(n):\n    model = keras.Sequential([layers.Dense(n, activation='softmax')])\n    model.compile('adam', 'binary_crossentropy')\n    return model\n"),
    )  # fmt: skip
    BAD = (
        Snippet("binary on softmax", LOGITS_HEAD + "model = keras.Sequential([layers.Dense(64, activation='relu'), layers.Dense(12, activation='softmax')])\n"
                "model.compile(loss='binary_crossentropy', optimizer='adam', metrics=['accuracy'])\n", line=5),
        Snippet("categorical on one unit", LOGITS_HEAD + "a = keras.Input((9,))\nmodel = keras.Model(a, layers.Dense(1, activation='sigmoid')(a))\n"
                "model.compile('adam', loss=keras.losses.CategoricalCrossentropy())\n", line=6),
        Snippet("categorical on sigmoids", LOGITS_HEAD + "def build():\n    model = keras.Sequential()\n    model.add(layers.Dense(5))\n    model.add(layers.Activation('sigmoid'))\n"
                "    model.compile(loss='sparse_categorical_crossentropy', optimizer='sgd')\n    return model\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
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


class KerasSoftmaxOverOne(KerasRule, code="S805", cause="ACT-OUT-WRONG", in_tests=False):
    """Softmax is applied to one unit.

    Softmax makes the units sum to one; with one unit the output is 1 whatever goes in, and no gradient comes back.

    Use `activation="sigmoid"` for two classes, or one unit per class.
    """

    message = 'Softmax over one unit is always 1; use activation="sigmoid", or one unit per class.'
    triggers = ("softmax",)
    patterns = (r"\bDense\(|\.compile\(",)

    GOOD = (
        Snippet("two units", LOGITS_HEAD + "layer = layers.Dense(2, activation='softmax')\n"),
    )  # fmt: skip
    BAD = (
        mended("in a list", LOGITS_HEAD + "model = keras.Sequential([layers.Dense(32, activation='relu'), layers.Dense(1, activation='⟨softmax → sigmoid⟩')])\n"),
        Snippet("functional", "import tensorflow as tf\n\ndef build(n):\n    a = tf.keras.layers.Input((n,))\n    b = tf.keras.layers.Dense(units=1, activation=tf.nn.softmax)(a)\n"
                "    return tf.keras.Model(a, b)\n", line=5),
        Snippet("added", LOGITS_HEAD + "model = keras.Sequential()\nmodel.add(layers.Dense(1, 'softmax'))\n", line=5),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for event in program.calls_of("keras.layers.Dense"):
            call = event.call
            if width(call) != 1 or activation(call) != "softmax":
                continue
            given = argument_node(call.node, "activation")
            text = program.source(given) if isinstance(given, ast.Constant) else ""
            edits = replace(program, given, text.replace("softmax", "sigmoid")) if text else ()
            yield self.finding(program, event.node, fix=Fix("Use sigmoid", edits))


BOUNDED_HEAD = "import keras\nfrom keras import layers\n\n(x, y), (x_test, y_test) = keras.datasets.boston_housing.load_data()\n"


class KerasBoundedOutputForAmounts(KerasRule, code="S806", cause="ACT-OUT-WRONG", preview=True):
    """A regression loss compares amounts, or class numbers, with an output that cannot reach them.

    Sigmoid and softmax end at 1, tanh between -1 and 1; house prices of 5 to 50 lie outside, so the output sticks to its bound and
    the gradient vanishes. A squared error between class numbers and a softmax compares shapes that do not belong together.

    Leave the last layer linear for amounts, or scale the targets to the range of the activation. Use a cross-entropy for classes.
    """

    message = "{} cannot reach these targets; leave the last layer linear or scale the targets."
    triggers = ("housing", "mnist", "cifar", ".fit(")

    GOOD = (
        Snippet("linear", BOUNDED_HEAD + "model = keras.Sequential([layers.Dense(1)])\nmodel.compile('adam', 'mse')\nmodel.fit(x, y)\n"),
        Snippet("scaled targets", BOUNDED_HEAD + "model = keras.Sequential([layers.Dense(1, activation='sigmoid')])\nmodel.compile('adam', 'mse')\nmodel.fit(x, y / 50.0)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("prices from a sigmoid", BOUNDED_HEAD + "model = keras.Sequential([layers.Dense(64, activation='relu'), layers.Dense(1, activation='sigmoid')])\n"
                "model.compile(optimizer='adam', loss='mse')\nmodel.fit(x, y, epochs=10)\n", line=7),
        Snippet("prices from a softmax", BOUNDED_HEAD + "a = keras.Input((13,))\nmodel = keras.Model(a, layers.Dense(1, activation='tanh')(a))\n"
                "model.compile(optimizer='adam', loss=keras.losses.MeanAbsoluteError())\nmodel.fit(x, y, epochs=10)\n", line=8),
        Snippet("squared error of class numbers", "import keras\nfrom keras import layers\n\n(x, y), test = keras.datasets.mnist.load_data()\n"
                "model = keras.Sequential([layers.Flatten(), layers.Dense(10, activation='softmax')])\nmodel.compile('sgd', 'mse')\nmodel.fit(x / 255, y)\n", line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        known = [
            compiled
            for compiled in compiles(program)
            if compiled.loss in REGRESSION and compiled.head is not None
        ]
        for event, call, model in fits(program) if known else ():
            for compiled in known:
                head = compiled.head
                if compiled.model is not model or head is None or compiled.event.order > event.order:
                    continue
                target = source(call.argument("y", 1))
                if target.part != 1 or target.scaled or target.one_hot:
                    continue
                if target.data in HOUSES and head.activation in ("sigmoid", "softmax", "tanh"):
                    yield self.finding(program, event.node, self.message.format(head.activation))
                elif target.data in IMAGES and head.activation == "softmax" and (head.width or 0) > 1:
                    text = "A squared error between class numbers and a softmax; use sparse_categorical_crossentropy."
                    yield self.finding(program, event.node, text, cause="LOS-SELECT")


FEW_HEAD = "import keras\nfrom keras import layers\n\n(x, y), (x_test, y_test) = keras.datasets.mnist.load_data()\nx = x / 255.0\n"


class KerasTooFewOutputs(KerasRule, code="S824", cause="LYR-OUT-SHAPE"):
    """The model has fewer outputs than the data set has classes.

    Labels beyond the last output stop `fit` or give NaN; with one sigmoid all classes but the first are asked to be "1".

    Give the last layer one unit per class: 10 for MNIST and CIFAR-10, 100 for CIFAR-100.
    """

    message = "{} has {} classes, the model {} output(s); give the last layer {} units."
    triggers = ("mnist", "cifar", ".fit(")

    GOOD = (
        Snippet("one per class", FEW_HEAD + "model = keras.Sequential([layers.Flatten(), layers.Dense(10, 'softmax')])\nmodel.compile('adam', 'sparse_categorical_crossentropy')\nmodel.fit(x, y)\n"),
        Snippet("two classes by choice", FEW_HEAD + "model = keras.Sequential([layers.Flatten(), layers.Dense(1, 'sigmoid')])\nmodel.compile('adam', 'binary_crossentropy')\nmodel.fit(x, y == 3)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("nine", FEW_HEAD + "model = keras.Sequential([layers.Flatten(), layers.Dense(9, 'softmax')])\nmodel.compile('adam', 'sparse_categorical_crossentropy')\nmodel.fit(x, y)\n", line=8),
        Snippet("one sigmoid", FEW_HEAD + "model = keras.Sequential([layers.Flatten(), layers.Dense(1, 'sigmoid')])\nmodel.compile('adam', 'binary_crossentropy')\nmodel.fit(x, y, epochs=3)\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        known = [compiled for compiled in compiles(program) if compiled.loss in ENTROPIES]
        for event, call, model in fits(program) if known else ():
            labels = source(call.argument("y", 1))
            if labels.data not in IMAGES or labels.part != 1 or labels.scaled:
                continue
            compiled = next(
                (one for one in reversed(known) if one.model is model and one.event.order < event.order), None
            )
            classes = IMAGES[labels.data][1]
            wide = compiled.head.width if compiled is not None and compiled.head is not None else None
            if (
                wide is not None
                and wide < classes
                and not (compiled is not None and compiled.loss == BINARY and wide > 1)
            ):
                yield self.finding(
                    program, event.node, self.message.format(labels.data, classes, wide, classes)
                )
