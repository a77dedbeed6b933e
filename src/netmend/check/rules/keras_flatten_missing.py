from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call
from netmend.program.meaning.keras_compiled import CATEGORICAL, ENTROPIES, SPARSE, compiles
from netmend.program.meaning.keras_models import Chain, kind
from netmend.vocabulary.finding import Finding

_KEEP_AXES = ("Dense", "Dropout", "Activation", "ReLU", "BatchNormalization", "Softmax", "LeakyReLU")
_MAPS = (
    "Conv2D",
    "Conv3D",
    "MaxPooling2D",
    "AveragePooling2D",
    "MaxPool2D",
    "MaxPooling3D",
    "SeparableConv2D",
)
_POOLS = ("MaxPooling2D", "AveragePooling2D", "MaxPool2D", "MaxPooling3D")
HEAD = "import keras\nfrom keras import layers\n\n"


@register
class KerasFlattenMissing(StaticRule):
    """A feature map goes into Dense layers up to the output, and nothing flattens or pools it.

    `Dense` works on the last axis only: the output keeps height and width, one prediction per position, and `fit` stops with an error
    of shapes against labels per image.

    Put `layers.Flatten()` or `layers.GlobalAveragePooling2D()` before the first Dense layer.
    """

    code = "S809"
    needs = "keras"
    cause = "LYR-FLATTEN-MISSING"
    message = "The feature map reaches this Dense layer unflattened; put Flatten() or GlobalAveragePooling2D() before it."
    triggers = ("Conv2D", "Conv3D", ".compile(")

    GOOD = (
        Snippet("flattened", HEAD + "model = keras.Sequential([layers.Conv2D(8, 3), layers.MaxPooling2D(), layers.Flatten(), layers.Dense(10, 'softmax')])\n"
                "model.compile('adam', 'sparse_categorical_crossentropy')\n"),
        Snippet("pooled", HEAD + "model = keras.Sequential([layers.Conv2D(8, 3), layers.MaxPooling2D(), layers.GlobalMaxPooling2D(), layers.Dense(10, 'softmax')])\n"
                "model.compile('adam', 'sparse_categorical_crossentropy')\n"),
        Snippet("one prediction per pixel", HEAD + "model = keras.Sequential([layers.Conv2D(8, 3, padding='same'), layers.Dense(5, 'softmax')])\n"
                "model.compile('adam', 'sparse_categorical_crossentropy')\n"),
        Snippet("back to full size", HEAD + "model = keras.Sequential([layers.Conv2D(8, 3), layers.MaxPooling2D(), layers.UpSampling2D(), layers.Dense(5, 'softmax')])\n"
                "model.compile('adam', 'sparse_categorical_crossentropy')\n"),
    )  # fmt: skip
    BAD = (
        Snippet("in a list", HEAD + "model = keras.Sequential([\n    keras.Input((32, 32, 3)),\n    layers.Conv2D(32, 3, activation='relu'),\n    layers.MaxPooling2D(),\n"
                "    layers.Dense(64, activation='relu'),\n    layers.Dense(10, activation='softmax'),\n])\nmodel.compile('adam', 'sparse_categorical_crossentropy')\n", line=8),
        Snippet("functional", "from tensorflow import keras\n\na = keras.Input((28, 28, 1))\nb = keras.layers.Conv2D(8, 3, activation='relu')(a)\nb = keras.layers.MaxPooling2D()(b)\n"
                "b = keras.layers.Dropout(0.3)(b)\nb = keras.layers.Dense(1, activation='sigmoid')(b)\nmodel = keras.Model(a, b)\nmodel.compile(loss='binary_crossentropy')\n", line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for compiled in compiles(program):
            if compiled.layers is None or compiled.loss not in (*ENTROPIES, "mse", "mae"):
                continue
            first = _unflattened(compiled.layers)
            if first is not None and (compiled.loss in (CATEGORICAL, SPARSE) or compiled.head is not None):
                yield self.finding(program, first.node or compiled.event.node)


def _unflattened(chain: Chain) -> Call | None:
    """The first Dense layer behind a feature map, when only layers that keep its axes follow and it was made smaller before."""
    first: Call | None = None
    for place in range(len(chain.layers) - 1, -1, -1):
        layer = chain.layers[place]
        name = kind(layer)
        if name == "Dense":
            first = layer
        elif name in _MAPS:
            earlier = [kind(other) for other in chain.layers[: place + 1]]
            is_smaller = any(other in _POOLS for other in earlier)
            grows = any("Transpose" in other or "UpSampling" in other for other in earlier)
            return first if chain.whole and is_smaller and not grows else None
        elif name not in _KEEP_AXES:
            return None
    return None
