from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import EXIT, RETURN, STORE, Event, Loop, branches_between
from netmend.program.engine.program import Program
from netmend.program.engine.values import Value
from netmend.program.meaning.loops import every_nth, is_seen_loop, runs_once, turns
from netmend.program.meaning.modes import cares, is_eval, may_switch, silent_calls, switches
from netmend.program.meaning.roles import optimised, same
from netmend.program.meaning.training import Round
from netmend.program.meaning.training_steps import loss_of, one_optimiser
from netmend.program.meaning.uses_of_models import is_computed_by, unwrapped
from netmend.vocabulary.finding import Finding

HEAD = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
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
FUNCTION = """\
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


@register
class TrainModeNotRestored(StaticRule):
    """eval() is called in the loop over epochs, and train() is never called again in it.

    From the second epoch on, the network is trained in evaluation mode: dropout does nothing, batch norm uses its running
    statistics and stops updating them. It overfits, or the statistics never fit the weights.

    Call `model.train()` at the start of each epoch, before the batch loop.
    """

    code = "S112"
    cause = "LOOP-MODE-TRAIN"
    message = "The model is switched to eval() here and never back, so training continues in evaluation mode; call train() at the start of each epoch."
    triggers = (".backward(", "optim.")

    GOOD = (
        Snippet("switched back each epoch", HEAD + "for epoch in range(9):\n    net.train()\n" + BATCHES + "    evaluate(net, val)\n"),
        Snippet("switched back after evaluation", HEAD + "for epoch in range(9):\n" + BATCHES + "    evaluate(net, val)\n    net.train()\n"),
        Snippet("evaluated after training", HEAD + "for epoch in range(9):\n" + BATCHES + "evaluate(net, val)\n"),
        Snippet("evaluated when leaving", HEAD + "for epoch in range(9):\n" + BATCHES + "    if done(epoch):\n        evaluate(net, val)\n        break\n"),
        Snippet("frozen statistics on purpose", HEAD + "for epoch in range(9):\n    net.eval()\n" + BATCHES),
        Snippet("the teacher only", HEAD + "teacher = Net()\nfor epoch in range(9):\n    teacher.eval()\n" + BATCHES),
        Snippet("a new model in each round", HEAD + "def fit(data):\n    net = Net()\n    opt = torch.optim.Adam(net.parameters())\n    for epoch in range(9):\n        for x, y in data:\n"
                "            opt.zero_grad()\n            nn.functional.cross_entropy(net(x), y).backward()\n            opt.step()\n    return evaluate(net, data)\n\nfor data in pictures:\n    fit(data)\n"),
        Snippet("nothing depends on the mode", HEAD.replace("nn.BatchNorm1d(8), ", "") + "for epoch in range(9):\n" + BATCHES + "    evaluate(net, val)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("in a helper", HEAD + "for epoch in range(9):\n" + BATCHES + "    evaluate(net, val)\n", line=13),
        Snippet("train() only before the loop", FUNCTION, line=10),
        Snippet("evaluated first", HEAD + "net.train()\nfor epoch in range(9):\n    evaluate(net, val)\n" + BATCHES, line=13),
        Snippet("each fifth epoch", HEAD + "for epoch in range(9):\n" + BATCHES + "    if epoch % 5 == 0:\n        evaluate(net, val)\n", line=13),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        found = [event for event in switches(program) if is_eval(event)]
        for turn in turns(program) if found else ():
            for switch in found:
                model = unwrapped(switch.call.receiver) if switch.call and switch.call.receiver else None
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
        if owners is not None and not any(same(unwrapped(owner), model) for owner in owners):
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
            if event.kind == STORE and event.target is not None and event.target.name == "training":
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
