from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.removed_symbols import in_package, renamed, uses
from netmend.vocabulary.finding import Finding


@register
class DeprecatedInterface(StaticRule):
    """A name or argument is used that the installed version of torch still has but advises against.

    It works today, sometimes with a warning, and may stop after an update. Inside packages this tells also what S701 tells elsewhere.

    Use what takes its place.
    """

    code = "S702"
    cause = "API-DEPRECATED"
    message = "This interface is deprecated in the installed version."
    advisory = True
    triggers = (
        ".sigmoid(", ".tanh(", "Variable", "torch.norm(", "cuda.amp", "cpu.amp", "weight_norm", "upsample", "clip_grad_norm(", "_utils.collate", "size_average",
        "reduce=", "pretrained=", "set_default_tensor_type", "sdp_kernel", "torch.qr(", "torch.svd(", "torch.cholesky(", "torch.ger(", "torch.range(", "functorch",
        "memory_cached", "v2.ToTensor",
    )  # fmt: skip
    patterns = (r"(?!)",)  # nothing is evaluated

    GOOD = (
        Snippet("what takes its place", "import torch\n\nq, r = torch.linalg.qr(a)\nsteps = torch.arange(0, 10)\nscaler = torch.amp.GradScaler('cuda')\n"),
        Snippet("the builtin", "for i in range(10):\n    print(i)\n"),
        Snippet("methods that stay", "import torch\n\nx = torch.sigmoid(y)\nw = torch.empty(3).uniform_(0, 1)\n"),
        Snippet("a test for the version", "import torch\n\nif hasattr(torch, 'amp') and torch.__version__ > '2.4':\n    cast = torch.amp.autocast\n"
                "else:\n    cast = torch.cuda.amp.autocast\n"),
    )  # fmt: skip
    BAD = (
        Snippet("variables", "from torch.autograd import Variable\n\nx = Variable(data)\n", line=1),
        Snippet("an old name", "import torch.nn.functional as F\n\ny = F.sigmoid(x)\n", line=3),
        Snippet("in a package", "import torch\n\ndef size(x):\n    return torch.norm(x)\n", line=4, files={"__init__.py": ""}),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        may_be_old = in_package(program)
        for use in uses(program, lambda use: use.is_deprecated and (may_be_old or not use.is_announced)):
            entry = use.entry
            state = (
                "is private"
                if "._" in use.name
                else f"is deprecated since {entry.package} {entry.deprecated}"
            )
            text = f"{use.name} {state}; use {entry.instead}."
            yield self.finding(program, use.node, text, fix=renamed(program, use))
