from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.check.rules.model_made_in_training_loop import made_each_round
from netmend.program.engine.history import STORE, Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Const, Instance, Param, Value, constant, resolved
from netmend.program.meaning.loops import changes_in, made_in, turns
from netmend.program.meaning.roles import MODEL, optimised, role
from netmend.program.meaning.training_steps import one_optimiser
from netmend.vocabulary.finding import Finding

HEAD = """\
import torch
from torch import nn, optim

"""
STEP = "opt.zero_grad()\n{0}net(x).mean().backward()\n{0}opt.step()\n"
STATELESS = frozenset(("SGD", "ASGD", "LBFGS"))


@register
class OptimizerMadeInTrainingLoop(StaticRule):
    """The optimiser is made anew in each epoch or at each batch while the model goes on.

    Momentum and the running averages of Adam are lost each time: at each batch Adam then makes steps of full size in the direction of
    the sign of the gradient, and any schedule starts again.

    Make the optimiser once, before the loop; to change the rate, use a scheduler or `param_groups`.
    """

    code = "S124"
    cause = "OPT-PARAMS"
    message = "The optimiser is created again in each iteration of the training loop and loses its momentum and averages; create it before the loop."
    triggers = (".backward(",)

    GOOD = (
        Snippet("made once", HEAD + "net = nn.Linear(4, 3)\nopt = optim.Adam(net.parameters())\nfor epoch in range(9):\n    for x in loader:\n        " + STEP.format("        ")),
        Snippet("one per fold", HEAD + "for fold in range(5):\n    net = nn.Linear(4, 3)\n    opt = optim.Adam(net.parameters())\n    for x in loader:\n        " + STEP.format("        ")),
        Snippet("nothing to lose", HEAD + "net = nn.Linear(4, 3)\nfor epoch in range(9):\n    opt = optim.SGD(net.parameters(), lr=0.1)\n    for x in loader:\n        " + STEP.format("        ")),
        Snippet("a new rate each epoch", HEAD + "net = nn.Linear(4, 3)\nfor epoch in range(9):\n    opt = optim.Adam(net.parameters(), lr=0.1 / (1 + epoch))\n    for x in loader:\n        "
                + STEP.format("        ")),
        Snippet("layers are set free step by step", HEAD + "net = nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 3))\nfor epoch in range(9):\n    net[0].weight.requires_grad = epoch > 5\n"
                "    opt = optim.Adam(net.parameters())\n    for x in loader:\n        " + STEP.format("        ")),
        Snippet("an input is optimised", HEAD + "net = nn.Linear(4, 3)\nfor x in loader:\n    noise = torch.zeros(4, requires_grad=True)\n    opt = optim.Adam([noise])\n    for _ in range(9):\n"
                "        opt.zero_grad()\n        net(x + noise).mean().backward()\n        opt.step()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("in each epoch", HEAD + "net = nn.Linear(4, 3)\nfor epoch in range(9):\n    opt = optim.Adam(net.parameters(), lr=0.01)\n    for x in loader:\n        " + STEP.format("        "), line=6),
        Snippet("at each batch", HEAD + "def train(net, loader):\n    for x in loader:\n        opt = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)\n        " + STEP.format("        "), line=6),
        Snippet("in the function of an epoch", HEAD + "def train_epoch(net, loader):\n    opt = optim.AdamW(net.parameters())\n    for x in loader:\n        " + STEP.format("        ")
                + "\nnet = nn.Linear(4, 3)\nfor epoch in range(9):\n    train_epoch(net, loader)\n", line=5),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for turn in turns(program):
            optimiser = one_optimiser(turn.step)
            made = resolved(optimiser) if optimiser is not None else None
            if not isinstance(made, Call) or not _has_state(made):
                continue
            event = made_each_round(program, turn, made)
            if event is not None and self._goes_on(program, event, made):
                yield self.finding(program, event.node)

    def _goes_on(self, program: Program, event: Event, made: Call) -> bool:
        """The same model is trained on with the same settings in the next round."""
        loop = event.loops()[0]
        owners = optimised(made)
        if not owners or any(made_in(program, owner, loop) or not _is_model(owner) for owner in owners):
            return False
        settings = (*made.args[1:], *made.keywords.values())
        if any(changes_in(value, loop) for value in settings):
            return False
        return not any(
            other.kind == STORE and other.target is not None and other.target.name in ("requires_grad", "lr")
            for other in loop.events()
        ) and not any(
            other.call is not None and other.call.method == "requires_grad_" for other in loop.events()
        )


def _is_model(value: Value) -> bool:
    return role(value) == MODEL and isinstance(resolved(value), Call | Instance | Param)


def _has_state(optimiser: Call) -> bool:
    kind = optimiser.qualified.rpartition(".")[2]
    momentum = optimiser.argument("momentum", 2)
    if kind == "SGD":
        return momentum is not None and not (isinstance(momentum, Const) and not constant(momentum))
    return kind not in STATELESS
