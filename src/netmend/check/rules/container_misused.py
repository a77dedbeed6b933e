from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Collection, resolved
from netmend.program.meaning.literal_layers import LITERAL_LAYERS
from netmend.program.meaning.modules import is_module
from netmend.vocabulary.finding import Edit, Finding, Fix

HEAD = "import torch\nfrom torch import nn\n\n"
NET = (
    HEAD
    + """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])

    def forward(self, x):
"""
)


@register
class ContainerMisused(StaticRule):
    """A `ModuleList` is called like a layer, or `Sequential` is given a list.

    `nn.ModuleList` and `nn.ModuleDict` only hold layers, they cannot be called. `nn.Sequential` takes the layers one by one; a list
    stops with "list is not a Module subclass".

    Loop over the list, or use `nn.Sequential(*layers)`.
    """

    code = "S327"
    cause = "API-USAGE"
    message = "nn.Sequential takes layers one by one, not a list; write nn.Sequential(*layers)."
    triggers = ("ModuleList", "ModuleDict", "Sequential(")
    patterns = (r"Sequential\(\s*(?:\[|\w+\s*\))", LITERAL_LAYERS)

    GOOD = (
        Snippet("looped over", NET + "        for layer in self.layers:\n            x = layer(x)\n        return x\n"),
        Snippet("one of them", NET + "        return self.layers[0](x)\n"),
        Snippet("unpacked", HEAD + "layers = [nn.Linear(4, 4), nn.ReLU()]\nnet = nn.Sequential(*layers)\n"),
        Snippet("named layers", HEAD + "from collections import OrderedDict\nnet = nn.Sequential(OrderedDict([('fc', nn.Linear(4, 4))]))\n"),
        Snippet("of Keras", "import keras\nnet = keras.Sequential([keras.layers.Dense(3)])\n"),
        Snippet("own container", HEAD + "class Chain(nn.ModuleList):\n    def forward(self, x):\n        for layer in self:\n            x = layer(x)\n        return x\n\nout = Chain([nn.Linear(2, 2)])(x)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("list given", HEAD + "net = nn.Sequential([nn.Linear(4, 4), nn.ReLU()])\n", line=4,
                fixed=HEAD + "net = nn.Sequential(*[nn.Linear(4, 4), nn.ReLU()])\n"),
        Snippet("list built before", HEAD + "def make(n):\n    layers = []\n    for _ in range(n):\n        layers.append(nn.Linear(4, 4))\n    return nn.Sequential(layers)\n", line=8,
                fixed=HEAD + "def make(n):\n    layers = []\n    for _ in range(n):\n        layers.append(nn.Linear(4, 4))\n    return nn.Sequential(*layers)\n"),
        Snippet("list of layers called", NET + "        return self.layers(x)\n", line=10),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for event in program.calls:
            call = event.call
            if call is None or call.node is None:
                continue
            if call.qualified == "torch.nn.Sequential":
                if len(call.args) == 1 and not call.open and _is_list(call):
                    yield self.finding(program, call.node, fix=_fix(program, call))
                continue
            made = resolved(call.function)
            if isinstance(made, Call) and made.qualified in ("torch.nn.ModuleList", "torch.nn.ModuleDict"):
                name = made.qualified.rpartition(".")[2]
                text = (
                    f"nn.{name} only holds layers and cannot be called; loop over them, or use nn.Sequential."
                )
                yield self.finding(program, call.node, text)


def _is_list(call: Call) -> bool:
    given = resolved(call.args[0])
    return (
        isinstance(given, Collection)
        and given.kind in ("list", "tuple")
        and bool(given.items)
        and all(is_module(item) for item in given.items)
    )


def _fix(program: Program, call: Call) -> Fix | None:
    if call.node is None or program.module_of(call.node) is not program.module:
        return None
    place = program.place(call.node.args[0])
    return Fix("Unpack the list", (Edit(place.line, place.column, place.line, place.column, "*"),), "safe")
