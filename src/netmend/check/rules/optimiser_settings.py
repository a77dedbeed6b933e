"""Learning rates and other settings of optimisers."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.library.optimisers import ADAM_FAMILY
from netmend.program.engine.program import Program
from netmend.program.engine.values import Collection, Value, resolved
from netmend.program.meaning.models import is_module
from netmend.program.meaning.optimisers import (
    Made,
    groups_are_changed,
    handed_on,
    is_stepped,
    made_optimisers,
)
from netmend.program.meaning.settings import number
from netmend.program.text.edits import replace
from netmend.vocabulary.finding import Fix

HEAD = "import torch\nfrom torch import nn\n\nnet = nn.Linear(4, 2)\n"
LOOP = "for x, y in data:\n    opt.zero_grad()\n    net(x).sum().backward()\n    opt.step()\n"
PARSER = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--lr', type=float, default={0})\nargs = parser.parse_args()\n"


class LearningRateAbsurd(StaticRule, code="S405", cause="HYP-LR-HIGH"):
    """The learning rate is zero, negative, vanishing, or far above what the optimiser can bear.

    Adam moves every weight by about the rate in each step, whatever the gradient: with 1 or more the network is destroyed at
    once. SGD diverges with 10 or more (momentum multiplies the step). With 1e-9 or less nothing moves in any sensible time.

    Usual values: Adam 1e-4 to 1e-2, SGD 1e-3 to 1, then lower with a schedule.
    """

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

    def check(self, program: Program) -> Findings:
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


class LearningRateUnusual(StaticRule, code="S406", cause="HYP-LR-HIGH", advisory=True):
    """The learning rate is far from what is usual for this optimiser.

    Each family has a range that works for nearly all networks. Outside of it training often stalls or swings, and the cause is
    hard to see in the results.

    Start from the usual value; keep the unusual one if you measured that it is better.
    """

    message = "This learning rate is unusual for its optimiser."
    triggers = ("optim.", "optim import")

    # Kind: (lowest, usual, highest). From the defaults of torch and the recipes of torchvision, timm and transformers.
    usual: tuple[tuple[str, float, float, float], ...] = (
        ("Adam", 1e-6, 1e-3, 0.05),
        ("AdamW", 1e-6, 1e-3, 0.05),
        ("NAdam", 1e-6, 2e-3, 0.05),
        ("RAdam", 1e-6, 1e-3, 0.05),
        ("Adamax", 1e-6, 2e-3, 0.1),
        ("RMSprop", 1e-6, 1e-3, 0.1),
        ("SGD", 1e-5, 0.1, 1.0),
        ("Adadelta", 0.05, 1.0, 5.0),
        ("Adagrad", 2e-3, 1e-2, 1.0),
    )

    GOOD = (
        Snippet("the usual value", HEAD + "opt = torch.optim.Adam(net.parameters(), lr=1e-3)\n"),
        Snippet("not known", HEAD + "opt = torch.optim.Adam(net.parameters(), lr=config.rate)\n"),
        Snippet("a schedule multiplies it", HEAD + "opt = torch.optim.Adam(net.parameters(), lr=0.5)\n"
                "schedule = torch.optim.lr_scheduler.LambdaLR(opt, warm)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("Adam at a tenth", HEAD + "opt = torch.optim.Adam(net.parameters(), lr=0.1)\n", line=5),
        Snippet(
            "Adadelta as if it were Adam",
            HEAD + "RATE = 1e-3\nopt = torch.optim.Adadelta(net.parameters(), lr=RATE)\n",
            line=6,
        ),
    )

    def check(self, program: Program) -> Findings:
        ranges = {kind: (low, middle, high) for kind, low, middle, high in self.usual}
        for made in made_optimisers(program):
            if made.kind not in ranges or not made.models:
                continue
            if not all(is_module(model) for model in made.models):
                continue
            low, middle, high = ranges[made.kind]
            rates = [number(program, value) for value in made.options("lr")]
            rate = next(
                (rate for rate in rates if rate is not None and rate > 0 and not low < rate < high), None
            )
            if rate is None or handed_on(program, made.call) or groups_are_changed(program, made.call):
                continue
            side = "low" if rate <= low else "high"
            yield self.finding(
                program,
                made.event.node,
                f"A learning rate of {rate:g} is {side} for {made.kind}; {middle:g} is usual.",
                cause="HYP-LR-LOW" if side == "low" else "HYP-LR-HIGH",
            )


class AdamWithWeightDecay(StaticRule, code="S407", cause="OPT-SELECT", advisory=True):
    """Adam is given a weight decay.

    Adam adds the decay to the gradient and then divides by the gradient's size, so weights with large gradients are hardly
    decayed at all. AdamW decays all weights alike, which is what weight decay means elsewhere and generalises better.

    Use `torch.optim.AdamW`; the decay then needs a larger value (0.01 is its default).
    """

    message = "Adam scales weight decay by the gradients; use AdamW."
    triggers = ("weight_decay",)

    GOOD = (
        Snippet("AdamW", HEAD + "opt = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=0.01)\n"),
        Snippet("no decay", HEAD + "opt = torch.optim.Adam(net.parameters(), lr=1e-3, weight_decay=0)\n"),
        Snippet(
            "decoupled by option",
            HEAD
            + "opt = torch.optim.Adam(net.parameters(), weight_decay=0.01, decoupled_weight_decay=True)\n",
        ),
    )
    BAD = (
        mended("Adam with decay", HEAD + "opt = torch.optim.⟨Adam → AdamW⟩(net.parameters(), weight_decay=1e-4)\n"),
        Snippet("in groups", "from torch.optim import Adam\ndef build(model):\n"
                "    return Adam([{'params': model.parameters(), 'weight_decay': 0.01}], lr=1e-3)\n", line=3),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for made in made_optimisers(program):
            if made.kind != "Adam" or "decoupled_weight_decay" in made.call.keywords:
                continue
            if any((number(program, value) or 0) > 0 for value in made.options("weight_decay")):
                yield self.finding(program, made.event.node, fix=_fix(program, made.event.node))


def _fix(program: Program, node: ast.AST) -> Fix | None:
    function = node.func if isinstance(node, ast.Call) else None
    if not isinstance(function, ast.Attribute) or function.attr != "Adam":
        return None
    return Fix("Use AdamW", replace(program, function, program.source(function) + "W"), "unsafe")


class OptimiserSettingOutOfRange(StaticRule, code="S408", cause="OPT-MOMENTUM"):
    """Momentum, betas, epsilon or weight decay of an optimiser is outside the range in which it can work.

    Momentum of 0.999 or more keeps thousands of old gradients and makes the loss swing, unless the rate is a thousand times smaller
    too. An Adam epsilon of 0.1 or more outweighs
    the gradients and slows every step; zero divides by zero. Exchanged betas average the wrong thing. A weight decay of 1 or more
    in the gradient pulls all weights to zero.

    Usual values: momentum 0.9, betas (0.9, 0.999), eps 1e-8, weight decay up to 0.1.
    """

    message = "A setting of this optimiser is out of range."
    triggers = ("optim.", "optim import")

    momentum_limit = 0.999  # averages about 1000 steps; 0.99 is the largest in published recipes
    rate_limit = 0.02  # rate / (1 - momentum); below it the steps stay those of a usual rate
    eps_limit = 0.1  # square roots of gradient variance are rarely larger
    first_beta_limit = 0.99  # above, with a smaller second beta: exchanged
    decay_limit = 1.0  # per step, in the gradient
    patterns = (r"\b(?:SGD|Adam\w*|RMSprop|Adagrad|Adadelta|NAdam|RAdam)\(",)

    GOOD = (
        Snippet(
            "usual values",
            HEAD + "opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.99, weight_decay=1e-4)\n",
        ),
        Snippet(
            "betas of adversarial training",
            HEAD + "opt = torch.optim.Adam(net.parameters(), betas=(0.0, 0.9), eps=1e-3)\n",
        ),
        Snippet(
            "a rate to match",
            HEAD + "def build(rate=1e-5, momentum=0.999):\n"
            "    return torch.optim.RMSprop(net.parameters(), lr=rate, momentum=momentum)\n\nopt = build()\n",
        ),
        Snippet(
            "large decay of AdamW",
            HEAD + "opt = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=1.0)\n",
        ),
    )
    BAD = (
        Snippet("momentum too heavy", HEAD + "opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.999)\n", line=5),
        Snippet("momentum by position", HEAD + "MOMENTUM = 1.0\nopt = torch.optim.SGD(net.parameters(), 0.1, MOMENTUM)\n", line=6),
        Snippet("large epsilon", HEAD + "eps = 1.0\nopt = torch.optim.Adam(net.parameters(), lr=1e-3, eps=eps)\n", line=6),
        Snippet("exchanged betas", "from torch.optim import AdamW\ndef build(model):\n"
                "    return AdamW(model.parameters(), lr=1e-3, betas=(0.999, 0.9))\n", line=3),
        Snippet("decay of one", HEAD + "opt = torch.optim.SGD(net.parameters(), lr=0.05, weight_decay=1.0)\n", line=5),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for made in made_optimisers(program):
            problem = next(self._problems(program, made), None)
            if problem is not None:
                yield self.finding(program, made.event.node, problem[0], cause=problem[1])

    def _is_slow(self, program: Program, made: Made, momentum: float) -> bool:
        """Is the rate so small that even a thousand gradients together make a usual step?"""
        rates = [number(program, value) for value in made.options("lr")]
        return (
            momentum < 1
            and bool(rates)
            and all(rate is not None and rate / (1 - momentum) <= self.rate_limit for rate in rates)
        )

    def _problems(self, program: Program, made: Made) -> Iterator[tuple[str, str]]:
        for value in made.options("momentum"):
            momentum = number(program, value)
            if (
                momentum is not None
                and momentum >= self.momentum_limit
                and not self._is_slow(program, made, momentum)
            ):
                yield (
                    f"A momentum of {momentum:g} makes the loss oscillate or diverge; 0.9 is usual.",
                    "OPT-MOMENTUM",
                )
        if made.kind in ADAM_FAMILY:
            for value in made.options("eps"):
                eps = number(program, value)
                if eps is not None and (eps >= self.eps_limit or eps <= 0):
                    yield (
                        f"An epsilon of {eps:g} distorts the steps of {made.kind}; 1e-8 is the default.",
                        "OPT-EPS",
                    )
            for value in made.options("betas"):
                first, second = _pair(program, value)
                if first is not None and second is not None:
                    if not 0 <= first < 1 or not 0 <= second < 1:
                        yield f"Betas ({first:g}, {second:g}) must be at least 0 and below 1.", "OPT-MOMENTUM"
                    elif first >= self.first_beta_limit and second < first:
                        yield (
                            f"Betas ({first:g}, {second:g}) look swapped; ({second:g}, {first:g}) is usual.",
                            "OPT-MOMENTUM",
                        )
        if (
            made.kind in ("SGD", "Adam", "RMSprop")
            and made.models
            and all(is_module(model) for model in made.models)
        ):
            for value in made.options("weight_decay"):
                decay = number(program, value)
                if decay is not None and decay >= self.decay_limit:
                    yield (
                        f"A weight decay of {decay:g} pulls all weights to zero; 1e-4 is usual.",
                        "LOS-REG-EXTRA",
                    )


def _pair(program: Program, value: Value) -> tuple[float | None, float | None]:
    inner = resolved(value)
    if not isinstance(inner, Collection) or inner.open or len(inner.items) != 2:
        return None, None
    return number(program, inner.items[0]), number(program, inner.items[1])
