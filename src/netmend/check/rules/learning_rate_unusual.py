from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.models import is_module
from netmend.program.meaning.optimisers import groups_are_changed, handed_on, made_optimisers
from netmend.program.meaning.settings import number
from netmend.vocabulary.finding import Finding

HEAD = "import torch\nfrom torch import nn\n\nnet = nn.Linear(4, 2)\n"


@register
class LearningRateUnusual(StaticRule):
    """The learning rate is far from what is usual for this optimiser.

    Each family has a range that works for nearly all networks. Outside of it training often stalls or swings, and the cause is
    hard to see in the results.

    Start from the usual value; keep the unusual one if you measured that it is better.
    """

    code = "S406"
    cause = "HYP-LR-HIGH"
    message = "This learning rate is unusual for its optimiser."
    advisory = True
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

    def check(self, program: Program) -> Iterator[Finding]:
        ranges = {kind: (low, middle, high) for kind, low, middle, high in self.usual}
        for made in made_optimisers(program):
            if (
                made.kind not in ranges
                or not made.models
                or not all(is_module(model) for model in made.models)
            ):
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
