from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.literal_layers import LITERAL_LAYERS
from netmend.program.meaning.misfits import KERNEL, misfits
from netmend.vocabulary.finding import Finding

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n\n"
DEEP = """\
net = nn.Sequential(
    nn.Conv2d(1, 8, 5), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(8, 8, 5), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(8, 8, 5),
)
"""


@register
class KernelLargerThanInput(StaticRule):
    """A kernel or pooling window is larger than what is left of the picture.

    Each unpadded convolution and each pooling shrinks the picture; with constant sizes it can be counted that nothing is left. The
    first call stops with "Kernel size can't be greater than actual input size" or "Output size is too small".

    Pad the convolutions (`padding=1` for a kernel of 3), pool less often, or use larger pictures.
    """

    code = "S330"
    cause = "LYR-FILTER"
    message = "The kernel is larger than the feature map it gets."
    triggers = ("nn.Conv", "Pool", "_pool", "Conv2d(", "Conv1d(")
    patterns = (LITERAL_LAYERS,)

    GOOD = (
        Snippet("large enough", HEAD + DEEP + "out = net(torch.randn(4, 1, 64, 64))\n"),
        Snippet("size not known", HEAD + DEEP + "out = net(images)\n"),
        Snippet("padded", HEAD + "net = nn.Sequential(nn.Conv2d(1, 4, 5, padding=2), nn.MaxPool2d(4), nn.Conv2d(4, 4, 3, padding=1))\n"
                "out = net(torch.zeros(1, 1, 4, 4))\n"),
        Snippet("exactly one left", HEAD + "out = nn.MaxPool2d(4)(torch.zeros(1, 1, 4, 4))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("third convolution", HEAD + DEEP + "out = net(torch.randn(4, 1, 28, 28))\n", line=8),
        Snippet("pooling as a function", HEAD + "def shrink(x):\n    return F.max_pool2d(F.max_pool2d(x, 2), 4)\n\n"
                "out = shrink(torch.rand(2, 3, 6, 6))\n", line=6),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for misfit in misfits(program):
            if misfit.kind == KERNEL:
                yield self.finding(program, misfit.op.node, misfit.message)
