from __future__ import annotations

import ast

from netmend.check.examples import TORCH
from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.library.operations import CASTS, VIEWS
from netmend.program.engine.history import CallEvent
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Param, Value, resolved
from netmend.program.meaning.number_types import is_tensor, loader_part
from netmend.program.meaning.uses import calls_given
from netmend.program.text.edits import replace
from netmend.program.text.queries import inside
from netmend.vocabulary.finding import Fix

_METHODS = ("to", "cuda", *CASTS, "bool", "detach", *VIEWS, "clamp", "contiguous", "requires_grad_")
HEAD = f"""{TORCH}\
from torch.utils.data import DataLoader

device = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Linear(10, 2)
"""


class ResultThrownAway(StaticRule, code="S706", cause="GPU-XFER-WRONG"):
    """`x.to(device)` stands alone: the tensor stays where it is, the moved copy is thrown away.

    Unlike modules, tensors are not changed by `to`, `cuda`, `float`, `detach`, `squeeze`, `view` and the like; these return a new
    tensor. The line does nothing, and the next use fails or runs on the wrong device, type or shape.

    Assign the result: `x = x.to(device)`.
    """

    message = "The result is discarded and the tensor stays unchanged; assign it."
    triggers = tuple(f".{method}(" for method in _METHODS[:-1])
    patterns = (
        r"^(?<![(\[{,]\n)[ \t]*[A-Za-z_][\w.\[\]]*\.(?:to|cuda|cpu|float|long|half|double|int|bool|detach|squeeze|unsqueeze|view|reshape|permute|transpose|contiguous|clamp|flatten|t|expand|repeat|type|clone|requires_grad)\(",
    )

    GOOD = (
        Snippet("assigned", HEAD + "for x, y in DataLoader(data):\n    x = x.to(device)\n    out = model(x)\n"),
        Snippet("a module moves itself", HEAD + "model.to(device)\nmodel.float()\n"),
        Snippet("the device is woken", HEAD + "torch.zeros(1).cuda()\n"),
        Snippet("must not fail", HEAD + "x = torch.randn(3)\ntry:\n    x.cuda()\nexcept RuntimeError:\n    device = 'cpu'\n"),
        Snippet("of that type already", "import torch\n\ndef bias(query, n):\n    bias = torch.zeros(n, n, dtype=query.dtype)\n    bias.masked_fill_(mask, -1e9)\n"
                "    bias.to(query.dtype)\n    return query + bias\n"),
        Snippet("replaced before it is used", HEAD + "x = torch.randn(3)\nif again:\n    x.detach()\n    y = torch.randn(3)\n    x = y * 2\nprint(x)\n"),
        Snippet("a model that was not moved", "import torch\n\ndef test_net(Net):\n    net = Net(3)\n    x = torch.randn(2, 3)\n    if torch.cuda.is_available():\n"
                "        x.cuda()\n    assert net(x).shape == (2, 1)\n"),
    )  # fmt: skip
    BAD = (
        mended("a batch", HEAD + "for x, y in DataLoader(data):\n    x⟨ →  = x⟩.to(device)\n    out = model(x)\n"),
        Snippet("a tensor", HEAD + "noise = torch.randn(3, 10)\nnoise.cuda()\nout = model(noise)\n", line=8),
        Snippet("in a function", "import torch\n\ndef train(model, loader, device):\n    for images, labels in loader:\n        images = images.to(device)\n"
                "        labels.to(device)\n        loss = torch.nn.functional.cross_entropy(model(images), labels)\n", line=6),
        Snippet("read before it is replaced", HEAD + "x = torch.randn(3)\nx.clamp(0, 1)\ny = x * 2\nx = y\n", line=8),
        Snippet("a shape", HEAD + "out = torch.sigmoid(model(x))\nout.squeeze()\nprint(out.shape)\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for event in program.methods_of(*_METHODS[:-1]):
            node = event.node
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            holder = node.func.value
            if not isinstance(holder, ast.Name | ast.Attribute) or not isinstance(
                program.parent(node), ast.Expr
            ):
                continue
            if _is_tried(program, node) or not _is_certain(event):
                continue
            if _is_so_already(event, node) or _is_replaced(program, node, holder):
                continue
            if _meets_others(program, event):
                continue
            name = program.source(holder)
            edits = replace(program, node, f"{name} = {program.source(node)}")
            text = f"{node.func.attr}() returns a new tensor, which is discarded; write {name} = {program.source(node)}."
            if len(text) > 160 or "\n" in text:
                text = f"{node.func.attr}() returns a new tensor, which is discarded; assign it to {name}."
            yield self.finding(program, node, text, fix=Fix("Assign the result", edits))


def _is_certain(event: CallEvent) -> bool:
    call = event.call
    receiver: Value | None = call.receiver
    return is_tensor(receiver) or loader_part(receiver) is not None


def _is_tried(program: Program, node: ast.AST) -> bool:
    for above in program.above(node):
        if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef):
            return False
        if isinstance(above, ast.Try):
            return True
        if isinstance(above, ast.With) and any(
            "raises" in program.source(item.context_expr).lower() for item in above.items
        ):
            return True
    return False


def _is_so_already(event: CallEvent, node: ast.Call) -> bool:
    """Was the tensor made with the very type or device that it is now given?"""
    call = event.call
    made = resolved(call.receiver)
    if not isinstance(made, Call) or made.node is None:
        return False
    had = {ast.dump(part.value) for part in made.node.keywords if part.arg in ("dtype", "device")}
    given = [*node.args, *(part.value for part in node.keywords)]
    return bool(given) and all(ast.dump(part) in had for part in given)


def _is_replaced(program: Program, node: ast.AST, holder: ast.expr) -> bool:
    """Is the variable given another value, in the lines that follow, before anything reads it?"""
    if not isinstance(holder, ast.Name):
        return False
    statement = program.statement(node)
    block = _block_of(program.parent(statement), statement)
    for later in block[block.index(statement) + 1 :] if block else ():
        uses = [part for part in inside(later, ast.Name) if part.id == holder.id]
        if any(isinstance(part.ctx, ast.Load) for part in uses):
            return False
        if isinstance(later, ast.Assign) and uses:
            return True
    return False


def _block_of(parent: ast.AST | None, statement: ast.stmt) -> list[ast.stmt]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(parent, name, None)
        if isinstance(block, list) and statement in block:
            return block
    return []


def _meets_others(program: Program, event: CallEvent) -> bool:
    """Does the tensor go into an object of a class that the caller gave, which nobody moved either?"""
    call = event.call
    if call.receiver is None or call.method not in ("to", "cuda"):
        return False
    moved = {
        id(resolved(other.call.receiver))
        for other in program.methods_of("to", "cuda")
        if other.call.receiver is not None
    }
    for use in calls_given(program, call.receiver):
        callee = resolved(use.call.function)
        if isinstance(callee, Call) and isinstance(callee.function, Param) and id(callee) not in moved:
            return True
    return False
