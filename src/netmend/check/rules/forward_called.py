from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Class, Function, Instance, Value, resolved
from netmend.program.meaning.operations import walk
from netmend.program.meaning.training import backward_calls, grad_is_off
from netmend.program.text.edits import replace
from netmend.vocabulary.finding import Finding, Fix, Related

NET = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(x)

"""


@register
class ForwardCalled(StaticRule):
    """`model.forward(x)` is called in place of `model(x)`.

    Calling the model runs hooks too: those of `torch.compile`, DDP, FSDP, pruning, spectral norm, and of tools that watch a run.
    With `forward` called directly they are all skipped, without a message. Told where the result is trained on, once per file.

    Call the model: `model(x)`.
    """

    code = "S703"
    advisory = True
    cause = "API-USAGE"
    message = "forward() is called directly, which skips every hook; call the model itself: model(x)."
    triggers = (".forward(",)

    GOOD = (
        Snippet("the model is called", NET + "net = Net()\nout = net(torch.randn(2, 4))\n"),
        Snippet("forward of the class above", NET + "class Wide(Net):\n    def forward(self, x):\n        return super().forward(x) * 2\n\nout = Wide()(x)\n"),
        Snippet("its own forward", NET + "class Head(Net):\n    def predict(self, x):\n        return self.forward(x).argmax(1)\n"),
        Snippet("a part inside another module", NET + "class Pair(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a = Net()\n\n"
                "    def forward(self, x):\n        return self.a.forward(x)\n\nPair()(torch.randn(2, 4))\n"),
        Snippet("no module", "class Tape:\n    def forward(self, seconds):\n        return seconds\n\nTape().forward(3)\n"),
        Snippet("a function with a forward", "import torch\n\nclass Square(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
                "        return x * x\n\nSquare.forward(None, 3)\n"),
        Snippet("without training", NET + "net = Net().eval()\nwith torch.no_grad():\n    print(net.forward(torch.randn(2, 4)))\n"),
        Snippet("an agent of unknown kind", "def act(agent, x):\n    return agent.forward(x)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("in the loop", NET + "net = Net()\nfor x, y in loader:\n    out = net.forward(x)\n    out.mean().backward()\n", line=14,
                fixed=NET + "net = Net()\nfor x, y in loader:\n    out = net(x)\n    out.mean().backward()\n"),
        Snippet("in a function", "import torch\n\ndef train(model: torch.nn.Module, loader, criterion, optimizer):\n    for x, y in loader:\n"
                "        optimizer.zero_grad()\n        loss = criterion(model.forward(x), y)\n        loss.backward()\n        optimizer.step()\n", line=6),
        Snippet("a container of layers", "from torch import nn\n\nnet = nn.Sequential(nn.Linear(4, 2), nn.ReLU())\nout = net.forward(x)\nout.sum().backward()\n", line=4),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        places: dict[ast.AST, None] = {}
        learnt: set[int] | None = None
        for event in program.calls:
            node = event.node
            if (
                not isinstance(node, ast.Call)
                or not isinstance(node.func, ast.Attribute)
                or node.func.attr != "forward"
            ):
                continue
            if not _is_model(_receiver(event)) or grad_is_off(event) or _in_a_module(program, node):
                continue
            if learnt is None:
                learnt = {
                    id(value)
                    for loss in backward_calls(program)
                    if loss.call is not None
                    for value in _all(loss.call)
                }
            if id(event.value) in learnt:
                places[node] = None
        for node in list(places)[:1]:
            assert isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            edits = replace(program, node.func, program.source(node.func.value))
            others = tuple(program.place(other) for other in list(places)[1:])
            related = tuple(
                Related("forward() here too", place.file, place.line, place.column) for place in others
            )
            yield self.finding(
                program, node, fix=Fix("Call the model", edits) if edits else None, related=related
            )


def _all(backward: Call) -> Iterator[Value]:
    """Everything that a backward goes through; followed calls are looked at from outside and inside."""
    for value in walk(backward.receiver):
        yield value
        if isinstance(value, Call) and value.result is not None:
            yield from value.args


def _receiver(event: Event) -> Value | None:
    call = event.call
    if call is None:
        return None
    if isinstance(call.function, Function):
        return call.function.owner if call.function.name == "forward" else None
    return resolved(call.receiver) if call.receiver is not None else None


def _is_model(value: Value | None) -> bool:
    if isinstance(value, Instance):
        return value.cls.inherits("torch.nn.Module") and value.cls.method("__call__") is None
    if isinstance(value, Call):
        return value.qualified.startswith("torch.nn.") and not value.qualified.startswith(
            "torch.nn.functional."
        )
    return getattr(value, "annotation", "") == "torch.nn.Module"


def _in_a_module(program: Program, node: ast.AST) -> bool:
    """Inside a class of modules there are reasons for it: the outer call has run the hooks."""
    for above in program.above(node):
        if isinstance(above, ast.ClassDef):
            cls = program.machine.classes.get(id(above))
            return (
                not isinstance(cls, Class)
                or not cls.is_known
                or cls.inherits("torch.nn.", "pytorch_lightning.")
            )
    return False
