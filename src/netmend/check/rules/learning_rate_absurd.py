from __future__ import annotations

import math
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.models import is_module
from netmend.program.meaning.optimisers import (
    ADAM_FAMILY,
    Made,
    groups_are_changed,
    handed_on,
    is_stepped,
    made_optimisers,
)
from netmend.program.meaning.settings import number
from netmend.vocabulary.finding import Finding

HEAD = "import torch\nfrom torch import nn\n\nnet = nn.Linear(4, 2)\n"
LOOP = "for x, y in data:\n    opt.zero_grad()\n    net(x).sum().backward()\n    opt.step()\n"
PARSER = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--lr', type=float, default={0})\nargs = parser.parse_args()\n"


@register
class LearningRateAbsurd(StaticRule):
    """The learning rate is zero, negative, vanishing, or far above what the optimiser can bear.

    Adam moves every weight by about the rate in each step, whatever the gradient: with 1 or more the network is destroyed at
    once. SGD diverges with 10 or more (momentum multiplies the step). With 1e-9 or less nothing moves in any sensible time.

    Usual values: Adam 1e-4 to 1e-2, SGD 1e-3 to 1, then lower with a schedule.
    """

    code = "S405"
    cause = "HYP-LR-HIGH"
    message = "This learning rate cannot work."
    triggers = ("optim.", "optim import")

    adam_limit = 1.0  # a step then changes each weight by 1, many times its usual size
    sgd_limit = 10.0  # plain SGD; no published recipe for a network goes there
    sgd_momentum_limit = 20.0  # rate / (1 - momentum), the length of a step in the long run
    vanishing = 1e-9  # below the resolution of float32 weights near 1 for any usual gradient

    GOOD = (
        Snippet("a usual rate", HEAD + "opt = torch.optim.Adam(net.parameters(), lr=1e-3)\n" + LOOP),
        Snippet("the schedule sets the rate", HEAD + "opt = torch.optim.Adam(net.parameters(), lr=1.0)\n"
                "schedule = torch.optim.lr_scheduler.LambdaLR(opt, lambda step: 1e-4 * (step + 1) ** -0.5)\n" + LOOP),
        Snippet("the loop sets the rate", HEAD + "opt = torch.optim.SGD(net.parameters(), lr=0.0)\nfor group in opt.param_groups:\n"
                '    group["lr"] = 0.1\n' + LOOP),
        Snippet("one is usual for L-BFGS and Adadelta", HEAD + "opt = torch.optim.Adadelta(net.parameters(), lr=1.0)\n" + LOOP),
        Snippet("an image is optimised, not a network", HEAD + "image = torch.rand(3, 9, 9, requires_grad=True)\n"
                "opt = torch.optim.Adam([image], lr=2.0)\n" + LOOP),
        Snippet("just below", HEAD + "opt = torch.optim.SGD(net.parameters(), lr=1.0, momentum=0.9)\n" + LOOP),
    )  # fmt: skip
    BAD = (
        Snippet("Adam with one", HEAD + "opt = torch.optim.Adam(net.parameters(), lr=1.0)\n" + LOOP, line=5),
        Snippet("SGD with a default of the command line", PARSER.format("10.0") + HEAD + "opt = torch.optim.SGD(net.parameters(), lr=args.lr)\n"
                + LOOP, line=9),
        Snippet("zero in a group", HEAD + "RATE = 0.0\nopt = torch.optim.AdamW([{'params': net.parameters(), 'lr': RATE}])\n" + LOOP, line=6),
        Snippet("vanishing in a trainer", "import torch\nclass Trainer:\n    def __init__(self, net):\n        self.net = net\n"
                "        self.optimizer = torch.optim.SGD(net.parameters(), lr=1e-9)\n\n    def fit(self, data):\n        for x in data:\n"
                "            self.optimizer.zero_grad()\n            self.net(x).sum().backward()\n            self.optimizer.step()\n\n"
                "Trainer(torch.nn.Linear(4, 2)).fit(data)\n", line=5),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for made in made_optimisers(program):
            if not made.models or not all(is_module(model) for model in made.models):
                continue
            for value in made.options("lr"):
                problem = self._problem(program, made, number(program, value))
                if problem is None or not is_stepped(program, made.call):
                    continue
                if handed_on(program, made.call) or groups_are_changed(program, made.call):
                    continue
                message, cause = problem
                yield self.finding(program, made.event.node, message, cause=cause)
                break

    def _problem(self, program: Program, made: Made, rate: float | None) -> tuple[str, str] | None:
        if rate is None or math.isnan(rate):
            return None
        if rate <= 0:
            return (
                f"The learning rate is {rate:g}, so {made.kind} cannot learn; give a positive rate such as 1e-3.",
                "HYP-LR-LOW",
            )
        if rate <= self.vanishing:
            return f"A learning rate of {rate:g} has no effect; 1e-3 is usual for {made.kind}.", "HYP-LR-LOW"
        if made.kind in ADAM_FAMILY and rate >= self.adam_limit:
            return (
                f"{made.kind} changes each weight by about the learning rate in every step; {rate:g} destroys the network, try 1e-3.",
                "HYP-LR-HIGH",
            )
        if made.kind == "SGD":
            momentum = next((number(program, value) for value in made.options("momentum")), None) or 0.0
            length = rate / (1 - momentum) if momentum < 1 else rate
            if rate >= self.sgd_limit or (momentum and length >= self.sgd_momentum_limit):
                return f"SGD diverges with a learning rate of {rate:g}; try 0.1 or less.", "HYP-LR-HIGH"
        return None
