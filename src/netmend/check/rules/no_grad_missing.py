from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import Event, Loop, before
from netmend.program.engine.program import Program
from netmend.program.engine.values import Value
from netmend.program.meaning.kept_graphs import feeds_backward
from netmend.program.meaning.loops import changes_in, is_seen_loop
from netmend.program.meaning.modes import calls_of_model, is_eval, may_switch, switches
from netmend.program.meaning.training import grad_is_off, is_backward
from netmend.program.meaning.training_steps import is_written
from netmend.program.meaning.uses_of_models import unwrapped
from netmend.vocabulary.finding import Finding

HEAD = """\
import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
"""
FUNCTION = """\
import torch
from torch import nn

def accuracy(model, loader):
    model.eval()
    hits = 0
    for x, y in loader:
        hits += (model(x).argmax(1) == y).sum().item()
    return hits

"""


@register
class NoGradMissing(StaticRule):
    """A model in evaluation mode is applied in a loop with gradients switched on.

    Each forward pass builds a graph that nobody uses: more memory and time than needed, up to running out of memory with batches
    that fit in training.

    Put the loop under `with torch.no_grad():` or `torch.inference_mode()`.
    """

    code = "S114"
    cause = "LOOP-NO-GRAD"
    message = "This evaluation builds a graph that is never used; put it under torch.no_grad() or torch.inference_mode()."
    advisory = True
    triggers = (".eval(",)

    GOOD = (
        Snippet("under no_grad", HEAD + "net.eval()\nwith torch.no_grad():\n    for x, y in data:\n        print(net(x).argmax(1))\n"),
        Snippet("decorated", "import torch\n\n@torch.no_grad()" + FUNCTION.partition("nn\n")[2].replace("\n\n", "\n", 1) + "print(accuracy(torch.nn.Linear(4, 2), data))\n"),
        Snippet("caller unknown", FUNCTION),
        Snippet("attack on a fixed network", HEAD + "net.eval()\nfor x, y in data:\n    x.requires_grad_()\n    net(x).sum().backward()\n    show(x.grad)\n"),
        Snippet("training mode again", HEAD + "net.eval()\nnet.train()\nfor x, y in data:\n    print(net(x))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("after eval()", HEAD + "net.eval()\nfor x, y in data:\n    print(net(x).argmax(1))\n", line=7),
        Snippet("in a function", FUNCTION + "print(accuracy(nn.Linear(4, 2), data))\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for switch in switches(program):
            call = switch.call
            if (
                call is None
                or call.receiver is None
                or not is_eval(switch)
                or program.entry_of(switch).kind != "file"
            ):
                continue
            model = unwrapped(call.receiver)
            for event in calls_of_model(list(program.entry_of(switch).block.events()), model):
                loop = next(iter(event.loops()), None)
                if (
                    loop is None
                    or event.order < switch.order
                    or not before(switch, event)
                    or grad_is_off(event)
                ):
                    continue
                if self._is_evaluation(program, switch, event, loop, model):
                    yield self.finding(program, event.node)

    def _is_evaluation(self, program: Program, switch: Event, event: Event, loop: Loop, model: Value) -> bool:
        between = [other for other in switches(program) if switch.order < other.order < event.order]
        if any(not is_eval(other) and may_switch(other, model) for other in between):
            return False
        if event.call is None or not any(changes_in(argument, loop) for argument in event.call.args):
            return False
        if not is_seen_loop(program, loop) or any(
            is_backward(other) or is_written(other) for other in loop.events()
        ):
            return False
        if any(
            isinstance(node, ast.Attribute) and node.attr.startswith("requires_grad")
            for node in ast.walk(loop.node)
        ):
            return False
        return not feeds_backward(program, event.value)
