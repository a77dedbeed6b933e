from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Collection, Const, Item, Value, constant, resolved
from netmend.program.meaning.losses import losses
from netmend.program.meaning.operations import LAYOUT, operation, origins
from netmend.program.text.edits import replace
from netmend.vocabulary.finding import Finding, Fix

_MAKERS = ("torch.Tensor", "torch.FloatTensor")
_KEEP_TYPE = LAYOUT - {"float", "double", "half", "bfloat16", "type", "type_as"} - {"to"} | {"cuda"}
HEAD = "import torch\nfrom torch import nn\n\nnet = nn.Linear(2, 2)\nx = torch.randn(4, 2)\n"


@register
class FloatTensorForWholeNumbers(StaticRule):
    """`torch.Tensor([0, 1])` makes float32, and the result is used as class ids or indices; or a single number is read as a size.

    `torch.Tensor` is the float32 type, not a converter. Class ids and indices must be whole numbers, so the loss, the embedding or
    the indexing refuses them. `torch.Tensor(5)` is worse: five numbers that nobody set.

    Use `torch.tensor([0, 1])`, which keeps the type, and `torch.tensor(5.0)` for one number.
    """

    code = "S704"
    cause = "INP-TYPE"
    message = "torch.Tensor makes float32, but class ids and indices must be integers: torch.tensor([...])."
    triggers = ("torch.Tensor(", "FloatTensor(", "Tensor(")

    GOOD = (
        Snippet("tensor keeps the type", HEAD + "y = torch.tensor([0, 1, 0, 1])\nloss = nn.functional.cross_entropy(net(x), y)\n"),
        Snippet("made whole", HEAD + "y = torch.Tensor([0, 1, 0, 1]).long()\nloss = nn.functional.cross_entropy(net(x), y)\n"),
        Snippet("float targets", HEAD + "y = torch.Tensor([[0, 1], [1, 0]])\nloss = nn.functional.mse_loss(net(x), y)\n"),
        Snippet("probabilities", HEAD + "y = torch.Tensor([[0.1, 0.9], [0.5, 0.5]])\nloss = nn.functional.cross_entropy(net(x), y)\n"),
        Snippet("room for values", HEAD + "weight = nn.Parameter(torch.Tensor(5))\nnn.init.normal_(weight)\n"),
        Snippet("class weights", HEAD + "loss = nn.CrossEntropyLoss(weight=torch.Tensor([1, 5]))(net(x), y)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("class ids", HEAD + "y = torch.Tensor([0, 1, 0, 1])\nloss = nn.CrossEntropyLoss()(net(x), y)\n", line=6,
                fixed=HEAD + "y = torch.tensor([0, 1, 0, 1])\nloss = nn.CrossEntropyLoss()(net(x), y)\n"),
        Snippet("indices", HEAD + "table = nn.Embedding(10, 3)\nrows = table(torch.Tensor([1, 2, 3]))\n", line=7),
        Snippet("one number read as a size", HEAD + "scaled = net(x) * torch.Tensor(2)\n", line=6),
        Snippet("a real number", HEAD + "rate = torch.FloatTensor(0.5)\n", line=6),
        Snippet("weight of the loss", HEAD + "loss = nn.BCEWithLogitsLoss(pos_weight=torch.Tensor(3))\n", line=6),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for use in losses(program):
            if use.kind in ("cross_entropy", "nll"):
                yield from self._whole(program, use.target, one_axis=True)
        for event in program.calls:
            op = operation(event.call)
            if op is not None and op.name == "embedding" and op.layer is not None:
                yield from self._whole(program, op.input)
        for event in program.calls_of(*_MAKERS):
            call = event.call
            if call is None or len(call.args) != 1 or call.keywords or call.open:
                continue
            yield from self._single(program, call)

    def _whole(self, program: Program, value: Value | None, *, one_axis: bool = False) -> Iterator[Finding]:
        """Numbers written as whole ones that reach a place for whole numbers as float32."""
        found = origins(value, _KEEP_TYPE)
        for made in found:
            if isinstance(made, Item):
                made = resolved(made.base)
            if (
                not isinstance(made, Call)
                or made.qualified not in _MAKERS
                or len(made.args) != 1
                or made.node is None
            ):
                return
            numbers = resolved(made.args[0])
            if not isinstance(numbers, Collection) or numbers.open or not numbers.items:
                return
            if not all(isinstance(item, Const) and type(item.value) is int for item in numbers.items):
                return
            edits = (
                replace(program, made.node.func, "torch.tensor")
                if program.source(made.node.func).startswith("torch.")
                else ()
            )
            yield self.finding(
                program, made.node, fix=Fix("Use torch.tensor", edits, "safe") if edits else None
            )

    def _single(self, program: Program, call: Call) -> Iterator[Finding]:
        number = constant(call.args[0])
        node = call.node
        if node is None:
            return
        if type(number) is float:
            yield self.finding(
                program,
                node,
                f"torch.Tensor({number}) fails: it expects a size or a list; write torch.tensor({number}).",
            )
        elif type(number) is int and _stands_for_a_number(program, node):
            text = f"torch.Tensor({number}) is {number} unset values, not the number {number}; write torch.tensor({float(number)})."
            yield self.finding(program, node, text)


def _stands_for_a_number(program: Program, node: ast.AST) -> bool:
    parent = program.parent(node)
    if isinstance(parent, ast.keyword):
        return parent.arg in ("weight", "pos_weight")
    return isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Mult | ast.Div | ast.Add | ast.Sub)
