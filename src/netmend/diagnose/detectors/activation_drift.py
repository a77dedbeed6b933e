"""D115 ActivationDrift."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np

from netmend.diagnose.detector import register
from netmend.diagnose.measures.chain import Link, chain, last_weighted
from netmend.diagnose.measures.net_examples import net_run
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace


@register
class ActivationDrift:
    """The signal in a hidden layer grew by orders of magnitude during training.

    The layers after it were tuned to another scale, and units saturate, die or overflow. Usual causes: a learning rate that is too
    high, a deep stack without normalisation, a loss without a lower bound.
    """

    code: ClassVar[str] = "D115"

    growth_limit: float = threshold(
        1000.0,
        "calibrated",
        "last over first size of a hidden signal; healthy programs stay below 70, 500 where the stack starts faint",
    )
    looks: int = threshold(3, "convention", "several batches at each end")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        grown = [(growth, link) for growth, link in self._growths(trace) if growth >= self.growth_limit]
        if not grown:
            return
        growth, link = max(grown, key=lambda item: item[0])
        yield Symptom(
            self.code,
            f"The signal in {link.name} grew to {growth:.3g} times its initial size.",
            component=link.name,
            observed=growth,
            limit=self.growth_limit,
            site=link.site,
            detail={"layers": [other.name for _, other in grown]},
        )

    def _growths(self, trace: Trace) -> Iterator[tuple[float, Link]]:
        for link in chain(trace):
            _, sizes = trace.series("activation", link.name, "rms")
            sizes = sizes[np.isfinite(sizes)]
            if (
                link.position < last_weighted(trace, link.model)
                and len(sizes) > 2 * self.looks
                and sizes[0] > 0
            ):
                yield float(np.median(sizes[-self.looks :]) / np.median(sizes[:2])), link

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        found = [growth for growth, _ in self._growths(trace)]
        return {"growth_limit": max(found)} if found else {}

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("steady", lambda: net_run()),
        Run("grows tenfold", lambda: net_run(activations={1: {"rms": lambda step: 0.5 + step / 40}})),
        Run("scores grow at the output", lambda: net_run(activations={4: {"rms": lambda step: 0.01 + step}})),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("grows without end", lambda: net_run(activations={1: {"rms": lambda step: 0.5 * 1.1**step}})),
    )
