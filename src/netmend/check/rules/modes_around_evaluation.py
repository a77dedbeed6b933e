"""Modes that an evaluation needs: missing, without effect, or left on."""

from __future__ import annotations

import ast

from netmend.check.examples import NET_CLASS, TORCH
from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.history import (
    EXIT,
    RETURN,
    CallEvent,
    Event,
    Loop,
    StoreEvent,
    before,
    branches_between,
)
from netmend.program.engine.program import Program
from netmend.program.engine.values import Value, constant
from netmend.program.meaning.kept_graphs import feeds_backward
from netmend.program.meaning.loops import changes_in, every_nth, is_seen_loop, runs_once, turns
from netmend.program.meaning.models import is_computed_by
from netmend.program.meaning.modes import calls_of_model, cares, is_eval, may_switch, silent_calls, switches
from netmend.program.meaning.roles import bare, optimised, same
from netmend.program.meaning.training import (
    Round,
    backward_calls,
    grad_is_off,
    is_backward,
    is_written,
    loss_of,
    one_optimiser,
)
from netmend.program.text.queries import inside

TRAIN_HEAD = f"""{TORCH}{NET_CLASS}\
        self.layers = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))

    def forward(self, x):
        return self.layers(x)

def evaluate(model, batches):
    model.eval()
    with torch.no_grad():
        return sum((model(x).argmax(1) == y).sum() for x, y in batches)

net = Net()
opt = torch.optim.Adam(net.parameters())
"""
BATCHES = """\
    for x, y in train:
        opt.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        opt.step()
"""
TRAIN_FUNCTION = """\
import torch

def train(model, loader, val_loader, optimizer, loss_fn, epochs):
    model.train()
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            for x, y in val_loader:
                print(loss_fn(model(x), y).item())
"""


class TrainModeNotRestored(StaticRule, code="S112", cause="LOOP-MODE-TRAIN"):
    """eval() is called in the loop over epochs, and train() is never called again in it.

    From the second epoch on, the network is trained in evaluation mode: dropout does nothing, batch norm uses its running
    statistics and stops updating them. It overfits, or the statistics never fit the weights.

    Call `model.train()` at the start of each epoch, before the batch loop.
    """

    message = "The model is switched to eval() here and never back, so training continues in evaluation mode; call train() at the start of each epoch."
    triggers = (".backward(", "optim.")

    GOOD = (
        Snippet("switched back each epoch", TRAIN_HEAD + "for epoch in range(9):\n    net.train()\n" + BATCHES + "    evaluate(net, val)\n"),
        Snippet("evaluated after training", TRAIN_HEAD + "for epoch in range(9):\n" + BATCHES + "evaluate(net, val)\n"),
        Snippet("evaluated when leaving", TRAIN_HEAD + "for epoch in range(9):\n" + BATCHES + "    if done(epoch):\n        evaluate(net, val)\n        break\n"),
        Snippet("frozen statistics on purpose", TRAIN_HEAD + "for epoch in range(9):\n    net.eval()\n" + BATCHES),
        Snippet("the teacher only", TRAIN_HEAD + "teacher = Net()\nfor epoch in range(9):\n    teacher.eval()\n" + BATCHES),
        Snippet("a new model in each round", TRAIN_HEAD + "def fit(data):\n    net = Net()\n    opt = torch.optim.Adam(net.parameters())\n    for epoch in range(9):\n        for x, y in data:\n"
                "            opt.zero_grad()\n            nn.functional.cross_entropy(net(x), y).backward()\n            opt.step()\n    return evaluate(net, data)\n\nfor data in pictures:\n    fit(data)\n"),
        Snippet("nothing depends on the mode", TRAIN_HEAD.replace("nn.BatchNorm1d(8), ", "") + "for epoch in range(9):\n" + BATCHES + "    evaluate(net, val)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("in a helper", TRAIN_HEAD + "for epoch in range(9):\n" + BATCHES + "    evaluate(net, val)\n", line=13),
        Snippet("train() only before the loop", TRAIN_FUNCTION, line=10),
        Snippet("each fifth epoch", TRAIN_HEAD + "for epoch in range(9):\n" + BATCHES + "    if epoch % 5 == 0:\n        evaluate(net, val)\n", line=13),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        found = [event for event in switches(program) if is_eval(event)]
        for turn in turns(program) if found else ():
            for switch in found:
                model = bare(switch.call.receiver) if switch.call and switch.call.receiver else None
                loop = self._epochs(turn, switch)
                if model is None or loop is None or not self._is_trained(turn, model):
                    continue
                if model.node is not None and any(event.node is model.node for event in loop.events()):
                    continue  # made anew in each round, so nothing goes on with it
                if self._stays(program, loop, switch, model) and self._is_for_evaluation(
                    turn, loop, switch, model
                ):
                    yield self.finding(program, switch.node)

    def _epochs(self, turn: Round, switch: Event) -> Loop | None:
        """The innermost loop that both trains and switches."""
        around = [turn.loop, *(part for part in turn.loop.around() if isinstance(part, Loop))]
        inside = switch.loops()
        return next((loop for loop in around if loop in inside), None)

    def _is_trained(self, turn: Round, model: Value) -> bool:
        owners = optimised(one_optimiser(turn.step))
        if owners is not None and not any(same(bare(owner), model) for owner in owners):
            return False
        return any(is_computed_by(loss_of(backward), model) for backward in turn.backward)

    def _stays(self, program: Program, loop: Loop, switch: Event, model: Value) -> bool:
        """Nothing in the loop switches back, and the switch is taken again and again."""
        for branch, block in branches_between(switch, loop):
            if branch.kind != "try" and every_nth(branch.test) is None:
                return False
            if any(item.kind in (EXIT, RETURN) for item in block.items if isinstance(item, Event)):
                return False
        for event in loop.events():
            if isinstance(event, StoreEvent) and event.target.name == "training":
                return False
        backs = [event for event in switches(program) if loop in event.loops() and not is_eval(event)]
        if any(may_switch(event, model) for event in backs) or runs_once(loop):
            return False
        return is_seen_loop(program, loop)

    def _is_for_evaluation(self, turn: Round, loop: Loop, switch: Event, model: Value) -> bool:
        """Without gradients behind it; ahead of the training of the same round it may else be a way to freeze batch norm."""
        answer = cares(model)
        if answer is False:
            return False
        quiet = [event for event in silent_calls(loop, model) if event.order > switch.order]
        if switch.order > turn.backward[-1].order:
            return answer is True or bool(quiet)
        return any(event.order < turn.backward[0].order for event in quiet)


NO_GRAD_HEAD = f"""{TORCH}
net = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
"""
NO_GRAD_FUNCTION = f"""{TORCH}
def accuracy(model, loader):
    model.eval()
    hits = 0
    for x, y in loader:
        hits += (model(x).argmax(1) == y).sum().item()
    return hits

"""


class NoGradMissing(StaticRule, code="S114", cause="LOOP-NO-GRAD", advisory=True):
    """A model in evaluation mode is applied in a loop with gradients switched on.

    Each forward pass builds a graph that nobody uses: more memory and time than needed, up to running out of memory with batches
    that fit in training.

    Put the loop under `with torch.no_grad():` or `torch.inference_mode()`.
    """

    message = "This evaluation builds a graph that is never used; put it under torch.no_grad() or torch.inference_mode()."
    triggers = (".eval(",)

    GOOD = (
        Snippet("under no_grad", NO_GRAD_HEAD + "net.eval()\nwith torch.no_grad():\n    for x, y in data:\n        print(net(x).argmax(1))\n"),
        Snippet("caller unknown", NO_GRAD_FUNCTION),
        Snippet("attack on a fixed network", NO_GRAD_HEAD + "net.eval()\nfor x, y in data:\n    x.requires_grad_()\n    net(x).sum().backward()\n    show(x.grad)\n"),
        Snippet("training mode again", NO_GRAD_HEAD + "net.eval()\nnet.train()\nfor x, y in data:\n    print(net(x))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("after eval()", NO_GRAD_HEAD + "net.eval()\nfor x, y in data:\n    print(net(x).argmax(1))\n", line=7),
        Snippet("in a function", NO_GRAD_FUNCTION + "print(accuracy(nn.Linear(4, 2), data))\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for switch in switches(program):
            call = switch.call
            if call.receiver is None or not is_eval(switch) or program.entry_of(switch).kind != "file":
                continue
            model = bare(call.receiver)
            for event in calls_of_model(list(program.entry_of(switch).block.events()), model):
                loop = event.loop
                if loop is None or event.order < switch.order or not before(switch, event):
                    continue
                if grad_is_off(event):
                    continue
                if self._is_evaluation(program, switch, event, loop, model):
                    yield self.finding(program, event.node)

    def _is_evaluation(
        self, program: Program, switch: Event, event: CallEvent, loop: Loop, model: Value
    ) -> bool:
        between = [other for other in switches(program) if switch.order < other.order < event.order]
        if any(not is_eval(other) and may_switch(other, model) for other in between):
            return False
        if not any(changes_in(argument, loop) for argument in event.call.args):
            return False
        if not is_seen_loop(program, loop) or any(
            is_backward(other) or is_written(other) for other in loop.events()
        ):
            return False
        if any(node.attr.startswith("requires_grad") for node in inside(loop.node, ast.Attribute)):
            return False
        return not feeds_backward(program, event.value)


_MODES = ("torch.no_grad", "torch.enable_grad", "torch.inference_mode", "torch.autograd.no_grad", "torch.autocast", "torch.amp.autocast",
          "torch.cuda.amp.autocast")  # fmt: skip


class ModeWithoutEffect(StaticRule, code="S714", cause="LOOP-NO-GRAD", preview=True):
    """`torch.no_grad()` stands alone on a line, or gradients are switched off for good before training.

    `torch.no_grad()`, `inference_mode()` and `autocast()` act inside a `with` or as a decorator; alone they do nothing.
    `torch.set_grad_enabled(False)` is the opposite: it acts at once and until it is undone, so a later `backward()` fails.

    Write `with torch.no_grad():` around the code that it is meant for.
    """

    message = "Alone on a line this does nothing; write `with torch.no_grad():` around the code."
    triggers = ("no_grad(", "enable_grad(", "inference_mode(", "autocast(", "set_grad_enabled(")
    patterns = (
        r"^[ \t]*(?:torch|th)\.(?:autograd\.|amp\.|cuda\.amp\.)?(?:no_grad|enable_grad|inference_mode|set_grad_enabled|autocast)\(",
    )

    GOOD = (
        Snippet("with", "import torch\n\nwith torch.no_grad():\n    out = model(x)\n"),
        Snippet("off and on again", "import torch\n\ntorch.set_grad_enabled(False)\nscore = model(x)\ntorch.set_grad_enabled(True)\nmodel(x).sum().backward()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("alone", "import torch\n\ndef evaluate(model, loader):\n    model.eval()\n    torch.no_grad()\n    return [model(x) for x in loader]\n", line=5),
        Snippet("autocast alone", "from torch import autocast\n\nautocast('cuda')\nout = model(x)\n", line=3),
        Snippet("off before training", "import torch\n\ntorch.set_grad_enabled(False)\nfor x, y in loader:\n    loss = criterion(model(x), y)\n    loss.backward()\n    optimizer.step()\n",
                line=3),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for event in program.calls_of(*_MODES):
            if isinstance(program.parent(event.node), ast.Expr):
                name = event.value.qualified.rpartition(".")[2]
                yield self.finding(
                    program,
                    event.node,
                    f"Alone on a line, {name}() does nothing; write `with` before it and indent the code.",
                )
        for event in program.calls_of("torch.set_grad_enabled"):
            if (
                isinstance(program.parent(event.node), ast.Expr)
                and self._is_off(event)
                and self._stays(program, event)
            ):
                yield self.finding(
                    program,
                    event.node,
                    "Gradients stay off from here on and backward() fails; use `with torch.no_grad():` instead.",
                )

    @staticmethod
    def _is_off(event: CallEvent) -> bool:
        return constant(event.call.argument("mode", 0), True) is False

    @staticmethod
    def _stays(program: Program, off: Event) -> bool:
        """Is a backward reached with nothing that switches gradients on again?"""
        if not program.entry_of(off).complete:
            return False
        again = [*program.calls_of("torch.set_grad_enabled", "torch.enable_grad")]
        return any(
            before(off, backward) and not any(other is not off and off.order < other.order for other in again)
            for backward in backward_calls(program)
        )
