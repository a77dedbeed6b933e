from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Operation, Value, resolved
from netmend.program.meaning.gradient_cuts import is_computed
from netmend.program.meaning.gradient_flow import lost
from netmend.program.meaning.operations import operation, walk
from netmend.program.meaning.training import backward_calls
from netmend.vocabulary.finding import Finding

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n\nnet = nn.Linear(4, 3)\n"
_CAN_BE_ZERO = frozenset(
    (
        "relu",
        "relu6",
        "abs",
        "square",
        "pow",
        "sum",
        "mean",
        "var",
        "std",
        "norm",
        "mse_loss",
        "mseloss",
        "l1_loss",
    )
)


@register
class ZeroInLoss(StaticRule):
    """The loss takes a root or a logarithm of, or divides by, something of the network that can be 0.

    The logarithm of 0 is minus infinity, the root has an infinite gradient there, the quotient is infinite: one such sample turns all
    weights into NaN.

    Add a small number first (`torch.sqrt(x + 1e-8)`), or clamp.
    """

    code = "S227"
    cause = "LOS-CALC"
    message = "{} has no finite gradient at 0; add a small number first, for example 1e-8."
    advisory = True
    triggers = (".backward(",)

    GOOD = (
        Snippet("small number added", HEAD + "loss = torch.sqrt(F.mse_loss(net(x), y) + 1e-8)\nloss.backward()\n"),
        Snippet("clamped", HEAD + "p = net(x).relu().clamp(min=1e-6)\nloss = -p.log().mean()\nloss.backward()\n"),
        Snippet("attention scaled by its width", HEAD + "z = net(x)\nw = (z @ z.T / z.size(-1) ** 0.5).softmax(-1)\nloss = F.mse_loss(w @ z, y)\nloss.backward()\n"),
        Snippet("divided by a count", HEAD + "loss = F.mse_loss(net(x), y, reduction='sum') / mask.sum()\nloss.backward()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("root of the mean square", HEAD + "loss = torch.sqrt(F.mse_loss(net(x), y))\nloss.backward()\n", line=6),
        Snippet("logarithm behind a ReLU", HEAD + "loss = -(torch.relu(net(x)).log() * y).mean()\nloss.backward()\n", line=6),
        Snippet("divided by its own norm", HEAD + "z = net(x)\nz = z / z.norm(dim=1, keepdim=True)\nloss = (z - y).pow(2).mean()\nloss.backward()\n", line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        seen: set[int] = set()
        for event in backward_calls(program):
            for loss in lost(event)[:1]:
                for part in walk(loss):
                    if id(part) in seen:
                        continue
                    seen.add(id(part))
                    title, inner = _risk(part)
                    if (
                        inner is not None
                        and part.node is not None
                        and _can_be_zero(inner)
                        and is_computed(inner)
                    ):
                        yield self.finding(program, part.node, self.message.format(title))


def _risk(value: Value) -> tuple[str, Value | None]:
    if isinstance(value, Operation) and value.operator == "/" and len(value.operands) == 2:
        return "A division", value.operands[1]
    op = operation(value) if isinstance(value, Call) else None
    if (
        op is not None
        and op.inputs
        and op.layer is None
        and op.name in ("log", "sqrt", "log2", "log10", "rsqrt")
    ):
        return f"{op.name}()", op.inputs[0]
    return "", None


def _can_be_zero(value: Value) -> bool:
    value = resolved(value)
    if isinstance(value, Operation):
        base = operation(resolved(value.operands[0]))
        return value.operator == "**" and (base is None or base.name not in ("size", "numel"))
    op = operation(value)
    return op is not None and op.name in _CAN_BE_ZERO
