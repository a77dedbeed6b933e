from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Operation, Value, constant, resolved
from netmend.program.meaning.constant_weights import (
    TRIGGERS,
    Setting,
    is_for_all_layers,
    is_whole_model,
    layers_set,
    settings,
)
from netmend.program.meaning.operations import ACTIVATIONS, Op
from netmend.program.meaning.paths import UNCHANGED, Paths, paths, previous
from netmend.program.meaning.test_code import is_test_code
from netmend.vocabulary.finding import Finding

HEAD = "import torch\nfrom torch import nn\n\n"
MODEL = "model = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 1))\n"
NET = (
    HEAD
    + """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 50)
        self.fc2 = nn.Linear(50, 50)
        self.out = nn.Linear(50, 2)
{init}
    def forward(self, x):
        x = torch.relu(self.fc1(x))
        x = torch.relu(self.fc2(x))
        return self.out(x)
"""
)
_THROUGH = UNCHANGED | ACTIVATIONS | {"batchnorm1d", "batchnorm2d", "flatten", "maxpool2d", "view"}


@register
class ConstantInitialWeights(StaticRule):
    """The weights of successive layers all start at the same constant.

    Units of a layer that start alike get the same gradient and stay alike for ever: the layer is as good as one unit. With zeros in
    two layers in a row no gradient gets through at all.

    Leave the default initialisation, or use `nn.init.xavier_uniform_` or `nn.init.kaiming_normal_`. Biases, normalisation layers and
    a single last layer or gate may start at a constant.
    """

    code = "S315"
    cause = "ARC-INIT-WEIGHT"
    message = "Weights that start at one constant stay identical forever; use a random initialisation such as nn.init.xavier_uniform_."
    triggers = TRIGGERS
    patterns = (
        r"_\(\s*[\w.\[\]]*weight",
        r"weight\w*\.(?:data\.)?(?:fill_|zero_)\(",
    )

    GOOD = (
        Snippet("biases", HEAD + "def init(m):\n    if isinstance(m, nn.Linear):\n        nn.init.xavier_uniform_(m.weight)\n        nn.init.zeros_(m.bias)\n\n" + MODEL + "model.apply(init)\n"),
        Snippet("normalisation", HEAD + "def init(m):\n    if isinstance(m, nn.BatchNorm2d):\n        nn.init.constant_(m.weight, 1)\n\n" + MODEL + "model.apply(init)\n"),
        Snippet("last layer only", NET.format(init="        nn.init.zeros_(self.out.weight)\n")),
        Snippet("one gate", NET.format(init="        nn.init.constant_(self.fc2.weight, 0)\n")),
        Snippet("a single layer", HEAD + "def init(m):\n    if isinstance(m, nn.Linear):\n        nn.init.zeros_(m.weight)\n\nmodel = nn.Linear(4, 1)\nmodel.apply(init)\n"),
        Snippet("some of them", HEAD + "def init(m):\n    if isinstance(m, nn.Linear) and m.out_features == 1:\n        nn.init.zeros_(m.weight)\n\n" + MODEL + "model.apply(init)\n"),
        Snippet("an average starts at zero", HEAD + "import copy\n" + MODEL + "mean = copy.deepcopy(model)\nfor p in mean.parameters():\n    p.data.zero_()\n"
                "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"),
        Snippet("asked for by the caller", HEAD + "class Net(nn.Module):\n    def __init__(self, start=None):\n        super().__init__()\n        self.a = nn.Linear(4, 8)\n        self.b = nn.Linear(8, 1)\n"
                "        if start is not None:\n            for m in self.modules():\n                if isinstance(m, nn.Linear):\n                    nn.init.constant_(m.weight, start)\n\nnet = Net(start=1)\n"),
        Snippet("beside what passes by", HEAD + "class Tower(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.ids = nn.Embedding(9, 4)\n        self.a = nn.Linear(4, 4)\n"
                "        self.b = nn.Linear(4, 4)\n        self.apply(self.start)\n\n    @staticmethod\n    def start(m):\n        if isinstance(m, nn.Linear):\n            nn.init.zeros_(m.weight)\n\n"
                "    def forward(self, ids):\n        e = self.ids(ids)\n        e = e + self.a(e)\n        return e + self.b(e)\n\nnet = Tower()\nout = net(torch.arange(3))\n"),
        Snippet("random afterwards", HEAD + "def init(m):\n    if isinstance(m, nn.Linear):\n        m.weight.data.fill_(0)\n        m.weight.data.normal_(0, 0.1)\n\n" + MODEL + "model.apply(init)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("applied to every layer", HEAD + "def init(m):\n    if isinstance(m, nn.Linear):\n        nn.init.constant_(m.weight, 0.1)\n        nn.init.zeros_(m.bias)\n\n" + MODEL + "model.apply(init)\n", line=6),
        Snippet("a loop over the layers", NET.format(init="        for layer in (self.fc1, self.fc2, self.out):\n            nn.init.zeros_(layer.weight)\n"), line=11),
        Snippet("a loop over the modules", HEAD + "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a = nn.Linear(4, 8)\n        self.b = nn.Linear(8, 1)\n"
                "        for m in self.modules():\n            if isinstance(m, nn.Linear):\n                m.weight.data.fill_(0.01)\n", line=11),
        Snippet("all parameters", HEAD + MODEL + "for p in model.parameters():\n    nn.init.constant_(p, 0.5)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n", line=6),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        if is_test_code(program):
            return
        named: list[tuple[Setting, tuple[Value, ...]]] = []
        for setting in settings(program):
            everywhere = is_for_all_layers(program, setting) or is_whole_model(program, setting)
            if everywhere and _sets_zero(setting) and _pass_the_input_on(program):
                continue
            if everywhere:
                yield self.finding(program, setting.event.node)
            elif layers := layers_set(setting):
                named.append((setting, layers))
        together = {id(layer): setting for setting, layers in named for layer in layers}
        if len(together) < 2:
            return
        for op in paths(program).ops:
            if op.layer is None or id(op.layer) not in together:
                continue
            before = previous(op, _THROUGH)
            if (
                before is not None
                and before.layer is not None
                and before.layer is not op.layer
                and id(before.layer) in together
            ):
                yield self.finding(program, together[id(before.layer)].event.node)
                return


def _sets_zero(setting: Setting) -> bool:
    call = setting.event.call
    if call is None:
        return False
    name = call.method or call.qualified.rpartition(".")[2]
    return name in ("zeros_", "zero_") or constant(call.args[-1] if call.args else None) == 0


def _pass_the_input_on(program: Program) -> bool:
    """`e + layer(e)`, for every linear map of the program: with zeros it starts as if the layer was not there, and learns at once."""
    known = paths(program)
    maps = [op for op in known.ops if op.layer is not None and op.name in ("linear", "conv1d", "conv2d")]
    return bool(maps) and all(_is_added_to_its_input(known, op) for op in maps)


def _is_added_to_its_input(known: Paths, op: Op) -> bool:
    given = None if op.input is None else resolved(op.input)
    return any(
        isinstance(user, Operation)
        and user.operator == "+"
        and any(resolved(operand) is given for operand in user.operands)
        for user in known.users.get(id(op.value), [])
    )
