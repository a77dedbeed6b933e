from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.tensors import is_tensor
from netmend.vocabulary.finding import Finding


@register
class TensorOfTensor(StaticRule):
    """`torch.tensor` is given a tensor.

    It copies the numbers and cuts the copy off from the graph, with a warning in each call. Where a gradient was meant to flow
    through, none does.

    Write `x.detach().clone()` for a copy, `x.to(dtype)` for another type, or use `x` itself.
    """

    code = "S716"
    cause = "API-USAGE"
    message = (
        "torch.tensor() of a tensor copies it and cuts the graph; write x.detach().clone() or x.to(dtype)."
    )
    advisory = True
    triggers = ("torch.tensor(", "tensor(")

    GOOD = (
        Snippet("a list", "import torch\n\nx = torch.tensor([1.0, 2.0])\ny = x.detach().clone()\n"),
        Snippet("a number", "import torch\n\nx = torch.randn(3)\ny = torch.tensor(x.mean().item())\n"),
        Snippet("of unknown kind", "import torch\n\ndef convert(x):\n    return torch.tensor(x)\n"),
    )
    BAD = (
        Snippet("a copy", "import torch\n\nx = torch.randn(3)\ny = torch.tensor(x)\n", line=4),
        Snippet(
            "another type",
            "import torch\n\nids = torch.arange(5)\nweights = torch.tensor(ids * 2, dtype=torch.float32)\n",
            line=4,
        ),
    )

    def check(self, program: Program) -> Iterator[Finding]:
        for event in program.calls_of("torch.tensor"):
            call = event.call
            if call is not None and call.args and is_tensor(call.args[0]):
                yield self.finding(program, event.node)
