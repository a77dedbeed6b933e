from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import STORE, Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import Const, resolved
from netmend.program.meaning.gradient_cuts import compared, is_computed, is_forced
from netmend.program.meaning.gradient_flow import lost
from netmend.program.meaning.heads import where
from netmend.program.meaning.training import backward_calls
from netmend.vocabulary.finding import Finding

HEAD = """\
import torch
from torch import nn
from torch.autograd import Variable

net = nn.Linear(4, 3)
criterion = nn.CrossEntropyLoss()
"""


@register
class GradientForcedOnLoss(StaticRule):
    """The loss is told to require a gradient just before backward().

    A loss that was computed from trainable weights requires a gradient by itself. Forcing it makes the error message go away and leaves
    the loss a lonely leaf: `backward()` runs, no weight gets a gradient, nothing is learned.

    Remove it and find what cuts the path: `.data`, `.item()`, `.detach()`, numpy, argmax, `no_grad`, or frozen weights.
    """

    code = "S223"
    cause = "LOS-GRAPH-CUT"
    message = "Forcing requires_grad on the loss hides a cut graph: backward() reaches no weight. Remove it and fix the cut."
    triggers = ("requires_grad = True", "requires_grad=True", "requires_grad_(")
    patterns = (r"\.backward\(",)

    GOOD = (
        Snippet("input that needs a gradient", HEAD + "x.requires_grad = True\nloss = criterion(net(x), y)\nloss.backward()\n"),
        Snippet("start of a sum", HEAD + "loss = torch.zeros(1, requires_grad=True)\nfor x, y in loader:\n    loss = loss + criterion(net(x), y)\nloss.backward()\n"),
        Snippet("weights made by hand", HEAD + "w = torch.tensor(start, requires_grad=True)\nloss = ((x @ w - y) ** 2).mean()\nloss.backward()\n"),
        Snippet("no sample in this batch", HEAD + "if mask.any():\n    loss = criterion(net(x[mask]), y[mask])\nelse:\n    loss = torch.tensor(0.0, requires_grad=True)\nloss.backward()\n"),
        Snippet("gradient handed over in two steps", HEAD + "h = net(x)\nleaf = h.detach().requires_grad_()\nloss = criterion(leaf, y)\nloss.backward()\nh.backward(leaf.grad)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("attribute set", HEAD + "out = net(x).argmax(1).float()\nloss = nn.functional.mse_loss(out, y)\nloss.requires_grad = True\nloss.backward()\n", line=9),
        Snippet("new tensor from the number", HEAD + "loss = torch.tensor(criterion(net(x), y).item(), requires_grad=True)\nloss.backward()\n", line=7),
        Snippet("old variable", HEAD + "for x, y in loader:\n    loss = criterion(net(x), y)\n    loss = Variable(loss.data, requires_grad=True)\n    loss.backward()\n", line=9),
        Snippet("as a method", HEAD + "loss = criterion(net(x).detach(), y).requires_grad_()\nloss.backward()\n", line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        stores: dict[int, Event] | None = None
        for event in backward_calls(program):
            if stores is None:
                stores = _stores(program)
            for loss in lost(event)[:1]:
                value = resolved(loss)
                store = stores.get(id(value))
                if store is not None and store.order < event.order and is_computed(value):
                    yield self.finding(program, store.node, related=where(program, "backward()", event.node))
                elif is_forced(value) and compared(value) is None:
                    yield self.finding(
                        program, value.node or event.node, related=where(program, "backward()", event.node)
                    )


def _stores(program: Program) -> dict[int, Event]:
    """`value.requires_grad = True`, by value."""
    return {
        id(resolved(event.target.base)): event
        for event in program.events
        if event.kind == STORE
        and event.target is not None
        and event.target.name == "requires_grad"
        and event.target.base is not None
        and isinstance(event.value, Const)
        and event.value.value is True
    }
