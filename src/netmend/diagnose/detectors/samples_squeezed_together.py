"""D128 SamplesSqueezedTogether."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np

from netmend.diagnose.detector import register
from netmend.diagnose.measures.chain import SIGMOIDS, Link, activations, chain, last_weighted
from netmend.diagnose.measures.net_examples import net_run
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace

_NET = "Linear(10,64) ReLU Linear(64,64) Sigmoid Linear(64,4)"
_SQUEEZED = {2: {"sample_spread": 0.5}, 3: {"sample_spread": 0.06}, 4: {"sample_spread": 0.05}}


@register
class SamplesSqueezedTogether:
    """After a hidden sigmoid all samples look nearly alike.

    A sigmoid moves everything to about one half and passes on a quarter of the differences at best: what the next layer sees is a large
    constant with a little signal on it. Layers behind it first learn the constant, and rectifiers there die from it. Networks learn in spite
    of it, more slowly, so this is no fault by itself; it is one where the run went badly.
    Usual causes: a sigmoid or hard sigmoid in place of a rectifier, in one layer or in all.
    """

    code: ClassVar[str] = "D128"

    loss_limit: float = threshold(
        3.0,
        "exact",
        "differences between samples, relative to their size, before over behind it; inputs of variance 1 lose a factor of 2.6",
    )
    looks: int = threshold(3, "convention", "from the start: how weights begin, not what they became")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for link in activations(trace, SIGMOIDS):
            found = self._lost(trace, link)
            if found is None or found < self.loss_limit:
                continue
            others = [other for other in _hidden(trace, link.model) if other.function not in SIGMOIDS]
            yield Symptom(
                self.code,
                f"Differences between samples shrink {found:.2g}-fold in {link.name} ({link.function}): relative to their size, "
                "samples look nearly alike after it.",
                component=link.name,
                first_step=0,
                observed=found,
                limit=self.loss_limit,
                site=link.site,
                detail={
                    "function": link.function,
                    "odd": bool(others),
                    "map": len(link.shape) > 2,
                    "others": sorted({other.function for other in others}),
                },
            )

    def _lost(self, trace: Trace, link: Link) -> float | None:
        """The shrinkage, if what comes next gets no more: a gate is multiplied with a signal that keeps its differences."""
        links = [other for other in chain(trace) if other.model == link.model]
        before = [other for other in links if other.position < link.position and other.shape == link.shape]
        behind = [other for other in links if other.position > link.position and other.kind == "linear"]
        if not before or not behind:
            return None
        entering, passed, next_layer = (self._spread(trace, each) for each in (before[-1], link, behind[0]))
        if entering is None or passed is None or next_layer is None or passed <= 0 or next_layer <= 0:
            return None
        return min(entering / passed, entering / next_layer)

    def _spread(self, trace: Trace, link: Link) -> float | None:
        _, spreads = trace.series("activation", link.name, "sample_spread")
        return float(np.median(spreads[: self.looks])) if len(spreads) >= self.looks else None

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        lost = [
            found for link in activations(trace, SIGMOIDS) if (found := self._lost(trace, link)) is not None
        ]
        return {"loss_limit": max(lost)} if lost else {}

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("rectifiers", lambda: net_run()),
        Run(
            "a gate: the next layer gets the differences all the same",
            lambda: net_run(_NET, activations={**_SQUEEZED, 4: {"sample_spread": 0.5}}),
        ),
        Run(
            "inputs of variance 1",
            lambda: net_run(
                _NET,
                activations={
                    2: {"sample_spread": 1.0},
                    3: {"sample_spread": 0.38},
                    4: {"sample_spread": 0.4},
                },
            ),
        ),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("a sigmoid among rectifiers", lambda: net_run(_NET, activations=_SQUEEZED)),
    )


def _hidden(trace: Trace, model: str) -> list[Link]:
    end = last_weighted(trace, model)
    return [
        link
        for link in chain(trace)
        if link.model == model and link.kind == "activation" and link.position < end
    ]
