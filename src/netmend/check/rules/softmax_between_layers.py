from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Operation, Value
from netmend.program.meaning.literal_layers import LITERAL_LAYERS
from netmend.program.meaning.operations import Op, operation
from netmend.program.meaning.paths import UNCHANGED, Paths, paths, previous
from netmend.program.meaning.sizes import setting
from netmend.program.meaning.test_code import is_test_code
from netmend.vocabulary.finding import Finding

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n\n"
NET = (
    HEAD
    + """\
class Net(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.fc1 = nn.Linear(4, width)
        self.fc2 = nn.Linear(width, 3)
        self.mix = nn.Linear(width, 8, bias=False)

    def forward(self, x):
"""
)
_SOFTMAX = ("softmax", "log_softmax")
_THROUGH = UNCHANGED | {"batchnorm1d", "flatten", "squeeze", "view", "reshape"}
_MAPS = ("linear",)  # a convolution over attention weights mixes heads, on purpose


@register
class SoftmaxBetweenLayers(StaticRule):
    """Softmax is used as the activation between two hidden layers.

    Softmax makes all units of a layer share a sum of 1: most are pressed towards 0, gradients become tiny, and the layer behind sees
    hardly any signal. Training is slow and ends far worse than with ReLU.

    Use ReLU, GELU or tanh between layers; softmax belongs behind the last one, or into attention.
    """

    code = "S322"
    cause = "ACT-HID-WRONG"
    message = "Softmax between hidden layers shrinks the signal to almost nothing; use ReLU or GELU here."
    triggers = ("oftmax",)
    patterns = (LITERAL_LAYERS,)

    GOOD = (
        Snippet("at the end", NET + "        return F.softmax(self.fc2(F.relu(self.fc1(x))), dim=1)\n"),
        Snippet("attention", NET + "        weights = F.softmax(self.fc1(x), dim=1)\n        return self.fc2(weights * self.fc1(x))\n"),
        Snippet("weighted sum", NET + "        weights = torch.softmax(self.fc1(x), -1)\n        return self.fc2(weights @ self.values)\n"),
        Snippet("soft look-up in a table", NET + "        return self.mix(F.softmax(self.fc1(x), dim=-1))\n"),
        Snippet("probabilities are used too", NET + "        p = F.softmax(self.fc1(x), dim=-1)\n        return self.fc2(p), p\n"),
        Snippet("heads of an attention talk", HEAD + "def attend(q, k, v):\n    scores = nn.Conv2d(8, 8, 1)(q @ k).softmax(-1)\n    return nn.Conv2d(8, 8, 1)(scores) @ v\n"),
        Snippet("early guess fed back", NET + "        guess = F.softmax(self.fc1(x), dim=-1)\n        return x + self.fc2(guess).to(x.device)\n"),
        Snippet("input of unknown origin", HEAD + "def refine(p):\n    return nn.Linear(4, 4)(p.softmax(-1))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("in forward", NET + "        h = F.softmax(self.fc1(x), dim=-1)\n        return self.fc2(h)\n", line=13),
        Snippet("in a Sequential", HEAD + "net = nn.Sequential(\n    nn.Linear(4, 8),\n    nn.Softmax(dim=1),\n    nn.Linear(8, 3),\n)\n", line=7),
        Snippet("with dropout", NET + "        h = nn.Dropout(0.1)(torch.log_softmax(self.fc1(x), 1))\n        return self.fc2(h)\n", line=13),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        if is_test_code(program):
            return
        known = paths(program)
        for op in known.ops:
            if op.name not in _MAPS or op.layer is None or _is_table(op):
                continue
            before = previous(op, _THROUGH)
            if before is None or before.name not in _SOFTMAX:
                continue
            first = previous(before, _THROUGH)
            if first is None or first.name not in _MAPS or first.layer is None:
                continue
            if known.leads_only_to(before, op) and not _is_added(known, op):
                yield self.finding(program, before.node)


def _is_added(known: Paths, op: Op) -> bool:
    """Is the result added to something: a guess that is fed back beside the main way?"""
    value: Value = op.value
    for _ in range(5):
        users = known.users.get(id(value), [])
        if any(isinstance(user, Operation) for user in users):
            return True
        after = next((user for user in users if isinstance(user, Call)), None)
        found = operation(after)
        if after is None or found is None or found.name not in UNCHANGED:
            return False
        value = after
    return False


def _is_table(op: Op) -> bool:
    """A linear map without bias, given shares, is a weighted sum of its columns."""
    if op.layer is None:
        return True
    return op.layer.open or setting(op.layer.argument("bias", 2), True) is not True
