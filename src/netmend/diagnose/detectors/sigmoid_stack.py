"""D126 SigmoidStack."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.chain import SIGMOIDS, activations, mostly
from netmend.diagnose.measures.depth import Profile, profiles
from netmend.diagnose.measures.examples import falling, flat
from netmend.diagnose.measures.net_examples import net_run
from netmend.diagnose.measures.objective import objective
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace

_NET = "Linear(10,32) Sigmoid Linear(32,32) Sigmoid Linear(32,4)"
_SHRINKING = {0: 1e-5, 2: 1e-4, 4: 1e-2}


@register
class SigmoidStack:
    """Several hidden layers in a row end in sigmoids, gradients fade towards the input, and little was learned.

    A sigmoid passes on a quarter of the gradient at best: two or three of them starve the first layers although the network is not deep.
    """

    code: ClassVar[str] = "D126"

    total_limit: float = threshold(
        1.95, "calibrated", "decades between the last and the first layer; healthy programs stay below 1.9"
    )
    least_sigmoids: int = threshold(2, "convention", "one sigmoid between two layers still learns")
    poor_relative: float = threshold(0.6, "convention", "a loss that high at the end was hardly learned")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        course, link = objective(trace), mostly(trace, SIGMOIDS)
        if link is None or course is None or (course.last_relative or 0.0) < self.poor_relative:
            return
        for profile in self._judged(trace):
            if profile.total < self.total_limit:
                continue
            count = self._count(trace, profile.model)
            yield Symptom(
                self.code,
                f"The {count} hidden layers of {profile.model} use {link.function}, and gradients shrink "
                f"{10**profile.total:.0f}-fold from the last layer to the first.",
                component=link.name,
                first_step=0,
                observed=profile.total,
                limit=self.total_limit,
                site=link.site,
                detail={"function": link.function, "layers": count},
            )

    def _judged(self, trace: Trace) -> Iterator[Profile]:
        for profile in profiles(trace):
            if self._count(trace, profile.model) >= self.least_sigmoids and len(profile.layers) > 2:
                yield profile

    @staticmethod
    def _count(trace: Trace, model: str) -> int:
        return sum(link.model == model for link in activations(trace, SIGMOIDS))

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        totals = [profile.total for profile in self._judged(trace)]
        return {"total_limit": max(totals)} if totals else {}

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("learns all the same", lambda: net_run(_NET, losses=falling(200), gradients=_SHRINKING)),
        Run("even gradients", lambda: net_run(_NET, losses=flat(200))),
        Run(
            "rectifiers",
            lambda: net_run(
                "Linear(10,32) ReLU Linear(32,32) ReLU Linear(32,4)", losses=flat(200), gradients=_SHRINKING
            ),
        ),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "two sigmoids that starve the first layer",
            lambda: net_run(_NET, losses=flat(200), gradients=_SHRINKING),
        ),
    )
