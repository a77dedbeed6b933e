"""Which block learns in a step."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from netmend.mend.torch.language.blocks import Block

Norms = Callable[[], list[float]]


class Chooser:
    """One rule for a whole repair; `bad` and `normal` give the blocks' sensitivities to the two kinds of text."""

    def __init__(
        self, rule: str, blocks: Sequence[Block], bad: Norms, normal: Norms, seed: int, samples: int
    ) -> None:
        """`samples`: how often the fixed block's sensitivity is measured before it is chosen."""
        self._rule, self._blocks, self._bad, self._normal = rule, blocks, bad, normal
        self._random = random.Random(seed)
        self._samples, self._fixed = samples, -1
        self.counts = dict.fromkeys((block.name for block in blocks), 0)

    def choose(self) -> Sequence[Block]:
        """The blocks of the next step."""
        if self._rule == "all":
            return self._blocks
        at = self._index()
        self.counts[self._blocks[at].name] += 1
        return (self._blocks[at],)

    def _index(self) -> int:
        count = range(len(self._blocks))
        if self._rule == "random":
            return self._random.randrange(len(self._blocks))
        if self._rule == "fixed":
            if self._fixed < 0:
                sums = [0.0] * len(self._blocks)
                for _ in range(self._samples):
                    sums = [before + now for before, now in zip(sums, self._bad(), strict=True)]
                self._fixed = max(count, key=sums.__getitem__)
            return self._fixed
        norms = self._bad()
        if self._rule == "contrast":
            # Large for the failure, small for all else. Norms fall from block to block in both, so the ratio compares
            # blocks of unlike depth fairly.
            norms = [bad / (normal + 1e-12) for bad, normal in zip(norms, self._normal(), strict=True)]
        return (min if self._rule == "min" else max)(count, key=norms.__getitem__)
