"""Weights that start all equal or of one sign."""

from __future__ import annotations

from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.history import CallEvent
from netmend.program.engine.program import Program
from netmend.program.engine.values import Attribute, Call, Operation, Value, constant, resolved
from netmend.program.meaning.initialisers import (
    TRIGGERS,
    Setting,
    is_for_all_layers,
    is_whole_model,
    layers_set,
    settings,
)
from netmend.program.meaning.operations import ACTIVATIONS, Op
from netmend.program.meaning.paths import UNCHANGED, Paths, paths, previous

CONSTANT_HEAD = "import torch\nfrom torch import nn\n\n"
MODEL = "model = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 1))\n"
CONSTANT_NET = (
    CONSTANT_HEAD
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


class ConstantInitialWeights(StaticRule, code="S315", cause="ARC-INIT-WEIGHT", in_tests=False):
    """The weights of successive layers all start at the same constant.

    Units of a layer that start alike get the same gradient and stay alike for ever: the layer is as good as one unit. With zeros in
    two layers in a row no gradient gets through at all.

    Leave the default initialisation, or use `nn.init.xavier_uniform_` or `nn.init.kaiming_normal_`. Biases, normalisation layers and
    a single last layer or gate may start at a constant.
    """

    message = "Weights that start at one constant stay identical forever; use a random initialisation such as nn.init.xavier_uniform_."
    triggers = TRIGGERS
    patterns = (r"_\(\s*[\w.\[\]]*weight", r"weight\w*\.(?:data\.)?(?:fill_|zero_)\(")

    GOOD = (
        Snippet("biases", CONSTANT_HEAD + "def init(m):\n    if isinstance(m, nn.Linear):\n        nn.init.xavier_uniform_(m.weight)\n        nn.init.zeros_(m.bias)\n\n" + MODEL + "model.apply(init)\n"),
        Snippet("a single layer", CONSTANT_HEAD + "def init(m):\n    if isinstance(m, nn.Linear):\n        nn.init.zeros_(m.weight)\n\nmodel = nn.Linear(4, 1)\nmodel.apply(init)\n"),
        Snippet("some of them", CONSTANT_HEAD + "def init(m):\n    if isinstance(m, nn.Linear) and m.out_features == 1:\n        nn.init.zeros_(m.weight)\n\n" + MODEL + "model.apply(init)\n"),
        Snippet("an average starts at zero", CONSTANT_HEAD + "import copy\n" + MODEL + "mean = copy.deepcopy(model)\nfor p in mean.parameters():\n    p.data.zero_()\n"
                "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"),
        Snippet("asked for by the caller", CONSTANT_HEAD + "class Net(nn.Module):\n    def __init__(self, start=None):\n        super().__init__()\n        self.a = nn.Linear(4, 8)\n        self.b = nn.Linear(8, 1)\n"
                "        if start is not None:\n            for m in self.modules():\n                if isinstance(m, nn.Linear):\n                    nn.init.constant_(m.weight, start)\n\nnet = Net(start=1)\n"),
        Snippet("beside what passes by", CONSTANT_HEAD + "class Tower(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.ids = nn.Embedding(9, 4)\n        self.a = nn.Linear(4, 4)\n"
                "        self.b = nn.Linear(4, 4)\n        self.apply(self.start)\n\n    @staticmethod\n    def start(m):\n        if isinstance(m, nn.Linear):\n            nn.init.zeros_(m.weight)\n\n"
                "    def forward(self, ids):\n        e = self.ids(ids)\n        e = e + self.a(e)\n        return e + self.b(e)\n\nnet = Tower()\nout = net(torch.arange(3))\n"),
        Snippet("random afterwards", CONSTANT_HEAD + "def init(m):\n    if isinstance(m, nn.Linear):\n        m.weight.data.fill_(0)\n        m.weight.data.normal_(0, 0.1)\n\n" + MODEL + "model.apply(init)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("applied to every layer", CONSTANT_HEAD + "def init(m):\n    if isinstance(m, nn.Linear):\n        nn.init.constant_(m.weight, 0.1)\n        nn.init.zeros_(m.bias)\n\n" + MODEL + "model.apply(init)\n", line=6),
        Snippet("a loop over the layers", CONSTANT_NET.format(init="        for layer in (self.fc1, self.fc2, self.out):\n            nn.init.zeros_(layer.weight)\n"), line=11),
        Snippet("a loop over the modules", CONSTANT_HEAD + "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a = nn.Linear(4, 8)\n        self.b = nn.Linear(8, 1)\n"
                "        for m in self.modules():\n            if isinstance(m, nn.Linear):\n                m.weight.data.fill_(0.01)\n", line=11),
        Snippet("all parameters", CONSTANT_HEAD + MODEL + "for p in model.parameters():\n    nn.init.constant_(p, 0.5)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n", line=6),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
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


SIGN_HEAD = "import torch\nfrom torch import nn\n\ndef init(m):\n    if isinstance(m, nn.Linear):\n"
SIGN_NET = "net = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 4))\nnet.apply(init)\n"


class WeightsOfOneSign(StaticRule, code="S343", cause="ARC-INIT-WEIGHT"):
    """The weights of layers are drawn from a range of one sign: all negative, or from 0 to 1.

    Negative weights in front of ReLU switch every unit off for positive inputs. Weights from 0 to 1 add up: each layer multiplies
    the values by half its width, and all units do nearly the same.

    Draw around zero: `nn.init.uniform_(w, -a, a)`, or leave torch's own start, `nn.init.kaiming_uniform_(w)`.
    """

    message = (
        "All weights start {0}; initialise them around zero, e.g. with nn.init.kaiming_uniform_(weight)."
    )
    triggers = ("uniform_(",)
    patterns = (r"(?<!kaiming_)(?<!xavier_)(?<!he_)(?<!_)\buniform_\(",)

    GOOD = (
        Snippet("around zero", SIGN_HEAD + "        nn.init.uniform_(m.weight, -0.1, 0.1)\n\n" + SIGN_NET),
        Snippet("only the bias", SIGN_HEAD + "        nn.init.uniform_(m.bias, -0.5, 0.0)\n\n" + SIGN_NET),
        Snippet(
            "a single scale",
            "import torch\nfrom torch import nn\n\nclass Gate(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.alpha = nn.Parameter(torch.empty(8))\n        nn.init.uniform_(self.alpha)\n",
        ),
        Snippet(
            "kept small and positive",
            SIGN_HEAD + "        nn.init.uniform_(m.weight, 0.0, 0.01)\n\n" + SIGN_NET,
        ),
        Snippet(
            "another draw afterwards",
            SIGN_HEAD + "        nn.init.uniform_(m.weight, a=low, b=high)\n\n" + SIGN_NET,
        ),
    )
    BAD = (
        Snippet("negative", SIGN_HEAD + "        nn.init.uniform_(m.weight, -0.5, 0.0)\n        nn.init.zeros_(m.bias)\n\n" + SIGN_NET, line=6),
        Snippet("the default range", SIGN_HEAD + "        torch.nn.init.uniform_(m.weight)\n\n" + SIGN_NET, line=6),
        Snippet("method, over modules", "from torch import nn\nnet = nn.Sequential(nn.Linear(9, 9), nn.ReLU(), nn.Linear(9, 2))\nfor m in net.modules():\n"
                "    if isinstance(m, nn.Linear):\n        m.weight.data.uniform_(-1, 0)\n", line=5),
        Snippet("one named layer", "from torch import nn\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                "        self.a = nn.Linear(9, 9)\n        nn.init.uniform_(self.a.weight, a=-0.2, b=-0.1)\n\n    def forward(self, x):\n        return self.a(x).relu()\n", line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for event in [
            *program.calls_of("torch.nn.init.uniform_", "torch.nn.init.uniform"),
            *program.methods_of("uniform_"),
        ]:
            words = _range(event)
            target = _weight(event)
            if not words or target is None:
                continue
            setting = Setting(event, resolved(target.base), False)
            if is_for_all_layers(program, setting) or layers_set(setting):
                yield self.finding(program, event.node, self.message.format(words))


def _weight(event: CallEvent) -> Attribute | None:
    call = event.call
    target: Value | None = None
    if call is not None:
        target = call.receiver if call.method else (call.args[0] if call.args else None)
    target = resolved(target)
    if isinstance(target, Attribute) and target.name == "data":
        target = resolved(target.base)
    return target if isinstance(target, Attribute) and target.name == "weight" else None


def _range(event: CallEvent) -> str:
    """The words for a range of one sign, else ""."""
    call = event.call
    if call.open:
        return ""
    shift = 0 if call.method else 1
    low = _bound(call, ("a", "from"), shift, 0.0)
    high = _bound(call, ("b", "to"), shift + 1, 1.0)
    if low is None or high is None or low >= high:
        return ""
    if high <= 0:
        return f"negative, from {low:g} to {high:g}"
    return "positive, from 0 to 1" if low == 0 and high == 1 else ""


def _bound(call: Call, names: tuple[str, ...], place: int, default: float) -> float | None:
    given = next((call.keywords[name] for name in names if name in call.keywords), None)
    if given is None:
        given = call.args[place] if place < len(call.args) else None
    if given is None:
        return default
    value = constant(resolved(given))
    return float(value) if isinstance(value, int | float) else None
