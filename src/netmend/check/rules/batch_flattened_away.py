from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import constant
from netmend.program.meaning.layouts import sizes_given
from netmend.program.meaning.literal_layers import LITERAL_LAYERS
from netmend.program.meaning.modules import BATCH_NORMS
from netmend.program.meaning.operations import ACTIVATIONS, Op
from netmend.program.meaning.paths import UNCHANGED, paths, previous
from netmend.program.meaning.shapes import Shapes, shapes
from netmend.program.meaning.sizes import whole_number, width
from netmend.vocabulary.finding import Finding

NET = """\
import torch
from torch import nn
import torch.nn.functional as F

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3)
        self.bn = nn.BatchNorm2d(8)
        self.fc = nn.Linear(8 * 13 * 13, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn(self.conv(x))), 2)
"""
_SAME = UNCHANGED | ACTIVATIONS
_MAPS = (
    _SAME
    | BATCH_NORMS
    | {"max_pool2d", "avg_pool2d", "maxpool2d", "avgpool2d", "adaptiveavgpool2d", "adaptive_avg_pool2d"}
)


@register
class BatchFlattenedAway(StaticRule):
    """The whole batch is flattened into one row before a linear layer.

    `x.view(-1)`, `x.reshape(-1)` and `x.flatten()` join all axes, the batch too: with more than one sample the linear layer stops with
    a shape error.

    Keep the first axis: `torch.flatten(x, 1)`, `x.view(x.size(0), -1)`.
    """

    code = "S329"
    cause = "TSR-SHAPE"
    message = "This flattens the batch too; keep the first axis: torch.flatten(x, 1)."
    triggers = ("view(-1)", "reshape(-1)", "flatten(")
    patterns = (LITERAL_LAYERS,)

    GOOD = (
        Snippet("first axis kept", NET + "        return self.fc(torch.flatten(x, 1))\n"),
        Snippet("as a layer", NET + "        return self.fc(nn.Flatten()(x))\n"),
        Snippet("viewed per sample", NET + "        return self.fc(x.view(x.size(0), -1))\n"),
        Snippet("the output is flattened", NET + "        return self.fc(x.flatten(1)).view(-1)\n"),
        Snippet("shaped again", NET + "        return self.fc(x.view(-1).view(4, -1))\n"),
        Snippet("one sample", "import torch\nfrom torch import nn\n\nout = nn.Linear(8, 2)(nn.Conv2d(1, 2, 1)(torch.randn(1, 1, 2, 2)).flatten())\n"),
        Snippet("origin not known", "from torch import nn\n\ndef head(x):\n    return nn.Linear(8, 2)(x.flatten())\n"),
    )  # fmt: skip
    BAD = (
        Snippet("viewed as one row", NET + "        x = x.view(-1)\n        return self.fc(x)\n", line=14),
        Snippet("flattened from the first axis", NET + "        return self.fc(F.relu(torch.flatten(x)))\n", line=14),
        Snippet("known size", "import torch\nfrom torch import nn\n\nx = torch.randn(16, 4, 2)\nout = nn.Linear(8, 2)(x.reshape(-1))\n", line=5),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        known = shapes(program)
        for op in paths(program).ops:
            if op.name != "linear" or op.layer is None:
                continue
            flat = previous(op, _SAME)
            if flat is not None and _joins_all(flat) and _has_batch(flat, op, known):
                yield self.finding(program, flat.node)


def _joins_all(op: Op) -> bool:
    if op.layer is not None:
        return False
    if op.name in ("view", "reshape"):
        wanted = sizes_given(op)
        return wanted is not None and len(wanted) == 1 and whole_number(wanted[0]) == -1
    if op.name != "flatten":
        return False
    start, end = op.option("start_dim", 0), op.option("end_dim", 1)
    return (start is None or constant(start) == 0) and (end is None or constant(end) == -1)


def _has_batch(flat: Op, linear: Op, known: Shapes) -> bool:
    """Constants prove more than one sample, or batch norm or a convolution over pictures says there is a batch."""
    given = known.of(flat.input)
    wanted = width(linear, "in_features", 0)
    if given is not None and given.whole and given.dims and given.dims[0] is not None:
        return given.dims[0] > 1 and wanted is not None and given.sample == wanted
    source = previous(flat, _MAPS)
    if source is None or source.name not in ("conv2d", "conv3d"):
        return False
    return (
        source.layer is not None and given is not None and given.rank == (4 if source.name == "conv2d" else 5)
    )
