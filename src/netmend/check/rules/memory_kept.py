"""Graphs and records that are kept longer than needed."""

from __future__ import annotations

import ast

from netmend.check.examples import TORCH
from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.history import AUGMENT, STORE, Event, Loop, always, before
from netmend.program.engine.program import Program
from netmend.program.engine.values import Collection, Const, Operation, Value, constant, resolved
from netmend.program.meaning.kept_graphs import (
    carriers,
    differentiated_in,
    feeds_backward,
    is_carried,
    is_made_with_graph,
    is_output_with_graph,
)
from netmend.program.meaning.loops import call_events, is_over_loader, made_in, turns
from netmend.program.meaning.models import holds
from netmend.program.meaning.modes import is_eval, switches
from netmend.program.meaning.operations import walk
from netmend.program.meaning.statements import without_argument
from netmend.program.meaning.training import grad_is_off, is_backward, is_written, look_at, loss_of
from netmend.program.text.edits import wrap
from netmend.vocabulary.finding import SAFE, UNSAFE, Fix

LOSS_HEAD = f"""{TORCH}\
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
LOSS_FUNCTION = """\
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


class LossKeptWithGraph(StaticRule, code="S115", cause="TRN-MEM"):
    """A loss is added up or collected as a tensor, so the graph of every batch stays in memory.

    The sum or the list holds on to everything the loss was computed from. Memory grows with each batch until it runs out, often
    hours into training.

    Keep the number: `total += loss.item()`, or the bare tensor: `loss.detach()`.
    """

    message = "The loss is kept together with its graph, so memory grows with every batch; keep loss.item() or loss.detach()."
    triggers = (".backward(", ".eval(")

    GOOD = (
        Snippet("numbers", LOSS_HEAD + LOOP + "    total += loss.item()\n    history.append(loss.detach())\n"),
        Snippet("summed and then differentiated", LOSS_HEAD + "for x, y in data:\n    total = 0\n    for part in x:\n        total += F.mse_loss(net(part), y)\n"
                "    opt.zero_grad()\n    total.backward()\n    opt.step()\n"),
        Snippet("a list of this round", LOSS_HEAD + LOOP.replace("    opt.zero_grad()\n", "    now = []\n    opt.zero_grad()\n") + "    now.append(loss)\n"),
        Snippet("gradients off", LOSS_HEAD + LOOP + "    with torch.no_grad():\n        total += F.mse_loss(net(x), y)\n"),
        Snippet("evaluated without gradients", VALIDATION.format(".item()")),
    )  # fmt: skip
    BAD = (
        mended("outputs of an evaluation", "import torch\nfrom torch import nn\n\nnet = nn.Linear(4, 2)\nnet.eval()\noutputs = []\nfor x, y in loader:\n"
                "    outputs.append(net(x)⟨ → .detach()⟩)\nprint(torch.cat(outputs).argmax(1))\n"),
        Snippet("an attribute, written out", "import torch\n\nclass Trainer:\n    def __init__(self, net):\n        self.net, self.total = net, 0.0\n        self.opt = torch.optim.Adam(net.parameters())\n\n"
                "    def epoch(self, loader):\n        for x, y in loader:\n            self.opt.zero_grad()\n            loss = (self.net(x) - y).square().mean()\n            loss.backward()\n            self.opt.step()\n"
                "            self.total = self.total + loss\n", line=14),
        mended("added up", LOSS_HEAD + LOOP + "    total += loss⟨ → .detach()⟩\n"),
        mended("collected", LOSS_HEAD + LOOP + "    history.append(loss⟨ → .detach()⟩)\n"),
        mended("added up in a function", LOSS_FUNCTION + "        running_loss += ⟨loss * x.size(0) → (loss * x.size(0)).detach()⟩\n    return running_loss\n"),
        mended("computed again and collected", LOSS_HEAD + LOOP + "    history.append(F.mse_loss(net(x), y)⟨ → .detach()⟩)\n"),
        mended("in evaluation with gradients on", VALIDATION.format("⟨ → .detach()⟩")),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        sums = (
            event
            for event in program.events
            if event.kind in (AUGMENT, STORE) and isinstance(event.value, Operation)
        )
        for event in (*sums, *program.methods_of("append")):
            loop = event.loop
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
                yield self.finding(program, event.node, fix=Fix("Detach it", edits, SAFE))

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


RETAINED_HEAD = f"""{TORCH}
net = nn.Linear(4, 3)
opt = torch.optim.Adam(net.parameters())
for x in data:
    opt.zero_grad()
    loss = net(x).mean()
"""
RETAINED_FUNCTION = (
    "def train(model, loader, optimizer):\n    for x in loader:\n        optimizer.zero_grad()\n"
)


class GraphRetainedInLoop(StaticRule, code="S120", cause="TRN-MEM", advisory=True):
    """backward(retain_graph=True) is called in a loop that differentiates each graph only once.

    Keeping the graph costs memory until the next round. Most often it was added to silence "Trying to backward through the graph a
    second time", which says that something with a graph is carried from round to round: then each step goes through all rounds
    before it, slower and slower.

    Take `retain_graph=True` out; if the error comes back, detach what is carried over.
    """

    message = "The graph is kept although it is used only once per iteration; remove retain_graph=True and detach the state carried over."
    triggers = ("retain_graph",)

    GOOD = (
        Snippet("not kept", RETAINED_HEAD + "    loss.backward()\n    opt.step()\n"),
        Snippet("two losses of one graph", RETAINED_HEAD + "    loss.backward(retain_graph=True)\n    loss.square().backward()\n    opt.step()\n"),
        Snippet("second derivative", RETAINED_HEAD + "    loss.backward(retain_graph=True)\n    extra = torch.autograd.grad(loss, x)\n    opt.step()\n"),
        Snippet("an option", RETAINED_HEAD + "    loss.backward(retain_graph=again)\n    opt.step()\n"),
    )  # fmt: skip
    BAD = (
        mended("kept", RETAINED_HEAD + "    loss.backward(⟨retain_graph=True → ⟩)\n    opt.step()\n"),
        mended("kept in a function", RETAINED_FUNCTION + "        model(x).mean().backward(⟨retain_graph=True → ⟩)\n        optimizer.step()\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for turn in turns(program):
            backward = turn.backward[0]
            if len(turn.backward) != 1 or backward.call is None or backward.loops()[0] is not turn.loop:
                continue
            if constant(backward.call.keywords.get("retain_graph") or Const(False)) is not True:
                continue
            is_plain = "create_graph" not in backward.call.keywords and not any(
                map(is_written, turn.loop.events())
            )
            if is_plain and always(backward, turn.loop) and not self._is_shared(program, backward, turn.loop):
                yield self.finding(program, backward.node, fix=self._fix(program, backward))

    def _is_shared(self, program: Program, backward: Event, loop: Loop) -> bool:
        """Does a part of the graph come from outside the loop, so that later rounds need it again?"""
        for value in walk(loss_of(backward)):
            event = call_events(program).get(id(value))
            if event is not None and loop not in event.loops():
                return True
            if isinstance(value, Collection) and value.open:
                return True
        return False

    def _fix(self, program: Program, backward: Event) -> Fix | None:
        node = backward.node
        if not isinstance(node, ast.Call) or not program.module.holds(node):
            return None
        return Fix("Remove retain_graph=True", without_argument(program, node, "retain_graph"), UNSAFE)


class AnomalyDetectionLeftOn(StaticRule, code="S715", cause="API-USAGE", advisory=True):
    """Autograd's anomaly detection is switched on for all of the program.

    It records a stack trace for each operation and looks for NaN in each gradient; a step takes several times as long.

    Switch it on while looking for a NaN, by an option of the program, and leave it off otherwise.
    """

    message = "Anomaly detection stays on and makes each step several times slower; remove it once the NaN is found."
    triggers = ("detect_anomaly",)

    GOOD = (
        Snippet("by an option", "import torch\n\ntorch.autograd.set_detect_anomaly(args.debug)\n"),
        Snippet(
            "when asked for", "import torch\n\nif args.debug:\n    torch.autograd.set_detect_anomaly(True)\n"
        ),
    )
    BAD = (
        Snippet("on", "import torch\n\ntorch.autograd.set_detect_anomaly(True)\n", line=3),
        Snippet(
            "around the step",
            "import torch\n\ndef step(loss):\n    with torch.autograd.detect_anomaly():\n        loss.backward()\n",
            line=4,
        ),
    )

    def check(self, program: Program) -> Findings:
        for event in program.calls_of(
            "torch.autograd.set_detect_anomaly",
            "torch.autograd.detect_anomaly",
            "torch.autograd.anomaly_mode.set_detect_anomaly",
        ):
            call = event.call
            is_on = (
                constant(call.args[0]) is True if call.args else call.qualified.endswith(".detect_anomaly")
            )
            if is_on and not any(isinstance(above, ast.If) for above in program.above(event.node)):
                yield self.finding(program, event.node)
