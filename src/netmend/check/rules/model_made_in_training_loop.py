from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import Body, Event, Loop, always
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Instance, Value
from netmend.program.meaning.loops import is_over_epochs, is_over_loader, is_over_several, turns
from netmend.program.meaning.roles import MODEL, optimised, role, same
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
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        return self.fc(x)

"""
STEP = "opt.zero_grad()\n{0}net(x).mean().backward()\n{0}opt.step()\n"
MAKE = "net = Net()\n{0}opt = torch.optim.Adam(net.parameters())\n"


@register
class ModelMadeInTrainingLoop(StaticRule):
    """The model that a loop trains is made anew in each epoch or at each batch.

    What was learnt so far is thrown away with the old model: the loss starts again at its first value in every epoch, and at the end
    only the last one counts.

    Make model and optimiser once, before the loop.
    """

    code = "S123"
    cause = "ARC-INIT-MULTI"
    message = "The model is created again in each iteration of the training loop and loses what it learned; create it before the loop."
    triggers = (".backward(",)

    GOOD = (
        Snippet("made once", HEAD + MAKE.format("") + "for epoch in range(9):\n    for x in loader:\n        " + STEP.format("        ")),
        Snippet("one model per fold", HEAD + "for fold in range(5):\n    " + MAKE.format("    ") + "    for x in loader:\n        " + STEP.format("        ")),
        Snippet("one model per seed, trained in full", HEAD + "for seed in seeds:\n    " + MAKE.format("    ") + "    for epoch in range(9):\n        " + STEP.format("        ")),
        Snippet("made when it is needed", HEAD + "net = None\nfor epoch in range(9):\n    if net is None:\n        " + MAKE.format("        ") + "    for x in loader:\n        " + STEP.format("        ")),
        Snippet("weights are loaded into it", HEAD + "for epoch in range(9):\n    " + MAKE.format("    ") + "    net.load_state_dict(best)\n    for x in loader:\n        " + STEP.format("        ")),
        Snippet("sizes are compared", HEAD + "for size in (8, 16):\n    " + MAKE.format("    ") + "    " + STEP.format("    ")),
    )  # fmt: skip
    BAD = (
        Snippet("in each epoch", HEAD + "for epoch in range(9):\n    " + MAKE.format("    ") + "    for x in loader:\n        " + STEP.format("        "), line=13),
        Snippet("at each batch", HEAD + "def train(loader):\n    for x in loader:\n        " + MAKE.format("        ") + "        " + STEP.format("        "), line=14),
        Snippet("in a helper", HEAD + "def setup():\n    net = nn.Sequential(Net(), nn.ReLU())\n    return net, torch.optim.Adam(net.parameters())\n\n"
                "for ep in range(9):\n    net, opt = setup()\n    for x in loader:\n        " + STEP.format("        "), line=17),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for turn in turns(program):
            for model in optimised(one_optimiser(turn.step)) or ():
                model = unwrapped(model)
                if role(model) != MODEL or not isinstance(model, Instance | Call):
                    continue
                if not any(is_computed_by(loss_of(backward), model) for backward in turn.backward):
                    continue
                made = made_each_round(program, turn, model)
                if made is not None and not self._is_loaded(program, model):
                    yield self.finding(program, _site(made))

    def _is_loaded(self, program: Program, model: Value) -> bool:
        events = program.methods_of("load_state_dict")
        return any(event.call is not None and same(event.call.receiver, model) for event in events)


def _site(made: Event) -> ast.AST:
    """Where the loop itself makes it: the call of a helper, if one does it."""
    site = made.node
    for part in made.around():
        if isinstance(part, Loop):
            break
        if isinstance(part, Body) and part.call is not None and part.call.node is not None:
            site = part.call.node
    return site


def made_each_round(program: Program, turn: Round, made: Value) -> Event | None:
    """The event that makes an object in each round of the training itself: of an epoch, or of a batch."""
    loops = [turn.loop, *(part for part in turn.loop.around() if isinstance(part, Loop))]
    for event in program.entry_of(turn.loop).block.events():
        if event.node is not made.node or event.call is None or not event.loops():
            continue
        loop = event.loops()[0]
        if loop not in loops or not always(event, loop) or is_over_several(loop):
            continue
        if is_over_epochs(loop) or (loop is turn.loop and is_over_loader(loop)):
            inner = loops[: loops.index(loop)]
            return event if not any(is_over_epochs(other) for other in inner) else None
    return None
