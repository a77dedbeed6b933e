from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Attribute, Call, Value, constant, resolved
from netmend.program.meaning.operations import walk
from netmend.vocabulary.finding import Finding, Related

_FLOWS = ("flow_from_directory", "flow_from_dataframe")
HEAD = """\
from sklearn.metrics import confusion_matrix
from tensorflow.keras.preprocessing.image import ImageDataGenerator

def test(model, folder):
"""


@register
class KerasShuffledPredictions(StaticRule):
    """Predictions for a shuffled generator are compared with its `classes`, which are in the order of the files.

    `flow_from_directory` shuffles unless told not to. Predictions come in the shuffled order, `classes` does not: the comparison is
    between different images, and a good model looks like chance.

    Make the test generator with `shuffle=False`.
    """

    code = "S825"
    needs = "keras"
    cause = "PRE-WRONG-STEP"
    message = (
        "The predictions are in shuffled order, `classes` is not; create the generator with shuffle=False."
    )
    triggers = _FLOWS

    GOOD = (
        Snippet("in order", HEAD + "    data = ImageDataGenerator().flow_from_directory(folder, shuffle=False)\n    guess = model.predict(data).argmax(1)\n    return confusion_matrix(data.classes, guess)\n"),
        Snippet("not compared", HEAD + "    data = ImageDataGenerator().flow_from_directory(folder)\n    print(len(data.classes))\n    return model.predict(data)\n"),
        Snippet("evaluated by the model", HEAD + "    data = ImageDataGenerator().flow_from_directory(folder)\n    return model.evaluate(data)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("shuffled by default", HEAD + "    data = ImageDataGenerator(rescale=1 / 255).flow_from_directory(folder, target_size=(64, 64))\n    guess = model.predict(data).argmax(axis=1)\n"
                "    return confusion_matrix(data.classes, guess)\n", line=7),
        Snippet("in a script", "import numpy as np\nimport keras\nfrom sklearn.metrics import classification_report\nfrom keras.preprocessing.image import ImageDataGenerator\n\n"
                "test = ImageDataGenerator().flow_from_dataframe(rows, shuffle=True)\nscores = model.predict(test)\nguess = np.argmax(scores, axis=1)\n"
                "print(classification_report(test.classes, guess))\n", line=9),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        shuffled = {
            id(call): event
            for event in program.methods_of(*_FLOWS)
            if (call := event.call) is not None
            and not call.open
            and constant(call.keywords.get("shuffle"), True) is True
        }
        if not shuffled:
            return
        for event in program.calls:
            call = event.call
            if call is None or len(call.args) < 2 or call.result is not None:
                continue
            wanted = {
                id(resolved(value.base))
                for argument in call.args
                for value in walk(argument)
                if isinstance(value, Attribute) and value.name == "classes"
            }
            for flow in wanted & set(shuffled):
                if any(_is_prediction(value, flow) for argument in call.args for value in walk(argument)):
                    place = program.place(shuffled[flow].node)
                    yield self.finding(
                        program,
                        event.node,
                        related=(
                            Related("the generator is created here", place.file, place.line, place.column),
                        ),
                    )


def _is_prediction(value: Value, flow: int) -> bool:
    return (
        isinstance(value, Call)
        and value.method in ("predict", "predict_generator")
        and bool(value.args)
        and id(resolved(value.args[0])) == flow
    )
