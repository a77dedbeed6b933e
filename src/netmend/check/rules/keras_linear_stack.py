from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call
from netmend.program.meaning.keras_compiled import compiles
from netmend.program.meaning.keras_models import LINEAR, activation, is_map, kind, width
from netmend.vocabulary.finding import Finding

_LINEAR_BETWEEN = ("Dropout", "Flatten", "BatchNormalization")
HEAD = "import keras\nfrom keras import layers\n\n"


@register
class KerasLinearStack(StaticRule):
    """Two layers with weights follow each other with no activation between.

    Two linear maps in a row are one linear map: the first layer adds weights and time, and nothing the model could not do without it.
    Keras layers have no activation unless one is given.

    Give the hidden layer an activation: `Dense(64, activation="relu")`.
    """

    code = "S808"
    needs = "keras"
    cause = "ACT-HID-MISSING"
    message = (
        'This layer has no activation, so it and the next are one linear map; give it activation="relu".'
    )
    triggers = ("compile(",)

    GOOD = (
        Snippet("with activations", HEAD + "model = keras.Sequential([layers.Dense(64, activation='relu'), layers.Dense(1)])\nmodel.compile('adam', 'mse')\n"),
        Snippet("an activation layer", HEAD + "model = keras.Sequential([layers.Dense(64), layers.BatchNormalization(), layers.ReLU(), layers.Dense(1)])\nmodel.compile('adam', 'mse')\n"),
        Snippet("a narrow place on purpose", HEAD + "model = keras.Sequential([keras.Input((784,)), layers.Dense(128, activation='relu'), layers.Dense(8),\n"
                "                          layers.Dense(128, activation='relu'), layers.Dense(784)])\nmodel.compile('adam', 'mse')\n"),
        Snippet("pooling is not linear", HEAD + "model = keras.Sequential([layers.Conv2D(8, 3), layers.MaxPooling2D(), layers.Flatten(), layers.Dense(10)])\nmodel.compile('adam', 'mse')\n"),
        Snippet("normalised per sample", HEAD + "model = keras.Sequential([layers.Dense(64), layers.LayerNormalization(), layers.Dense(1)])\nmodel.compile('adam', 'mse')\n"),
    )  # fmt: skip
    BAD = (
        Snippet("in a list", HEAD + "model = keras.Sequential([\n    layers.Dense(64),\n    layers.Dropout(0.2),\n    layers.Dense(10, activation='softmax'),\n])\n"
                "model.compile('adam', 'categorical_crossentropy')\n", line=5),
        Snippet("added", "from tensorflow.keras.models import Sequential\nfrom tensorflow.keras.layers import Dense\n\ndef build():\n    model = Sequential()\n    model.add(Dense(32, input_dim=8))\n"
                "    model.add(Dense(1, activation='sigmoid'))\n    model.compile(loss='binary_crossentropy', optimizer='adam')\n    return model\n", line=6),
        Snippet("convolution into flatten", HEAD + "a = keras.Input((28, 28, 1))\nb = layers.Conv2D(32, 3)(a)\nb = layers.Flatten()(b)\nb = layers.Dense(10, activation='softmax')(b)\n"
                "model = keras.Model(a, b)\nmodel.compile('adam', 'sparse_categorical_crossentropy')\n", line=5),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        told: set[int] = set()
        for compiled in compiles(program):
            layers = compiled.layers.layers if compiled.layers is not None else ()
            for place, layer in enumerate(layers):
                following = next(
                    (other for other in layers[place + 1 :] if kind(other) not in _LINEAR_BETWEEN), None
                )
                if following is None or id(layer) in told or not (is_map(layer) and is_map(following)):
                    continue
                if activation(layer) == LINEAR and _gains_nothing(layer, following, layers[:place]):
                    told.add(id(layer))
                    yield self.finding(program, layer.node or compiled.event.node)


def _gains_nothing(layer: Call, following: Call, earlier: tuple[Call, ...]) -> bool:
    """No narrower than what follows it, or than what comes before: a narrow place between is meant."""
    wide, after = width(layer), width(following)
    if kind(layer) != "Dense":
        return kind(following) == "Dense" and wide is not None  # flattened: far wider than what follows
    if kind(following) != "Dense" or wide is None or after is None:
        return False
    before = next((width(other) for other in reversed(earlier) if is_map(other)), None)
    return wide >= after or (before is not None and wide >= before)
