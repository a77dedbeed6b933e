from __future__ import annotations

from collections.abc import Iterator

from netmend.lint.engine.program import Program
from netmend.lint.rule import Snippet, StaticRule, register
from netmend.lint.understand.heads import with_argument
from netmend.lint.understand.loss_shapes import LossShapes
from netmend.vocabulary.finding import SAFE, UNSAFE, Finding, Fix

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n\nnet = nn.Linear(4, 3)\n"
_FUNCTIONS = tuple(f"torch.nn.functional.{name}" for name in ("softmax", "log_softmax", "softmin"))
_LAYERS = ("torch.nn.Softmax", "torch.nn.LogSoftmax", "torch.nn.Softmin")


@register
class SoftmaxWithoutDim(StaticRule):
    """Softmax or log_softmax is called without saying along which axis.

    Without `dim` torch guesses by the number of axes: axis 0 for three (the batch of a sequence model), axis 1 for two or four. The guess
    is wrong for attention and sequences, silently, and it is deprecated.

    Give `dim`: 1 for (batch, classes) and pictures, -1 for sequences and attention.
    """

    code = "S219"
    cause = "ACT-DIM"
    message = (
        "{} without dim takes axis 0 of a sequence batch; give dim (-1 for the last axis, 1 for classes)."
    )
    triggers = ("softmax(", "Softmax(", "softmin(", "Softmin(")
    # No comma, no `dim=` and no lone number between the brackets, which may hold others two deep.
    pattern = r"[sS]oft(?:max|min)\((?!\s*-?\d+\s*\)|\s*dim\s*=)(?:[^,()]|\((?:[^()]|\([^()]*\))*\))*\)"

    GOOD = (
        Snippet("given", HEAD + "p = F.softmax(net(x), dim=1)\n"),
        Snippet("given by position", HEAD + "p = F.log_softmax(net(x), -1)\nq = nn.Softmax(1)\n"),
        Snippet("options unpacked", HEAD + "p = F.softmax(net(x), **options)\n"),
        Snippet("over the channels of pictures", HEAD + "p = nn.Softmax2d()(maps)\n"),
        Snippet("another function of that name", "from tools import softmax\np = softmax(x)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("function", HEAD + "p = F.softmax(net(x))\n", line=6, fixed=HEAD + "p = F.softmax(net(x), dim=-1)\n"),
        Snippet("layer", HEAD + "model = nn.Sequential(net, nn.LogSoftmax())\n", line=6, fixed=HEAD + "model = nn.Sequential(net, nn.LogSoftmax(dim=-1))\n"),
        Snippet("two axes, proven", HEAD + "p = F.log_softmax(net(torch.randn(8, 4)))\n", line=6, fixed=HEAD + "p = F.log_softmax(net(torch.randn(8, 4)), dim=1)\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        shapes: LossShapes | None = None
        for event in program.calls_of(*_FUNCTIONS, *_LAYERS):
            call = event.call
            if call is None or call.open or "dim" in call.keywords:
                continue
            is_layer = call.qualified in _LAYERS
            if len(call.args) > (0 if is_layer else 1):
                continue
            shapes = shapes or LossShapes(program)
            shape = shapes.of(call.argument("input", 0)) if not is_layer else None
            axis, how = (1, SAFE) if shape is not None and len(shape) == 2 else (-1, UNSAFE)
            edits = with_argument(program, event.node, f"dim={axis}")
            title = call.qualified.rpartition(".")[2]
            fix = Fix(f"Add dim={axis}", edits, how) if edits else None
            yield self.finding(program, event.node, self.message.format(title), fix=fix)
