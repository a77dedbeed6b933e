from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import STORE, Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Class, Value, constant, resolved
from netmend.program.meaning.modules import bodies, loads_of, module_classes
from netmend.program.text.edits import delete_argument, wrap
from netmend.vocabulary.finding import Finding, Fix

HEAD = "import torch\nfrom torch import nn\n\nclass Scale(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
USE = "\n    def forward(self, x):\n        return x * self.weight\n"


@register
class TensorNotRegistered(StaticRule):
    """A tensor with `requires_grad=True` is stored in a module without being an `nn.Parameter`.

    It gets gradients, but `parameters()` does not list it: the optimiser never changes it, `.to(device)` leaves it behind, and
    `state_dict()` does not save it.

    Store `nn.Parameter(torch.randn(...))`.
    """

    code = "S313"
    cause = "ARC-INIT-MODEL"
    message = "This tensor requires gradients but is not an nn.Parameter, so the optimiser never sees it; wrap it in nn.Parameter."
    triggers = ("requires_grad",)

    GOOD = (
        Snippet("parameter", HEAD + "        self.weight = nn.Parameter(torch.randn(3))\n" + USE),
        Snippet("buffer", HEAD + "        self.register_buffer('weight', torch.ones(3))\n" + USE),
        Snippet("no gradients wanted", HEAD + "        self.weight = torch.randn(3, requires_grad=False)\n" + USE),
        Snippet("no module", "import torch\n\nclass Fit:\n    def __init__(self):\n        self.weight = torch.randn(3, requires_grad=True)\n"),
        Snippet("given to the optimiser by hand", HEAD + "        self.weight = torch.randn(3, requires_grad=True)\n" + USE
                + "\nmodel = Scale()\noptimizer = torch.optim.SGD([model.weight], lr=0.1)\n"),
        Snippet("an image that is optimised", HEAD + "        self.weight = torch.randn(3, requires_grad=True)\n\n    def solve(self):\n"
                "        optimizer = torch.optim.Adam([self.weight])\n" + USE),
    )  # fmt: skip
    BAD = (
        Snippet("made with gradients", HEAD + "        self.weight = torch.randn(3, requires_grad=True)\n" + USE, line=7,
                fixed=HEAD + "        self.weight = torch.nn.Parameter(torch.randn(3))\n" + USE),
        Snippet("replaced later", HEAD + "        self.weight = torch.randn(3, requires_grad=True)\n\n    def rescale(self):\n        self.weight = self.weight / 2\n" + USE, line=7),
        Snippet("asked for later", HEAD + "        self.weight = torch.zeros(3).requires_grad_()\n" + USE, line=7),
        Snippet("old variable", HEAD + "        from torch.autograd import Variable\n        self.weight = Variable(torch.ones(3), requires_grad=True)\n" + USE, line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for cls in module_classes(program):
            for body in bodies(program, cls, "__init__")[:1]:
                for event in body.events():
                    target = event.target
                    if event.kind != STORE or target is None or target.base is None:
                        continue
                    if resolved(target.base) is not body.function.owner or not _wants_gradients(event.value):
                        continue
                    if loads_of(cls, target.name, outside="__init__") and not _is_used_by_hand(
                        program, target.name
                    ):
                        fix = None if _is_set_again(cls, target.name) else _fix(program, event)
                        yield self.finding(program, event.node, fix=fix)


def _is_set_again(cls: Class, name: str) -> bool:
    """A parameter cannot be replaced by a tensor later."""
    nodes = [node for method in cls.methods.values() for node in ast.walk(method.definition)]
    stored = (node for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store))
    return sum(node.attr == name for node in stored) > 1


def _wants_gradients(value: Value) -> bool:
    if not isinstance(value, Call):
        return False
    if value.method == "requires_grad_":
        made = resolved(value.receiver) if value.receiver is not None else None
        asked = value.argument("requires_grad", 0)
        return isinstance(made, Call) and _makes_tensor(made) and (asked is None or constant(asked) is True)
    return _makes_tensor(value) and constant(value.keywords.get("requires_grad")) is True


def _makes_tensor(call: Call) -> bool:
    name = call.qualified
    return name == "torch.autograd.Variable" or (
        name.startswith("torch.") and name.count(".") == 1 and name.rpartition(".")[2][:1].islower()
    )


def _is_used_by_hand(program: Program, name: str) -> bool:
    """Is it given to an optimiser, or to anything that may be one, or listed, or made a parameter later?"""
    for node in ast.walk(program.tree):
        if isinstance(node, ast.List | ast.Tuple | ast.Dict | ast.Call | ast.keyword):
            for child in ast.iter_child_nodes(node):
                if (
                    isinstance(child, ast.Attribute)
                    and child.attr == name
                    and isinstance(child.ctx, ast.Load)
                ):
                    if isinstance(node, ast.Call) and child is node.func:
                        continue
                    if isinstance(node, ast.Call) and _is_tensor_function(node):
                        continue
                    return True
        if isinstance(node, ast.FunctionDef) and node.name in ("parameters", "named_parameters"):
            return True
    return False


def _is_tensor_function(node: ast.Call) -> bool:
    """`torch.matmul(x, self.weight)`, `F.linear(x, self.weight)`."""
    base = node.func.value if isinstance(node.func, ast.Attribute) else None
    return isinstance(base, ast.Name) and base.id in ("torch", "F")


def _fix(program: Program, event: Event) -> Fix | None:
    call = event.value.node if isinstance(event.value, Call) else None
    if call is None or not isinstance(event.value, Call) or not event.value.qualified.startswith("torch."):
        return None
    keyword = next((word for word in call.keywords if word.arg == "requires_grad"), None)
    if (
        keyword is None
        or not program.source(call).startswith("torch.")
        or len(call.keywords) + len(call.args) < 2
    ):
        return None
    around, gone = wrap(program, call, "torch.nn.Parameter(", ")"), delete_argument(program, call, keyword)
    return Fix("Make it a parameter", (*around, *gone), "unsafe") if around and gone else None
