from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.keras_compiled import BINARY, ENTROPIES, compiles
from netmend.program.meaning.keras_data import IMAGES, source
from netmend.program.meaning.keras_models import fits
from netmend.vocabulary.finding import Finding

HEAD = "import keras\nfrom keras import layers\n\n(x, y), (x_test, y_test) = keras.datasets.mnist.load_data()\nx = x / 255.0\n"


@register
class KerasTooFewOutputs(StaticRule):
    """The model has fewer outputs than the data set has classes.

    Labels beyond the last output stop `fit` or give NaN; with one sigmoid all classes but the first are asked to be "1".

    Give the last layer one unit per class: 10 for MNIST and CIFAR-10, 100 for CIFAR-100.
    """

    code = "S824"
    needs = "keras"
    cause = "LYR-OUT-SHAPE"
    message = "{} has {} classes, the model {} output(s); give the last layer {} units."
    triggers = ("mnist", "cifar", ".fit(")

    GOOD = (
        Snippet("one per class", HEAD + "model = keras.Sequential([layers.Flatten(), layers.Dense(10, 'softmax')])\nmodel.compile('adam', 'sparse_categorical_crossentropy')\nmodel.fit(x, y)\n"),
        Snippet("two classes by choice", HEAD + "model = keras.Sequential([layers.Flatten(), layers.Dense(1, 'sigmoid')])\nmodel.compile('adam', 'binary_crossentropy')\nmodel.fit(x, y == 3)\n"),
        Snippet("an autoencoder", HEAD + "model = keras.Sequential([layers.Flatten(), layers.Dense(784, 'sigmoid')])\nmodel.compile('adam', 'binary_crossentropy')\nmodel.fit(x, x)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("nine", HEAD + "model = keras.Sequential([layers.Flatten(), layers.Dense(9, 'softmax')])\nmodel.compile('adam', 'sparse_categorical_crossentropy')\nmodel.fit(x, y)\n", line=8),
        Snippet("one sigmoid", HEAD + "model = keras.Sequential([layers.Flatten(), layers.Dense(1, 'sigmoid')])\nmodel.compile('adam', 'binary_crossentropy')\nmodel.fit(x, y, epochs=3)\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
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
