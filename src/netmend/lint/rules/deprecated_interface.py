from __future__ import annotations

from collections.abc import Iterator

from netmend.lint.engine.program import Program
from netmend.lint.rule import Snippet, StaticRule, register
from netmend.lint.understand.going_away import renamed, uses
from netmend.vocabulary.finding import Finding


@register
class DeprecatedInterface(StaticRule):
    """A name or argument is used that the installed version of torch still has but will take away.

    It works today, sometimes with a warning, and may stop after an update.

    Use what takes its place.
    """

    code = "S702"
    cause = "API-DEPRECATED"
    message = "This interface is deprecated in the installed version."
    advisory = True
    triggers = (
        ".sigmoid(", ".tanh(", "upsample",
        "UpsamplingNearest2d", "UpsamplingBilinear2d", "NLLLoss2d", "clip_grad_norm(", "weight_norm", "cuda.amp", "cpu.amp", "Variable", "memory_cached",
        "set_default_tensor_type", "sdp_kernel", "_utils.collate", "uniform(", "normal(",
        "constant(", "orthogonal(", "size_average", "reduce=", "pretrained=", "lr_scheduler",
    )  # fmt: skip

    GOOD = (
        Snippet("what takes its place", "import torch\n\nq, r = torch.linalg.qr(a)\nsteps = torch.arange(0, 10)\nscaler = torch.amp.GradScaler('cuda')\n"),
        Snippet("the builtin", "for i in range(10):\n    print(i)\n"),
        Snippet("methods that stay", "import torch\n\nx = torch.sigmoid(y)\nw = torch.empty(3).uniform_(0, 1)\n"),
        Snippet("a test for the version", "import torch\n\nif hasattr(torch, 'amp') and torch.__version__ > '2.4':\n    cast = torch.amp.autocast\n"
                "else:\n    cast = torch.cuda.amp.autocast\n"),
    )  # fmt: skip
    BAD = (
        Snippet("clipping", "import torch\n\ntorch.nn.utils.clip_grad_norm(net.parameters(), 1.0)\n", line=3,
                fixed="import torch\n\ntorch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)\n"),
        Snippet("mixed precision", "from torch.cuda.amp import GradScaler\n\nscaler = GradScaler()\n", line=1),
        Snippet("an argument", "from torch import nn\n\nloss = nn.MSELoss(size_average=False)\n", line=3),
        Snippet("an initialiser", "import torch.nn.init as init\n\ndef start(layer):\n    init.xavier_uniform(layer.weight)\n", line=4),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for use in uses(program, lambda use: use.is_deprecated and not use.is_announced):
            entry = use.entry
            state = (
                "is private"
                if "._" in use.name
                else f"is deprecated since {entry.package} {entry.deprecated}"
            )
            text = f"{use.name} {state}; use {entry.instead}."
            yield self.finding(program, use.node, text, fix=renamed(program, use))
