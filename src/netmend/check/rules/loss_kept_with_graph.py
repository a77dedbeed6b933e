from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import AUGMENT, STORE, Event, Loop, before
from netmend.program.engine.program import Program
from netmend.program.engine.values import Collection, Operation, Value, resolved
from netmend.program.meaning.kept_graphs import (
    carriers,
    differentiated_in,
    feeds_backward,
    is_carried,
    is_made_with_graph,
    is_output_with_graph,
)
from netmend.program.meaning.loops import is_over_loader, made_in
from netmend.program.meaning.modes import is_eval, switches
from netmend.program.meaning.training import grad_is_off, is_backward, look_at
from netmend.program.meaning.uses_of_models import holds
from netmend.program.text.edits import wrap
from netmend.vocabulary.finding import SAFE, Finding, Fix

HEAD = """\
import torch
from torch import nn
from torch.nn import functional as F

net = nn.Linear(4, 3)
opt = torch.optim.Adam(net.parameters())
total, history = 0.0, []
"""
LOOP = """\
for x, y in data:
    opt.zero_grad()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    opt.step()
"""
FUNCTION = """\
def train(model, loader, optimizer, criterion):
    running_loss = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
"""
VALIDATION = """\
import torch
from torch import nn

def validate(model, loader, criterion):
    model.eval()
    total = 0.0
    for x, y in loader:
        out = model(x)
        total += criterion(out, y){}
    return total / len(loader)

print(validate(nn.Linear(4, 3), loader, nn.MSELoss()))
"""


@register
class LossKeptWithGraph(StaticRule):
    """A loss is added up or collected as a tensor, so the graph of every batch stays in memory.

    The sum or the list holds on to everything the loss was computed from. Memory grows with each batch until it runs out, often
    hours into training.

    Keep the number: `total += loss.item()`, or the bare tensor: `loss.detach()`.
    """

    code = "S115"
    cause = "TRN-MEM"
    message = "The loss is kept together with its graph, so memory grows with every batch; keep loss.item() or loss.detach()."
    triggers = (".backward(", ".eval(")

    GOOD = (
        Snippet("numbers", HEAD + LOOP + "    total += loss.item()\n    history.append(loss.detach())\n"),
        Snippet("summed and then differentiated", HEAD + "for x, y in data:\n    total = 0\n    for part in x:\n        total += F.mse_loss(net(part), y)\n"
                "    opt.zero_grad()\n    total.backward()\n    opt.step()\n"),
        Snippet("collected and then differentiated", HEAD + "for x, y in data:\n    parts = []\n    for part in x:\n        parts.append(F.mse_loss(net(part), y))\n"
                "    opt.zero_grad()\n    torch.stack(parts).mean().backward()\n    opt.step()\n"),
        Snippet("a list of this round", HEAD + LOOP.replace("    opt.zero_grad()\n", "    now = []\n    opt.zero_grad()\n") + "    now.append(loss)\n"),
        Snippet("gradients off", HEAD + LOOP + "    with torch.no_grad():\n        total += F.mse_loss(net(x), y)\n"),
        Snippet("a function gives the number", HEAD + "def step(x, y):\n    opt.zero_grad()\n    loss = F.mse_loss(net(x), y)\n    loss.backward()\n    opt.step()\n"
                "    return loss.item()\n\nfor x, y in data:\n    total += step(x, y)\n"),
        Snippet("evaluated without gradients", VALIDATION.format(".item()")),
        Snippet("returned for a caller that may differentiate", "from torch.nn import functional as F\n\ndef total_loss(model, loader):\n    total = 0\n    for x, y in loader:\n"
                "        total += F.mse_loss(model(x), y)\n    return total\n"),
    )  # fmt: skip
    BAD = (
        Snippet("outputs of an evaluation", "import torch\nfrom torch import nn\n\nnet = nn.Linear(4, 2)\nnet.eval()\noutputs = []\nfor x, y in loader:\n    outputs.append(net(x))\nprint(torch.cat(outputs).argmax(1))\n", line=8,
                fixed="import torch\nfrom torch import nn\n\nnet = nn.Linear(4, 2)\nnet.eval()\noutputs = []\nfor x, y in loader:\n    outputs.append(net(x).detach())\nprint(torch.cat(outputs).argmax(1))\n"),
        Snippet("an attribute, written out", "import torch\n\nclass Trainer:\n    def __init__(self, net):\n        self.net, self.total = net, 0.0\n        self.opt = torch.optim.Adam(net.parameters())\n\n"
                "    def epoch(self, loader):\n        for x, y in loader:\n            self.opt.zero_grad()\n            loss = (self.net(x) - y).square().mean()\n            loss.backward()\n            self.opt.step()\n"
                "            self.total = self.total + loss\n", line=14),
        Snippet("added up", HEAD + LOOP + "    total += loss\n", line=13, fixed=HEAD + LOOP + "    total += loss.detach()\n"),
        Snippet("collected", HEAD + LOOP + "    history.append(loss)\n", line=13, fixed=HEAD + LOOP + "    history.append(loss.detach())\n"),
        Snippet("added up in a function", FUNCTION + "        running_loss += loss * x.size(0)\n    return running_loss\n", line=8,
                fixed=FUNCTION + "        running_loss += (loss * x.size(0)).detach()\n    return running_loss\n"),
        Snippet("computed again and collected", HEAD + LOOP + "    history.append(F.mse_loss(net(x), y))\n", line=13,
                fixed=HEAD + LOOP + "    history.append(F.mse_loss(net(x), y).detach())\n"),
        Snippet("written out", FUNCTION + "        running_loss = running_loss + loss\n", line=8),
        Snippet("in evaluation with gradients on", VALIDATION.format(""), line=9, fixed=VALIDATION.format(".detach()")),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        sums = (
            event
            for event in program.events
            if event.kind in (AUGMENT, STORE) and isinstance(event.value, Operation)
        )
        for event in (*sums, *program.methods_of("append")):
            loop = next(iter(event.loops()), None)
            if loop is None or grad_is_off(event):
                continue
            added = self._added(program, event, loop)
            if added is not None and self._is_kept(program, event, loop, added):
                node = event.node.value if isinstance(event.node, ast.AugAssign) else event.node
                if isinstance(node, ast.Call) and event.kind == "call" and node.args:
                    node = node.args[0]
                can_wrap = isinstance(node, ast.expr) and not isinstance(event.node, ast.Assign)
                edits = (
                    wrap(program, node, "", ".detach()") if can_wrap and isinstance(node, ast.expr) else ()
                )
                yield self.finding(program, event.node, fix=Fix("Detach it", edits, SAFE) if edits else None)

    def _added(self, program: Program, event: Event, loop: Loop) -> Value | None:
        """What is added to a sum or a list that lives longer than the round."""
        value, target = event.value, event.target
        if (
            event.kind in (AUGMENT, STORE)
            and isinstance(value, Operation)
            and value.operator == "+"
            and target is not None
        ):
            old, change = value.operands
            is_kept = is_carried(old, loop) or target.base is not None
            return change if is_kept and (event.kind == AUGMENT or old is target.old) else None
        call = event.call
        if call is not None and call.method == "append" and len(call.args) == 1 and call.receiver is not None:
            kept = resolved(call.receiver)
            if isinstance(kept, Collection) and kept.kind == "list" and not made_in(program, kept, loop):
                return call.args[0]
        return None

    def _is_kept(self, program: Program, event: Event, loop: Loop, added: Value) -> bool:
        carried = list(carriers(added))
        seen = look_at(loop)
        own = differentiated_in(loop, seen.backward)
        is_own = any(value is loss for value in carried for loss in own)
        if feeds_backward(program, event.value if event.kind != "call" else _list_of(event)):
            return False
        if is_own:
            return bool(seen.step) and not seen.opaque
        if self._is_returned(program, event):
            return False
        if not any(is_made_with_graph(program, value) for value in carried):
            is_output = any(is_output_with_graph(program, value) for value in carried)
            return is_output and self._is_evaluation(program, event, loop)
        return bool(seen.backward and seen.step) or self._is_evaluation(program, event, loop)

    def _is_returned(self, program: Program, event: Event) -> bool:
        """Given to an unknown caller, who may still differentiate it."""
        kept = event.value if event.kind != "call" else _list_of(event)
        return any(holds(entry.result, kept) for entry in program.entries if entry.kind != "file")

    def _is_evaluation(self, program: Program, event: Event, loop: Loop) -> bool:
        """A loop behind `eval()` in a program that is seen as a whole, so that no caller has switched gradients off."""
        entry = program.entry_of(event)
        if entry.kind != "file" or not (is_over_loader(loop) or _is_batches(loop)):
            return False
        if any(is_backward(other) for other in loop.events()):
            return False
        return any(is_eval(other) and before(other, event) for other in switches(program))


def _list_of(event: Event) -> Value:
    call = event.call
    return resolved(call.receiver) if call is not None and call.receiver is not None else event.value


def _is_batches(loop: Loop) -> bool:
    """`for x, y in …`"""
    return (
        isinstance(loop.node, ast.For)
        and isinstance(loop.node.target, ast.Tuple)
        and len(loop.node.target.elts) == 2
    )
