from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import constant
from netmend.program.meaning.test_code import is_test_code
from netmend.vocabulary.finding import Finding

_LAYERS = (
    "Dropout",
    "SpatialDropout1D",
    "SpatialDropout2D",
    "SpatialDropout3D",
    "AlphaDropout",
    "GaussianDropout",
)


@register
class KerasDropoutOfAll(StaticRule):
    """A dropout rate of 1 or more, or below 0.

    The rate is the share of values that is dropped. At 1 nothing is left and no gradient comes back; above, Keras refuses it. Often
    a percentage was meant: `Dropout(20)`.

    Give a share between 0 and 1, such as `Dropout(0.2)`.
    """

    code = "S820"
    needs = "keras"
    cause = "LYR-DROPOUT-RATE"
    message = "A dropout rate of {} is not between 0 and 1; write Dropout(0.2), for example."
    triggers = ("Dropout",)
    patterns = (r"\bDense\(|\.compile\(|Dropout[123]D\(|rate\s*=",)

    GOOD = (
        Snippet("a share", "import keras\n\nlayer = keras.layers.Dropout(0.2)\n"),
        Snippet("none", "import keras\n\nlayer = keras.layers.Dropout(0)\n"),
        Snippet("from outside", "import keras\n\ndef block(rate):\n    return keras.layers.Dropout(rate)\n"),
        Snippet("not of Keras", "import torch\n\nlayer = torch.nn.Dropout(1)\n"),
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

    def check(self, program: Program) -> Iterator[Finding]:
        for event in (
            program.calls_of(*(f"keras.layers.{name}" for name in _LAYERS))
            if not is_test_code(program)
            else ()
        ):
            rate = constant(event.call.argument("rate", 0)) if event.call is not None else None
            if isinstance(rate, int | float) and not isinstance(rate, bool) and not 0 <= rate < 1:
                yield self.finding(program, event.node, self.message.format(rate))
