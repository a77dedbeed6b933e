from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Collection, Const, Operation, Value, constant, resolved
from netmend.program.meaning.optimisers import made_optimisers
from netmend.vocabulary.finding import Finding

HEAD = "import torch\n"
_MAKERS = frozenset(
    f"torch.{name}"
    for name in ("zeros", "ones", "randn", "rand", "tensor", "full", "empty", "zeros_like", "ones_like", "randn_like", "rand_like", "eye")
)  # fmt: skip
_SAME_WHEN_THERE = frozenset(("to", "cuda", "float", "contiguous", "type", "xpu"))
_NEW = frozenset(
    ("clone", "double", "half", "view", "reshape", "unsqueeze", "squeeze", "flatten", "mul", "add", "div", "abs", "exp", "repeat",
     "expand", "transpose", "permute", "clamp", "sigmoid")
)  # fmt: skip


@register
class OptimisedTensorIsNoLeaf(StaticRule):
    """An optimiser gets a tensor that was computed from the one that requires gradients: `torch.zeros(…, requires_grad=True).to(device)`.

    The move, the reshaping or the arithmetic makes a new tensor. The optimiser refuses it ("can't optimize a non-leaf Tensor"), and
    `.grad` of the result stays empty; the tensor that was made first is lost. With `.to(device)` it works on one machine only.

    Make it where it shall be, or switch gradients on at the end: `torch.zeros(…, device=device, requires_grad=True)`.
    """

    code = "S418"
    cause = "OPT-PARAMS"
    message = "This is not the tensor that requires gradients but one computed from it; write requires_grad=True last: torch.zeros(..., device=device, requires_grad=True)."
    triggers = ("requires_grad",)
    patterns = (r"requires_grad(?:=True|_\(\s*(?:True)?\s*\))\s*\)?\s*[.*+/-]",)

    GOOD = (
        Snippet("made on the device", HEAD + "x = torch.zeros(3, device=device, requires_grad=True)\nopt = torch.optim.SGD([x], lr=0.1)\n"),
        Snippet("switched on last", HEAD + "x = torch.zeros(3).to(device).requires_grad_()\nopt = torch.optim.SGD([x], lr=0.1)\n"),
        Snippet("a copy cut off first", HEAD + "x = torch.zeros(3, requires_grad=True).to(device).detach().requires_grad_()\nopt = torch.optim.SGD([x], lr=0.1)\n"),
        Snippet("the first one is kept", HEAD + "x = torch.zeros(3, requires_grad=True)\nmoved = x.to(device)\nopt = torch.optim.SGD([x], lr=0.1)\n"),
        Snippet("stays where it is", HEAD + "x = torch.zeros(3, requires_grad=True).to('cpu')\nopt = torch.optim.SGD([x], lr=0.1)\n"),
        Snippet("a parameter", HEAD + "x = torch.nn.Parameter(torch.zeros(3) * 2)\nopt = torch.optim.SGD([x], lr=0.1)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("moved", HEAD + "noise = torch.zeros(1, 3, requires_grad=True).to(device)\noptimizer = torch.optim.Adam([noise], lr=0.01)\n", line=2),
        Snippet("scaled", HEAD + "from torch import optim\nw = torch.randn(4, 2, requires_grad=True) * 0.01\nb = torch.zeros(2, requires_grad=True)\n"
                "opt = optim.SGD([w, b], lr=0.1)\n", line=3),
        Snippet("in a function", HEAD + "def fit(shape, steps):\n    code = torch.randn(shape).requires_grad_().cuda()\n"
                "    opt = torch.optim.LBFGS(params=[{'params': [code]}])\n    return opt\n", line=3),
        Snippet("in a class", HEAD + "class Attack:\n    def __init__(self, image):\n        self.delta = torch.zeros_like(image, requires_grad=True).clone()\n"
                "        self.opt = torch.optim.Adam([self.delta])\n", line=4),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        seen: set[int] = set()
        for made in made_optimisers(program):
            for value in _given(made.call.argument("params", 0)):
                if value.node is not None and id(value) not in seen and _is_result(value):
                    seen.add(id(value))
                    yield self.finding(program, value.node)


def _given(value: Value | None) -> Iterator[Value]:
    """The tensors that stand in the optimiser's list."""
    value = resolved(value) if value is not None else None
    if isinstance(value, Collection):
        if value.kind == "dict":
            yield from _given(value.get("params"))
        elif not value.repeated:
            for item in value.items:
                yield from _given(item)
    elif isinstance(value, Call | Operation):
        yield value


def _is_result(value: Value) -> bool:
    """Is it computed from a tensor that was made with gradients on?"""
    if isinstance(value, Operation):
        return value.operator in ("+", "-", "*", "/", "neg") and any(
            _requires(resolved(part)) for part in value.operands
        )
    if not isinstance(value, Call) or value.receiver is None:
        return False
    if value.method not in _NEW and not (value.method in _SAME_WHEN_THERE and _may_move(value)):
        return False
    inner = resolved(value.receiver)
    return _requires(inner) or _is_result(inner)


def _may_move(call: Call) -> bool:
    if call.method in ("cuda", "xpu"):
        return True
    given = call.argument("device", 0)
    if call.method != "to" or given is None:
        return False
    given = resolved(given)
    if isinstance(given, Call) and given.qualified == "torch.device" and given.args:
        given = given.args[0]
    return not (isinstance(given, Const) and str(given.value).startswith("cpu"))


def _requires(value: Value) -> bool:
    """A new tensor with gradients on."""
    if not isinstance(value, Call):
        return False
    if value.method == "requires_grad_" and value.receiver is not None:
        made = resolved(value.receiver)
        is_on = constant(value.argument("requires_grad", 0), True) is True
        return is_on and isinstance(made, Call) and made.qualified in _MAKERS
    return value.qualified in _MAKERS and constant(value.keywords.get("requires_grad")) is True
