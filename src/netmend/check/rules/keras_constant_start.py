from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Const, Name, Value, resolved
from netmend.program.meaning.keras_compiled import compiles
from netmend.program.meaning.keras_models import is_map
from netmend.program.text.edits import delete_argument
from netmend.vocabulary.finding import Finding, Fix

_CONSTANT = ("zeros", "ones", "zero", "one", "constant")
HEAD = "import keras\nfrom keras import layers\n\n"


@register
class KerasConstantStart(StaticRule):
    """The weights of a hidden layer all start at one value.

    All units of the layer then compute the same and get the same gradient: they stay equal for ever, and the layer works as a single
    unit. With zeros nothing is learnt at all.

    Leave `kernel_initializer` at its default. Zeros for `bias_initializer` are fine.
    """

    code = "S815"
    needs = "keras"
    cause = "ARC-INIT-WEIGHT"
    message = "All weights of this hidden layer start identical and stay identical; leave kernel_initializer at its default."
    triggers = ("kernel_initializer", ".compile(")

    GOOD = (
        Snippet("random", HEAD + "model = keras.Sequential([layers.Dense(8, 'relu', kernel_initializer='he_normal'), layers.Dense(1)])\nmodel.compile('adam', 'mse')\n"),
        Snippet("zero bias", HEAD + "model = keras.Sequential([layers.Dense(8, 'relu', bias_initializer='zeros', kernel_initializer='glorot_uniform'), layers.Dense(1)])\nmodel.compile('adam', 'mse')\n"),
        Snippet("the last layer may start at zero", HEAD + "model = keras.Sequential([layers.Dense(8, 'relu'), layers.Dense(1, kernel_initializer='zeros')])\nmodel.compile('adam', 'mse')\n"),
        Snippet("one layer only", HEAD + "model = keras.Sequential([layers.Dense(1, kernel_initializer='ones')])\nmodel.compile('adam', 'mse')\n"),
    )  # fmt: skip
    BAD = (
        Snippet("zeros", HEAD + "model = keras.Sequential([layers.Dense(8, 'relu', kernel_initializer='zeros'), layers.Dense(1)])\nmodel.compile('adam', 'mse')\n", line=4,
                fixed=HEAD + "model = keras.Sequential([layers.Dense(8, 'relu'), layers.Dense(1)])\nmodel.compile('adam', 'mse')\n"),
        Snippet("an object", HEAD + "model = keras.Sequential()\nmodel.add(layers.Conv2D(8, 3, activation='relu', kernel_initializer=keras.initializers.Constant(0.1)))\n"
                "model.add(layers.Flatten())\nmodel.add(layers.Dense(1))\nmodel.compile('adam', 'mse')\n", line=5),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        told: set[int] = set()
        for compiled in compiles(program):
            layers = compiled.layers.layers if compiled.layers is not None else ()
            weighted = [layer for layer in layers if is_map(layer)]
            for layer in weighted[:-1]:
                given = layer.keywords.get("kernel_initializer")
                if given is None or layer.node is None or id(layer) in told or not _is_constant(given):
                    continue
                told.add(id(layer))
                keyword = next(
                    (part for part in layer.node.keywords if part.arg == "kernel_initializer"), None
                )
                edits = delete_argument(program, layer.node, keyword) if keyword is not None else ()
                yield self.finding(
                    program, layer.node, fix=Fix("Use the default initialiser", edits) if edits else None
                )


def _is_constant(value: Value) -> bool:
    value = resolved(value)
    if isinstance(value, Const):
        return isinstance(value.value, str) and value.value.lower() in _CONSTANT
    name = value.qualified if isinstance(value, Call | Name) else ""
    return name.startswith("keras.initializers.") and name.rpartition(".")[2].lower() in _CONSTANT
