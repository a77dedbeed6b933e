from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Value, constant
from netmend.program.meaning.dtypes import BOOL, INT, dtype
from netmend.vocabulary.finding import Finding


@register
class GradientForWholeNumbers(StaticRule):
    """A tensor of whole numbers or truth values is to have a gradient.

    Only floating-point tensors can; the program stops with "Only Tensors of floating point and complex dtype can require gradients".
    `torch.tensor([1, 2])` and `torch.arange(5)` hold whole numbers.

    Write the numbers with a point (`torch.tensor([1.0, 2.0])`) or give `dtype=torch.float32`.
    """

    code = "S717"
    cause = "INP-TENSOR-TYPE"
    message = "Integers cannot have a gradient; make the tensor floating-point, for example with dtype=torch.float32."
    triggers = ("requires_grad", "Parameter(")
    patterns = (
        r"requires_grad\s*=\s*True",
        r"Parameter\(\s*\w+\.(?:arange|tensor|randint|LongTensor|IntTensor)",
    )

    GOOD = (
        Snippet("floating-point", "import torch\nfrom torch import nn\n\nw = torch.tensor([1.0, 2], requires_grad=True)\np = nn.Parameter(torch.zeros(3))\n"),
        Snippet("by its type", "import torch\n\nw = torch.tensor([1, 2], dtype=torch.float32, requires_grad=True)\nv = torch.arange(5).float().requires_grad_()\n"),
        Snippet("without a gradient", "import torch\nfrom torch import nn\n\nsteps = nn.Parameter(torch.tensor([0]), requires_grad=False)\nx = torch.arange(5, requires_grad=False)\n"),
        Snippet("of unknown kind", "import torch\nfrom torch import nn\n\ndef make(values):\n    return nn.Parameter(torch.tensor(values))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("written without a point", "import torch\n\nw = torch.tensor([1, 2], requires_grad=True)\n", line=3),
        Snippet("a parameter", "import torch\nfrom torch import nn\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                "        self.scale = nn.Parameter(torch.tensor(1))\n\n    def forward(self, x):\n        return x * self.scale\n", line=7),
        Snippet("afterwards", "import torch\n\nx = torch.arange(10).reshape(2, 5)\nx.requires_grad_()\n", line=4),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for event in program.calls:
            call = event.call
            value = _wanted(call) if call is not None else None
            if value is not None and dtype(value) in (INT, BOOL):
                yield self.finding(program, event.node)


def _wanted(call: Call) -> Value | None:
    """What is to have a gradient by this call."""
    if call.qualified == "torch.nn.Parameter" or call.qualified == "torch.nn.parameter.Parameter":
        given = call.argument("requires_grad", 1)
        return call.argument("data", 0) if given is None or constant(given) is True else None
    if call.method == "requires_grad_":
        return (
            call.receiver
            if constant(call.argument("requires_grad", 0), True) is True and not _unknown(call)
            else None
        )
    if call.qualified.startswith("torch.") and constant(call.keywords.get("requires_grad")) is True:
        return call
    return None


def _unknown(call: Call) -> bool:
    return bool(call.args) and constant(call.args[0]) is not True
