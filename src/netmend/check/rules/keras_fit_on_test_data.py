from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.keras_data import source
from netmend.program.meaning.test_code import is_test_code
from netmend.vocabulary.finding import Finding

HEAD = """\
from sklearn.model_selection import train_test_split
from tensorflow import keras

model = keras.Sequential([keras.layers.Dense(1)])
model.compile("adam", "mse")
x_train, x_test, y_train, y_test = train_test_split(x, y)
"""


@register
class KerasFitOnTestData(StaticRule):
    """`fit` is given the test part of the data.

    What the model was trained on cannot test it: the score on it says nothing about new data.

    Fit on the training part and keep the test part for the last evaluation.
    """

    code = "S811"
    needs = "keras"
    cause = "VAL-TEST-LEAK"
    message = "The model is fitted on the test part of the data; use the training part."
    triggers = ("load_data", "train_test_split", ".fit(")

    GOOD = (
        Snippet("the training part", HEAD + "model.fit(x_train, y_train)\nmodel.evaluate(x_test, y_test)\n"),
        Snippet(
            "test part as validation data",
            HEAD + "model.fit(x_train, y_train, validation_data=(x_test, y_test))\n",
        ),
        Snippet(
            "both, for the last model",
            HEAD
            + "model.fit(x_train, y_train)\nprint(model.evaluate(x_test, y_test))\nmodel.fit(x_test, y_test)\n",
        ),
    )
    BAD = (
        Snippet("a split", HEAD + "model.fit(x_test, y_test, epochs=5)\n", line=7),
        Snippet("a data set of Keras", "import keras\n\n(x_train, y_train), (x_test, y_test) = keras.datasets.mnist.load_data()\nx_test = x_test.reshape(-1, 784) / 255\n"
                "model = keras.Sequential([keras.layers.Dense(10, activation='softmax')])\nmodel.compile('adam', 'sparse_categorical_crossentropy')\nmodel.fit(x_test, y_test)\n", line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        events = program.methods_of("fit") if not is_test_code(program) else []
        given = [
            (event, source(event.call.argument("x", 0) if event.call is not None else None))
            for event in events
        ]
        for event, data in given:
            if data.split != 1 or data.part != 0 or event.call is None or len(event.call.args) < 2:
                continue
            if event.call.receiver is None or "validation_data" in event.call.keywords:
                continue
            if not any(other.made is data.made and other.split == 0 for _, other in given):
                yield self.finding(program, event.node)
