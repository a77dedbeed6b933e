from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.keras_compiled import CATEGORICAL, SPARSE, compiles
from netmend.program.meaning.keras_data import IMAGES, source
from netmend.program.meaning.keras_models import fits
from netmend.vocabulary.finding import Finding

HEAD = """\
import keras
from keras import layers

(x, y), (x_test, y_test) = keras.datasets.mnist.load_data()
model = keras.Sequential([layers.Flatten(), layers.Dense(10, activation="softmax")])
"""


@register
class KerasLabelForm(StaticRule):
    """Labels and loss disagree on the form: one-hot codes for the sparse loss, or class numbers for the categorical one.

    `sparse_categorical_crossentropy` takes class numbers, `categorical_crossentropy` one-hot codes. With the other form `fit` stops
    with an error of shapes, or, where shapes can be broadcast, learns nonsense.

    Change the loss, or the labels with `keras.utils.to_categorical(y)`.
    """

    code = "S804"
    needs = "keras"
    cause = "INP-METHOD-SHAPE"
    message = "The labels do not have the format this loss expects."
    triggers = ("categorical_crossentropy", "CategoricalCrossentropy", ".fit(")

    GOOD = (
        Snippet("numbers, sparse", HEAD + "model.compile('adam', 'sparse_categorical_crossentropy')\nmodel.fit(x / 255, y)\n"),
        Snippet("codes, categorical", HEAD + "y = keras.utils.to_categorical(y, 10)\nmodel.compile('adam', 'categorical_crossentropy')\nmodel.fit(x / 255, y)\n"),
        Snippet("of unknown form", HEAD + "model.compile('adam', 'categorical_crossentropy')\nmodel.fit(x / 255, encode(y))\n"),
        Snippet("compiled again", HEAD + "model.compile('adam', 'categorical_crossentropy')\nmodel.compile('adam', 'sparse_categorical_crossentropy')\nmodel.fit(x / 255, y)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("codes for the sparse loss", HEAD + "model.compile('adam', 'sparse_categorical_crossentropy')\nmodel.fit(x / 255, keras.utils.to_categorical(y))\n", line=7),
        Snippet("numbers for the categorical loss", HEAD + "model.compile(optimizer='adam', loss='categorical_crossentropy')\nmodel.fit(x / 255, y, epochs=3)\n", line=7),
        Snippet("in functions", "import tensorflow as tf\nfrom tensorflow.keras.utils import to_categorical\n\ndef build():\n"
                "    model = tf.keras.Sequential([tf.keras.layers.Dense(3, activation='softmax')])\n"
                "    model.compile(loss=tf.keras.losses.SparseCategoricalCrossentropy(), optimizer='adam')\n    return model\n\n"
                "def run(x, y):\n    model = build()\n    y = to_categorical(y, 3)\n    model.fit(x, y)\n", line=12),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        known = list(compiles(program))
        for event, call, model in fits(program):
            last = [
                compiled
                for compiled in known
                if compiled.model is model and compiled.event.order < event.order
            ]
            if not last or (
                len({compiled.loss for compiled in last}) > 1 and not _is_plain(last[-1].event, event)
            ):
                continue
            loss = last[-1].loss
            labels = source(call.argument("y", 1))
            if loss == SPARSE and labels.one_hot:
                yield self.finding(
                    program,
                    event.node,
                    "The labels are one-hot codes, the sparse loss takes class numbers; use categorical_crossentropy.",
                )
            elif (
                loss == CATEGORICAL
                and labels.data in IMAGES
                and labels.part == 1
                and not labels.one_hot
                and not labels.scaled
            ):
                yield self.finding(
                    program,
                    event.node,
                    "The labels are class numbers, categorical_crossentropy takes one-hot codes; use sparse_categorical_crossentropy.",
                )


def _is_plain(compile_event: object, fit_event: object) -> bool:
    """The last compile stands in the same block as the fit: no branch chooses."""
    return getattr(compile_event, "block", None) is getattr(fit_event, "block", 0)
