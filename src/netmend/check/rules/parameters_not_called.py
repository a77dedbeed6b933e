from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Attribute, Value
from netmend.program.meaning.arguments import argument_node
from netmend.program.meaning.optimisers import made_optimisers
from netmend.program.meaning.roles import MODEL, role
from netmend.program.text.edits import wrap
from netmend.vocabulary.finding import Finding, Fix

HEAD = "import torch\nfrom torch import nn\n\nnet = nn.Linear(4, 2)\n"


@register
class ParametersNotCalled(StaticRule):
    """The optimiser is given the method `model.parameters` instead of what it returns.

    The program stops with "'method' object is not iterable" as soon as the line is reached.

    Call it: `model.parameters()`.
    """

    code = "S411"
    cause = "OPT-PARAMS"
    message = "parameters is a method; call it: parameters()."
    triggers = (".parameters",)

    GOOD = (
        Snippet("called", HEAD + "opt = torch.optim.Adam(net.parameters())\n"),
        Snippet("an attribute of something else", "import torch\ndef build(setup):\n    return torch.optim.Adam(setup.parameters, lr=1e-3)\n"),
        Snippet("a list kept in the model", "import torch\nfrom torch import nn\nclass Net(nn.Module):\n    def __init__(self):\n"
                "        super().__init__()\n        self.parameters = [torch.zeros(2, requires_grad=True)]\n        self.opt = torch.optim.SGD(self.parameters, lr=0.1)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("brackets forgotten", HEAD + "opt = torch.optim.Adam(net.parameters, lr=1e-3)\n", line=5,
                fixed=HEAD + "opt = torch.optim.Adam(net.parameters(), lr=1e-3)\n"),
        Snippet("by keyword", "from torch import optim\ndef build(model):\n    return optim.SGD(params=model.parameters, lr=0.1)\n", line=3,
                fixed="from torch import optim\ndef build(model):\n    return optim.SGD(params=model.parameters(), lr=0.1)\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for made in made_optimisers(program):
            given = made.call.argument("params", 0)
            node = argument_node(made.call.node, "params", 0)
            if isinstance(node, ast.Attribute) and node.attr == "parameters" and _is_method(given):
                edits = wrap(program, node, "", "()")
                yield self.finding(
                    program, node, fix=Fix("Call parameters()", edits, "safe") if edits else None
                )


def _is_method(value: Value | None) -> bool:
    return isinstance(value, Attribute) and value.name == "parameters" and role(value.base) == MODEL
