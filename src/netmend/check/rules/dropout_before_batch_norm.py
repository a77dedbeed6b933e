from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import constant
from netmend.program.meaning.modules import BATCH_NORMS, DROPOUTS
from netmend.program.meaning.operations import ACTIVATIONS
from netmend.program.meaning.paths import paths, previous
from netmend.vocabulary.finding import Finding

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n\n"
_THROUGH = ACTIVATIONS | {"identity"}


@register
class DropoutBeforeBatchNorm(StaticRule):
    """Dropout stands right before batch norm.

    In training dropout raises the variance of what batch norm counts; in evaluation it is off and the variance is another one. The
    running statistics then do not fit, and validation is worse than training suggests ("variance shift").

    Put dropout behind the batch norm, best behind the last one.
    """

    code = "S323"
    cause = "LYR-NORM-STATS"
    message = "Dropout before batch norm makes its statistics differ between training and evaluation; put dropout after it."
    advisory = True
    triggers = ("BatchNorm",)

    GOOD = (
        Snippet("behind it", HEAD + "net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 1))\n"),
        Snippet("a layer between", HEAD + "net = nn.Sequential(nn.Dropout(0.3), nn.Linear(4, 8), nn.BatchNorm1d(8))\n"),
        Snippet("nothing is dropped", HEAD + "net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.0), nn.BatchNorm1d(8))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("in a Sequential", HEAD + "net = nn.Sequential(\n    nn.Linear(4, 8),\n    nn.Dropout(0.3),\n    nn.BatchNorm1d(8),\n)\n", line=8),
        Snippet("in forward", HEAD + "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.conv = nn.Conv2d(1, 8, 3)\n        self.bn = nn.BatchNorm2d(8)\n"
                "        self.drop = nn.Dropout2d(0.1)\n\n    def forward(self, x):\n        return self.bn(F.relu(self.drop(self.conv(x))))\n", line=13),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for op in paths(program).ops:
            if op.name in BATCH_NORMS and op.layer is not None:
                before = previous(op, _THROUGH)
                if (
                    before is not None
                    and before.name in DROPOUTS
                    and constant(before.option("p", 0), 0.5) != 0
                ):
                    yield self.finding(program, op.node)
