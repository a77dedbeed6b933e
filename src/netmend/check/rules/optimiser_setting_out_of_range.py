from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Collection, Value, resolved
from netmend.program.meaning.models import is_module
from netmend.program.meaning.optimisers import ADAM_FAMILY, Made, made_optimisers
from netmend.program.meaning.settings import number
from netmend.vocabulary.finding import Finding

HEAD = "import torch\nfrom torch import nn\n\nnet = nn.Linear(4, 2)\n"


@register
class OptimiserSettingOutOfRange(StaticRule):
    """Momentum, betas, epsilon or weight decay of an optimiser is outside the range in which it can work.

    Momentum of 0.999 or more keeps thousands of old gradients and makes the loss swing, unless the rate is a thousand times smaller
    too. An Adam epsilon of 0.1 or more outweighs
    the gradients and slows every step; zero divides by zero. Exchanged betas average the wrong thing. A weight decay of 1 or more
    in the gradient pulls all weights to zero.

    Usual values: momentum 0.9, betas (0.9, 0.999), eps 1e-8, weight decay up to 0.1.
    """

    code = "S408"
    cause = "OPT-MOMENTUM"
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
        Snippet(
            "momentum of a layer",
            HEAD
            + "norm = nn.BatchNorm1d(4, momentum=1.0, eps=0.5)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n",
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

    def check(self, program: Program) -> Iterator[Finding]:
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
