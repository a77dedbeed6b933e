from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Attribute, Function, Name, resolved
from netmend.program.meaning.arrays import SPLIT
from netmend.vocabulary.finding import Finding

HEAD = "import torch\nfrom sklearn.model_selection import train_test_split\nfrom torch.utils.data import random_split\n\n"


@register
class SplitWithoutSeed(StaticRule):
    """Data is split at random, and nothing fixes which rows land where.

    Each run evaluates on other rows, so two runs cannot be compared; a checkpoint that is loaded in a later run is tested on rows
    it was trained on.

    Give `random_state=0` to `train_test_split`, `generator=torch.Generator().manual_seed(0)` to `random_split`, or set a seed before.
    """

    code = "S512"
    cause = "LOOP-SEED"
    message = "This split differs from run to run; fix it with a seed."
    advisory = True
    triggers = ("train_test_split(", "random_split(")

    GOOD = (
        Snippet("seeded", HEAD + "a, b = train_test_split(x, random_state=0)\n"),
        Snippet(
            "a generator",
            HEAD + "a, b = random_split(data, [8, 2], generator=torch.Generator().manual_seed(1))\n",
        ),
        Snippet("seed set before", HEAD + "torch.manual_seed(1)\na, b = random_split(data, [8, 2])\n"),
        Snippet("not shuffled", HEAD + "a, b = train_test_split(x, shuffle=False)\n"),
        Snippet(
            "a helper sets the seed",
            HEAD + "from tools import seed_all\nseed_all(1)\na, b = train_test_split(x)\n",
        ),
    )
    BAD = (
        Snippet("scikit-learn", HEAD + "a, b = train_test_split(x, test_size=0.2)\n", line=5),
        Snippet("torch", HEAD + "def parts(data):\n    return random_split(data, [8, 2])\n", line=6),
    )

    def check(self, program: Program) -> Iterator[Finding]:
        seeds = [
            event.order
            for event in program.calls
            if _sets_seed(event.call.function if event.call is not None else None)
        ]
        first = min(seeds, default=None)
        for event in program.calls_of(SPLIT, "torch.utils.data.random_split"):
            call = event.call
            if (
                call is None
                or call.open
                or {"random_state", "generator", "shuffle"} & set(call.keywords)
                or (len(call.args) > 2 and call.qualified != SPLIT)
            ):
                continue
            if first is None or first > event.order:
                yield self.finding(program, event.node)


def _sets_seed(function: object) -> bool:
    function = resolved(function) if isinstance(function, Attribute | Function | Name) else None
    name = getattr(function, "qualified", "") or getattr(function, "name", "")
    return "seed" in name.lower() or "deterministic" in name.lower()
