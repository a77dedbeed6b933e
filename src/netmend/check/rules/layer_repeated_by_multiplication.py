from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Collection, Element, Operation, Value, constant, resolved
from netmend.program.meaning.modules import learns
from netmend.program.text.edits import replace
from netmend.vocabulary.finding import Finding, Fix

HEAD = "import torch\nfrom torch import nn\n\n"
_HOLDERS = ("torch.nn.ModuleList", "torch.nn.Sequential")


@register
class LayerRepeatedByMultiplication(StaticRule):
    """A list with one layer is multiplied: `[nn.Linear(8, 8)] * 3`.

    That makes one layer and three references to it: all "copies" share their weights, so the network is as deep as written but has the
    parameters of a single layer.

    Make each of them: `[nn.Linear(8, 8) for _ in range(3)]`. If sharing is meant, call the one layer several times.
    """

    code = "S326"
    cause = "ARC-STRUCT-SUBOPT"
    message = "Every entry of this list is the same layer with shared weights; create a new one each time: [… for _ in range(n)]."
    triggers = ("] *", "]*", "* [", "*[")
    patterns = (
        r"\[[^\]\n]*(?:nn\.|ayer|Linear|lock|Conv)[^\]\n]*\]\s*\*|\*\s*\[[^\]\n]*(?:nn\.|ayer|Linear|lock|Conv)",
    )

    GOOD = (
        Snippet("made one by one", HEAD + "net = nn.Sequential(*[nn.Linear(8, 8) for _ in range(3)])\n"),
        Snippet("nothing to learn", HEAD + "acts = nn.ModuleList([nn.ReLU()] * 3)\n"),
        Snippet("numbers", HEAD + "sizes = [64] * 3\nnet = nn.Sequential(*[nn.Linear(n, n) for n in sizes])\n"),
        Snippet("classes", HEAD + "kinds = [nn.Linear] * 3\nnet = nn.ModuleList([kind(2, 2) for kind in kinds])\n"),
        Snippet("shared in the open", HEAD + "layer = nn.Linear(8, 8)\n\ndef run(x):\n    for _ in range(3):\n        x = torch.relu(layer(x))\n    return x\n"),
    )  # fmt: skip
    BAD = (
        Snippet("in a Sequential", HEAD + "net = nn.Sequential(*[nn.Linear(8, 8)] * 3)\n", line=4,
                fixed=HEAD + "net = nn.Sequential(*[nn.Linear(8, 8) for _ in range(3)])\n"),
        Snippet("in a ModuleList", HEAD + "class Net(nn.Module):\n    def __init__(self, depth):\n        super().__init__()\n        self.layers = nn.ModuleList([nn.Conv2d(8, 8, 3)] * depth)\n", line=7,
                fixed=HEAD + "class Net(nn.Module):\n    def __init__(self, depth):\n        super().__init__()\n        self.layers = nn.ModuleList([nn.Conv2d(8, 8, 3) for _ in range(depth)])\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for event in program.calls_of(*_HOLDERS):
            for value in event.call.args if event.call is not None else ():
                value = resolved(value.iterable) if isinstance(value, Element) else resolved(value)
                repeated = _repeated(value)
                if repeated is not None and value.node is not None:
                    yield self.finding(program, value.node, fix=_fix(program, value.node))


def _repeated(value: Value) -> Value | None:
    """The layer in `[layer] * n`, made right there."""
    if not isinstance(value, Operation) or value.operator != "*":
        return None
    for part, times in (value.operands, value.operands[::-1]):
        listed = resolved(part)
        if isinstance(listed, Collection) and listed.kind == "list" and len(listed.items) == 1:
            if constant(times, 2) == 1 or not learns(listed.items[0]):
                return None
            made = listed.node.elts[0] if isinstance(listed.node, ast.List) and listed.node.elts else None
            return listed.items[0] if isinstance(made, ast.Call) else None
    return None


def _fix(program: Program, node: ast.AST) -> Fix | None:
    if not isinstance(node, ast.BinOp) or program.module_of(node) is not program.module:
        return None
    listed, times = (node.left, node.right) if isinstance(node.left, ast.List) else (node.right, node.left)
    if not isinstance(listed, ast.List):
        return None
    edits = replace(
        program, node, f"[{program.source(listed.elts[0])} for _ in range({program.source(times)})]"
    )
    return Fix("Create a layer for each entry", edits, "unsafe") if edits else None
