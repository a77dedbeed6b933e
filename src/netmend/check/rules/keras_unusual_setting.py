from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import constant
from netmend.program.meaning.keras_rates import rates
from netmend.vocabulary.finding import Finding

_USUAL = {
    "SGD": (1e-5, 1.0),
    "Adam": (1e-6, 0.02),
    "AdamW": (1e-6, 0.02),
    "Nadam": (1e-6, 0.02),
    "Adamax": (1e-6, 0.05),
    "RMSprop": (1e-6, 0.02),
}


@register
class KerasUnusualSetting(StaticRule):
    """A learning rate or a dropout rate lies outside of what is usual.

    It may be right for this model; more often a digit is wrong, or the rate to keep was given where Keras wants the rate to drop.

    Compare with the default (0.001 for Adam, 0.01 for SGD; dropout of 0.2 to 0.5) and keep it if the unusual value does better.
    """

    code = "S819"
    needs = "keras"
    cause = "HYP-LR-HIGH"
    message = "A learning rate of {} is unusual for {} (usual: {} to {})."
    advisory = True
    triggers = ("keras", "Adam(", "AdamW(", "Nadam(", "Adamax(", "RMSprop(", "SGD(", "Dropout(")

    GOOD = (
        Snippet(
            "usual",
            "import keras\n\noptimizer = keras.optimizers.Adam(3e-4)\ndrop = keras.layers.Dropout(0.5)\n",
        ),
        Snippet(
            "high for SGD, not unheard of",
            "import keras\n\noptimizer = keras.optimizers.SGD(0.5, momentum=0.9)\n",
        ),
        Snippet("from outside", "import keras\n\ndef build(rate):\n    return keras.optimizers.Adam(rate)\n"),
    )
    BAD = (
        Snippet("high", "import keras\n\noptimizer = keras.optimizers.Adam(learning_rate=0.1)\n", line=3),
        Snippet("low", "import keras\n\noptimizer = keras.optimizers.Adam(learning_rate=1e-8)\n", line=3),
        Snippet("dropout", "from keras import layers\n\ndrop = layers.Dropout(0.9)\n", line=3),
    )

    def check(self, program: Program) -> Iterator[Finding]:
        for event, name, rate in rates(program):
            low, high = _USUAL.get(name, (0.0, float("inf")))
            if rate > 0 and not low <= rate <= high:
                text = self.message.format(f"{rate:g}", name, f"{low:g}", f"{high:g}")
                yield self.finding(program, event.node, text, cause="HYP-LR-LOW" if rate < low else None)
        for event in program.calls_of("keras.layers.Dropout"):
            share = constant(event.call.argument("rate", 0)) if event.call is not None else None
            if isinstance(share, float) and 0.8 < share < 1:
                text = f"Dropout({share:g}) drops {share:.0%} of the values; Keras wants the rate to drop, not the one to keep."
                yield self.finding(program, event.node, text, cause="LYR-DROPOUT-RATE")
