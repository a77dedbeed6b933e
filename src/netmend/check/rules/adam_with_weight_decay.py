from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.optimisers import made_optimisers
from netmend.program.meaning.settings import number
from netmend.program.text.edits import replace
from netmend.vocabulary.finding import Finding, Fix

HEAD = "import torch\nfrom torch import nn\n\nnet = nn.Linear(4, 2)\n"


@register
class AdamWithWeightDecay(StaticRule):
    """Adam is given a weight decay.

    Adam adds the decay to the gradient and then divides by the gradient's size, so weights with large gradients are hardly
    decayed at all. AdamW decays all weights alike, which is what weight decay means elsewhere and generalises better.

    Use `torch.optim.AdamW`; the decay then needs a larger value (0.01 is its default).
    """

    code = "S407"
    cause = "OPT-SELECT"
    message = "Adam scales weight decay by the gradients; use AdamW."
    advisory = True
    triggers = ("weight_decay",)

    GOOD = (
        Snippet("AdamW", HEAD + "opt = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=0.01)\n"),
        Snippet("no decay", HEAD + "opt = torch.optim.Adam(net.parameters(), lr=1e-3, weight_decay=0)\n"),
        Snippet(
            "decoupled by option",
            HEAD
            + "opt = torch.optim.Adam(net.parameters(), weight_decay=0.01, decoupled_weight_decay=True)\n",
        ),
    )
    BAD = (
        Snippet("Adam with decay", HEAD + "opt = torch.optim.Adam(net.parameters(), weight_decay=1e-4)\n", line=5,
                fixed=HEAD + "opt = torch.optim.AdamW(net.parameters(), weight_decay=1e-4)\n"),
        Snippet("in groups", "from torch.optim import Adam\ndef build(model):\n"
                "    return Adam([{'params': model.parameters(), 'weight_decay': 0.01}], lr=1e-3)\n", line=3),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for made in made_optimisers(program):
            if made.kind != "Adam" or "decoupled_weight_decay" in made.call.keywords:
                continue
            if any((number(program, value) or 0) > 0 for value in made.options("weight_decay")):
                yield self.finding(program, made.event.node, fix=_fix(program, made.event.node))


def _fix(program: Program, node: ast.AST) -> Fix | None:
    function = node.func if isinstance(node, ast.Call) else None
    if not isinstance(function, ast.Attribute) or function.attr != "Adam":
        return None
    edits = replace(program, function, program.source(function) + "W")
    return Fix("Use AdamW", edits, "unsafe") if edits else None
