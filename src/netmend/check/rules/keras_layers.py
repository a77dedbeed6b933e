"""Keras: the layers of a model."""

from __future__ import annotations

from itertools import pairwise

from netmend.check.rule import Findings, KerasRule, Snippet, mended
from netmend.library.keras import ELEMENTWISE_LAYERS, LINEAR_BETWEEN
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Const, Name, Value, constant, resolved
from netmend.program.meaning.keras import (
    CATEGORICAL,
    ENTROPIES,
    LINEAR,
    SPARSE,
    UNSURE,
    Chain,
    activation,
    compiles,
    is_activation,
    is_map,
    kind,
    width,
)
from netmend.program.meaning.statements import without_argument
from netmend.vocabulary.finding import Fix

HEAD = "import keras\nfrom keras import layers\n\n"


class KerasLinearStack(KerasRule, code="S808", cause="ACT-HID-MISSING"):
    """Two layers with weights follow each other with no activation between.

    Two linear maps in a row are one linear map: the first layer adds weights and time, and nothing the model could not do without it.
    Keras layers have no activation unless one is given.

    Give the hidden layer an activation: `Dense(64, activation="relu")`.
    """

    message = (
        'This layer has no activation, so it and the next are one linear map; give it activation="relu".'
    )
    triggers = ("compile(",)

    GOOD = (
        Snippet("with activations", HEAD + "model = keras.Sequential([layers.Dense(64, activation='relu'), layers.Dense(1)])\nmodel.compile('adam', 'mse')\n"),
        Snippet("a narrow place on purpose", HEAD + "model = keras.Sequential([keras.Input((784,)), layers.Dense(128, activation='relu'), layers.Dense(8),\n"
                "                          layers.Dense(128, activation='relu'), layers.Dense(784)])\nmodel.compile('adam', 'mse')\n"),
    )  # fmt: skip
    BAD = (
        Snippet("in a list", HEAD + "model = keras.Sequential([\n    layers.Dense(64),\n    layers.Dropout(0.2),\n    layers.Dense(10, activation='softmax'),\n])\n"
                "model.compile('adam', 'categorical_crossentropy')\n", line=5),
        Snippet("added", "from tensorflow.keras.models import Sequential\nfrom tensorflow.keras.layers import Dense\n\ndef build():\n    model = Sequential()\n    model.add(Dense(32, input_dim=8))\n"
                "    model.add(Dense(1, activation='sigmoid'))\n    model.compile(loss='binary_crossentropy', optimizer='adam')\n    return model\n", line=6),
        Snippet("convolution into flatten", HEAD + "a = keras.Input((28, 28, 1))\nb = layers.Conv2D(32, 3)(a)\nb = layers.Flatten()(b)\nb = layers.Dense(10, activation='softmax')(b)\n"
                "model = keras.Model(a, b)\nmodel.compile('adam', 'sparse_categorical_crossentropy')\n", line=5),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for compiled in compiles(program):
            layers = compiled.layers.layers if compiled.layers is not None else ()
            for place, layer in enumerate(layers):
                following = next(
                    (other for other in layers[place + 1 :] if kind(other) not in LINEAR_BETWEEN), None
                )
                if following is None or not (is_map(layer) and is_map(following)):
                    continue
                if activation(layer) == LINEAR and _gains_nothing(layer, following, layers[:place]):
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


class KerasFlattenMissing(KerasRule, code="S809", cause="LYR-FLATTEN-MISSING"):
    """A feature map goes into Dense layers up to the output, and nothing flattens or pools it.

    `Dense` works on the last axis only: the output keeps height and width, one prediction per position, and `fit` stops with an error
    of shapes against labels per image.

    Put `layers.Flatten()` or `layers.GlobalAveragePooling2D()` before the first Dense layer.
    """

    message = "The feature map reaches this Dense layer unflattened; put Flatten() or GlobalAveragePooling2D() before it."
    triggers = ("Conv2D", "Conv3D", ".compile(")

    GOOD = (
        Snippet("flattened", HEAD + "model = keras.Sequential([layers.Conv2D(8, 3), layers.MaxPooling2D(), layers.Flatten(), layers.Dense(10, 'softmax')])\n"
                "model.compile('adam', 'sparse_categorical_crossentropy')\n"),
        Snippet("one prediction per pixel", HEAD + "model = keras.Sequential([layers.Conv2D(8, 3, padding='same'), layers.Dense(5, 'softmax')])\n"
                "model.compile('adam', 'sparse_categorical_crossentropy')\n"),
    )  # fmt: skip
    BAD = (
        Snippet("in a list", HEAD + "model = keras.Sequential([\n    keras.Input((32, 32, 3)),\n    layers.Conv2D(32, 3, activation='relu'),\n    layers.MaxPooling2D(),\n"
                "    layers.Dense(64, activation='relu'),\n    layers.Dense(10, activation='softmax'),\n])\nmodel.compile('adam', 'sparse_categorical_crossentropy')\n", line=8),
        Snippet("functional", "from tensorflow import keras\n\na = keras.Input((28, 28, 1))\nb = keras.layers.Conv2D(8, 3, activation='relu')(a)\nb = keras.layers.MaxPooling2D()(b)\n"
                "b = keras.layers.Dropout(0.3)(b)\nb = keras.layers.Dense(1, activation='sigmoid')(b)\nmodel = keras.Model(a, b)\nmodel.compile(loss='binary_crossentropy')\n", line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
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
        elif name not in ELEMENTWISE_LAYERS:
            return None
    return None


class KerasActivationTwice(KerasRule, code="S814", cause="ACT-EXTRA"):
    """A layer has an activation, and an activation layer follows at once.

    Two in a row are at best one too many (ReLU of ReLU); ReLU before sigmoid or softmax cuts the negative scores off, sigmoid
    before ReLU does nothing at all.

    Keep one: in the layer or as a layer of its own.
    """

    message = "{} follows {} at once; keep one of the two."
    triggers = ("Activation(", "ReLU(", "Softmax(", "ELU(", ".compile(")
    patterns = (r"\bDense\(|\.compile\(|\bConv2D\(",)

    GOOD = (
        Snippet("one each", HEAD + "model = keras.Sequential([layers.Dense(8), layers.ReLU(), layers.Dense(3), layers.Activation('softmax')])\nmodel.compile('adam', 'mse')\n"),
        Snippet("attention weights", HEAD + "model = keras.Sequential([layers.Dense(1, activation='tanh'), layers.Flatten(), layers.Activation('softmax')])\nmodel.compile('adam', 'mse')\n"),
        Snippet("scores pressed before softmax", HEAD + "model = keras.Sequential([layers.Dense(5, activation='tanh'), layers.Softmax()])\nmodel.compile('adam', 'mse')\n"),
    )  # fmt: skip
    BAD = (
        Snippet("relu twice", HEAD + "model = keras.Sequential([\n    layers.Dense(8, activation='relu'),\n    layers.ReLU(),\n    layers.Dense(1),\n])\nmodel.compile('adam', 'mse')\n", line=6),
        Snippet("relu before sigmoid", HEAD + "model = keras.Sequential()\nmodel.add(layers.Dense(1, activation='relu'))\nmodel.add(layers.Activation('sigmoid'))\n"
                "model.compile('adam', 'binary_crossentropy')\n", line=6),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for compiled in compiles(program):
            layers = compiled.layers.layers if compiled.layers is not None else ()
            for first, second in pairwise(layers):
                one, two = activation(first), activation(second)
                if not (is_map(first) or is_activation(first)) or not is_activation(second):
                    continue
                if {one, two} & {LINEAR, UNSURE}:
                    continue
                if two == "softmax" and one not in ("relu", "softmax", "sigmoid"):
                    continue
                yield self.finding(program, second.node or compiled.event.node, self.message.format(two, one))


_CONSTANT = ("zeros", "ones", "zero", "one", "constant")


class KerasConstantStart(KerasRule, code="S815", cause="ARC-INIT-WEIGHT"):
    """The weights of a hidden layer all start at one value.

    All units of the layer then compute the same and get the same gradient: they stay equal for ever, and the layer works as a single
    unit. With zeros nothing is learnt at all.

    Leave `kernel_initializer` at its default. Zeros for `bias_initializer` are fine.
    """

    message = "All weights of this hidden layer start identical and stay identical; leave kernel_initializer at its default."
    triggers = ("kernel_initializer", ".compile(")

    GOOD = (
        Snippet("random", HEAD + "model = keras.Sequential([layers.Dense(8, 'relu', kernel_initializer='he_normal'), layers.Dense(1)])\nmodel.compile('adam', 'mse')\n"),
    )  # fmt: skip
    BAD = (
        mended("zeros", HEAD + "model = keras.Sequential([layers.Dense(8, 'relu'⟨, kernel_initializer='zeros' → ⟩), layers.Dense(1)])\n"
                "model.compile('adam', 'mse')\n"),
        Snippet("an object", HEAD + "model = keras.Sequential()\nmodel.add(layers.Conv2D(8, 3, activation='relu', kernel_initializer=keras.initializers.Constant(0.1)))\n"
                "model.add(layers.Flatten())\nmodel.add(layers.Dense(1))\nmodel.compile('adam', 'mse')\n", line=5),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for compiled in compiles(program):
            layers = compiled.layers.layers if compiled.layers is not None else ()
            weighted = [layer for layer in layers if is_map(layer)]
            for layer in weighted[:-1]:
                given = layer.keywords.get("kernel_initializer")
                if given is None or not _is_constant(given):
                    continue
                edits = without_argument(program, layer.node, "kernel_initializer")
                yield self.finding(program, layer.node, fix=Fix("Use the default initialiser", edits))


def _is_constant(value: Value) -> bool:
    value = resolved(value)
    if isinstance(value, Const):
        return isinstance(value.value, str) and value.value.lower() in _CONSTANT
    name = value.qualified if isinstance(value, Call | Name) else ""
    return name.startswith("keras.initializers.") and name.rpartition(".")[2].lower() in _CONSTANT


_LAYERS = (
    "Dropout",
    "SpatialDropout1D",
    "SpatialDropout2D",
    "SpatialDropout3D",
    "AlphaDropout",
    "GaussianDropout",
)


class KerasDropoutOfAll(KerasRule, code="S820", cause="LYR-DROPOUT-RATE", in_tests=False):
    """A dropout rate of 1 or more, or below 0.

    The rate is the share of values that is dropped. At 1 nothing is left and no gradient comes back; above, Keras refuses it. Often
    a percentage was meant: `Dropout(20)`.

    Give a share between 0 and 1, such as `Dropout(0.2)`.
    """

    message = "A dropout rate of {} is not between 0 and 1; write Dropout(0.2), for example."
    triggers = ("Dropout",)
    patterns = (r"\bDense\(|\.compile\(|Dropout[123]D\(|rate\s*=",)

    GOOD = (
        Snippet("a share", "import keras\n\nlayer = keras.layers.Dropout(0.2)\n"),
        Snippet("none", "import keras\n\nlayer = keras.layers.Dropout(0)\n"),
    )
    BAD = (
        Snippet(
            "a percentage",
            "import keras\n\nmodel = keras.Sequential([keras.layers.Dense(8), keras.layers.Dropout(20)])\n",
            line=3,
        ),
        Snippet(
            "all",
            "from tensorflow.keras.layers import SpatialDropout2D\n\ndef block(x):\n    return SpatialDropout2D(rate=1.0)(x)\n",
            line=4,
        ),
    )

    def check(self, program: Program) -> Findings:
        for event in program.calls_of(*(f"keras.layers.{name}" for name in _LAYERS)):
            rate = constant(event.call.argument("rate", 0))
            if isinstance(rate, int | float) and not isinstance(rate, bool) and not 0 <= rate < 1:
                yield self.finding(program, event.node, self.message.format(rate))
