from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.lint.edits import replace
from netmend.lint.engine.program import Program
from netmend.lint.rule import Snippet, StaticRule, register
from netmend.lint.understand.going_away import Use, uses
from netmend.vocabulary.finding import Finding, Fix

# The new name takes the same arguments and gives the same result.
_SAME = {
    "torch.ger": "outer",
    "torch.nn.functional.sigmoid": "",
    "torch.nn.utils.clip_grad_norm": "clip_grad_norm_",
    "torch.cuda.memory_cached": "memory_reserved",
    "torch.cuda.max_memory_cached": "max_memory_reserved",
}


@register
class DeprecatedInterface(StaticRule):
    """A name or argument is used that the installed version of torch still has but will take away.

    It works today, sometimes with a warning; after an update the program stops. `torch.range` also has one element more than
    `torch.arange`, and `torch.svd` returns V where `torch.linalg.svd` returns it transposed.

    Use what takes its place.
    """

    code = "S702"
    cause = "API-DEPRECATED"
    message = "This interface is deprecated in the installed version."
    advisory = True
    triggers = (
        ".qr(", ".svd(", ".cholesky(", "triangular_solve", "chain_matmul", "torch.lu(", ".ger(", ".range(", ".sigmoid(", ".tanh(", "upsample",
        "UpsamplingNearest2d", "UpsamplingBilinear2d", "NLLLoss2d", "clip_grad_norm(", "weight_norm", "cuda.amp", "cpu.amp", "Variable", "memory_cached",
        "set_default_tensor_type", "assert_allclose", "sdp_kernel", "stateless", "_utils.collate", "functorch", "uniform(", "normal(",
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
        Snippet("a function", "import torch\n\nq, r = torch.qr(a)\n", line=3),
        Snippet("outer product", "import torch as T\n\ndelta = T.ger(post, pre)\n", line=3, fixed="import torch as T\n\ndelta = T.outer(post, pre)\n"),
        Snippet("mixed precision", "from torch.cuda.amp import GradScaler\n\nscaler = GradScaler()\n", line=1),
        Snippet("an argument", "from torch import nn\n\nloss = nn.MSELoss(size_average=False)\n", line=3),
        Snippet("an initialiser", "import torch.nn.init as init\n\ndef start(layer):\n    init.xavier_uniform(layer.weight)\n", line=4),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for use in uses(program):
            if use.is_deprecated:
                yield self.finding(
                    program,
                    use.node,
                    f"{use.name} is deprecated since {use.entry.package} {use.entry.deprecated}; use {use.entry.instead}.",
                    fix=_fix(program, use),
                )


def _fix(program: Program, use: Use) -> Fix | None:
    new = _SAME.get(use.name, "")
    if not new or not isinstance(use.node, ast.Attribute):
        return None
    edits = replace(program, use.node, f"{program.source(use.node.value)}.{new}")
    return Fix(f"Use {new}", edits, "safe") if edits else None
