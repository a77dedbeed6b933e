from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import constant
from netmend.program.meaning.keras_models import chain, fits, kind
from netmend.program.text.edits import delete_argument
from netmend.vocabulary.finding import Finding, Fix

_SEQUENCES = ("LSTM", "GRU", "SimpleRNN", "RNN", "Bidirectional", "ConvLSTM2D", "Conv1D", "TimeDistributed")
HEAD = "import keras\nfrom keras import layers\n\nmodel = keras.Sequential([layers.Dense(10, activation='softmax')])\nmodel.compile('adam', 'categorical_crossentropy')\n"


@register
class KerasFitNotShuffled(StaticRule):
    """`fit` is told not to shuffle, and the model is not one for sequences.

    Batches then come in the order of the data. Where that is sorted, by class or by time, each batch pulls the weights one way and
    the next one back.

    Leave `shuffle` at its default, True; set it to False for stateful models and time series only.
    """

    code = "S817"
    needs = "keras"
    cause = "API-SHUFFLE-POS"
    message = "shuffle=False trains on the data in its order; leave shuffle at True unless the order matters."
    advisory = True
    triggers = ("shuffle=False",)

    GOOD = (
        Snippet("shuffled", HEAD + "model.fit(x, y)\n"),
        Snippet("a sequence model", "import keras\nfrom keras import layers\n\nmodel = keras.Sequential([layers.LSTM(8, stateful=True), layers.Dense(1)])\nmodel.compile('adam', 'mse')\n"
                "model.fit(x, y, shuffle=False)\n"),
        Snippet("an option", HEAD + "model.fit(x, y, shuffle=args.shuffle)  # not shuffle=False\n"),
    )  # fmt: skip
    BAD = (
        Snippet(
            "script",
            HEAD + "model.fit(x, y, epochs=3, shuffle=False)\n",
            line=6,
            fixed=HEAD + "model.fit(x, y, epochs=3)\n",
        ),
        Snippet(
            "function",
            HEAD + "def run(x, y):\n    return model.fit(x, y, shuffle=False, batch_size=32)\n",
            line=7,
        ),
    )

    def check(self, program: Program) -> Iterator[Finding]:
        for event, call, model in fits(program):
            layers = chain(program, model)
            if (
                constant(call.keywords.get("shuffle"), True) is not False
                or layers is None
                or not layers.whole
                or call.argument("y", 1) is None
            ):
                continue
            if any(kind(layer) in _SEQUENCES for layer in layers.layers):
                continue
            keyword = (
                next((part for part in call.node.keywords if part.arg == "shuffle"), None)
                if call.node
                else None
            )
            edits = (
                delete_argument(program, call.node, keyword)
                if keyword is not None and call.node is not None
                else ()
            )
            yield self.finding(program, event.node, fix=Fix("Shuffle", edits) if edits else None)
