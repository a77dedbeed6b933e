from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call
from netmend.vocabulary.finding import Finding

_SEEDS = (
    "numpy.random.seed",
    "pytorch_lightning.seed_everything",
    "lightning.seed_everything",
    "transformers.set_seed",
    "accelerate.utils.set_seed",
)


@register
class SeedOfNumpyMissing(StaticRule):
    """The program seeds torch but draws random numbers with numpy, which nothing seeds.

    torch and numpy (and Python's `random`) have generators of their own. Two runs with the same seed then still differ, which
    makes a fault hard to find again.

    Seed all that are used: `np.random.seed(seed)`, or better a generator `np.random.default_rng(seed)`.
    """

    code = "S720"
    cause = "LOOP-SEED"
    message = "torch is seeded, numpy's generator is not; call np.random.seed(seed) too."
    advisory = True
    triggers = ("manual_seed",)

    GOOD = (
        Snippet(
            "both",
            "import numpy as np\nimport torch\n\ntorch.manual_seed(0)\nnp.random.seed(0)\nx = np.random.rand(3)\n",
        ),
        Snippet(
            "a generator",
            "import numpy as np\nimport torch\n\ntorch.manual_seed(0)\nx = np.random.default_rng(0).random(3)\n",
        ),
        Snippet(
            "numpy draws nothing",
            "import numpy as np\nimport torch\n\ntorch.manual_seed(0)\nx = np.zeros(3)\n",
        ),
    )
    BAD = (
        Snippet(
            "in a script",
            "import numpy as np\nimport torch\n\ntorch.manual_seed(0)\norder = np.random.permutation(100)\n",
            line=5,
        ),
        Snippet(
            "in a function",
            "import numpy as np\nimport torch\n\ndef main(seed):\n    torch.manual_seed(seed)\n    return np.random.randn(10, 3)\n",
            line=6,
        ),
    )

    def check(self, program: Program) -> Iterator[Finding]:
        seeds = program.calls_of("torch.manual_seed")
        if not seeds or program.calls_of(*_SEEDS) or "random.seed" in program.text:
            return
        for event in program.calls:
            call = event.call
            if (
                isinstance(call, Call)
                and call.qualified.startswith("numpy.random.")
                and call.qualified.count(".") == 2
            ):
                name = call.qualified.rpartition(".")[2]
                is_draw = name[:1].islower() and name not in ("default_rng", "get_state", "set_state")
                if is_draw and any(
                    program.entry_of(seed) is program.entry_of(event) and seed.order < event.order
                    for seed in seeds
                ):
                    yield self.finding(program, event.node)
                    return
