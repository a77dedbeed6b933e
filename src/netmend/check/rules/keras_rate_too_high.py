from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.keras_rates import rates
from netmend.vocabulary.finding import Finding


@register
class KerasRateTooHigh(StaticRule):
    """The learning rate of a Keras optimizer is so high, or so wrong, that nothing can be learnt with it.

    Adam and its kin move each weight by about the learning rate in each step; a rate of 1 replaces weights of size 0.05 by noise.
    A rate of zero changes nothing, a negative one climbs.

    Begin at the default: 0.001 for Adam and RMSprop, 0.01 for SGD.
    """

    code = "S818"
    needs = "keras"
    cause = "HYP-LR-HIGH"
    message = "A learning rate of {} cannot work for {}; start with {}."
    triggers = ("keras", "Adam(", "AdamW(", "Nadam(", "Adamax(", "RMSprop(", "SGD(", "Adagrad(", "Lion(")

    GOOD = (
        Snippet(
            "usual",
            "import keras\n\noptimizer = keras.optimizers.Adam(learning_rate=1e-3)\nother = keras.optimizers.SGD(0.1)\n",
        ),
        Snippet(
            "a high rate that SGD may have",
            "import keras\n\noptimizer = keras.optimizers.SGD(learning_rate=1.0)\nother = keras.optimizers.Adadelta(1.0)\n",
        ),
        Snippet(
            "a schedule",
            "import keras\n\noptimizer = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(1e-3, 100))\n",
        ),
    )
    BAD = (
        Snippet("Adam", "import keras\n\noptimizer = keras.optimizers.Adam(learning_rate=1.0)\n", line=3),
        Snippet(
            "by position",
            "from tensorflow.keras.optimizers import RMSprop\n\ndef build(model):\n    model.compile(RMSprop(3), 'mse')\n",
            line=4,
        ),
        Snippet("negative", "import keras\n\noptimizer = keras.optimizers.SGD(-0.01)\n", line=3),
    )

    def check(self, program: Program) -> Iterator[Finding]:
        for event, name, rate in rates(program):
            is_adaptive = name not in ("SGD", "Adadelta", "Adagrad", "Ftrl", "Adafactor")
            if rate <= 0 or (is_adaptive and rate >= 1) or (name == "SGD" and rate >= 100):
                default = "0.01" if name == "SGD" else "0.001"
                cause = "HYP-LR-LOW" if rate <= 0 else None
                yield self.finding(program, event.node, self.message.format(rate, name, default), cause=cause)
