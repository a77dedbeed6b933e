"""D105 SaturatedUnits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.chain import SQUASHING, Link, activations
from netmend.diagnose.measures.net_examples import net_run
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace


@register
class SaturatedUnits:
    """Nearly all values of a hidden sigmoid or tanh lie on its flat ends.

    There the slope is close to zero, so that hardly any gradient passes. Usual causes: unscaled inputs, weights that start or become too
    large, a learning rate that is too high. A saturated output of a trained classifier is no fault.
    """

    code: ClassVar[str] = "D105"

    share_limit: float = threshold(
        0.85,
        "calibrated",
        "share of saturated values in the last looks; hidden layers of healthy programs: 0.4 at most, codes that are meant to be binary aside",
    )
    looks: int = threshold(3, "convention", "several batches in a row")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for link in activations(trace, SQUASHING):
            found = self._shares(trace, link)
            if found is None or found[1] < self.share_limit:
                continue
            first, last = found
            yield Symptom(
                self.code,
                f"{last:.0%} of the values of {link.name} ({link.function}) were saturated, {first:.0%} at the start.",
                component=link.name,
                first_step=0 if first >= self.share_limit else None,
                observed=last,
                limit=self.share_limit,
                site=link.site,
                detail={"first": first, "function": link.function},
            )

    def _shares(self, trace: Trace, link: Link) -> tuple[float, float] | None:
        _, shares = trace.series("activation", link.name, "saturated_share")
        if len(shares) <= self.looks:
            return None
        return float(shares[:2].min()), float(shares[-self.looks :].min())

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        found = [
            shares
            for link in activations(trace, SQUASHING)
            if (shares := self._shares(trace, link)) is not None
        ]
        return {"share_limit": max(last for _, last in found)} if found else {}

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("tanh in its middle", lambda: net_run("Linear(9,20) Tanh Linear(20,1)")),
        Run(
            "a confident output",
            lambda: net_run(
                "Linear(9,20) Tanh Linear(20,1) Sigmoid", activations={3: {"saturated_share": 0.99}}
            ),
        ),
        Run(
            "half saturated",
            lambda: net_run("Linear(9,20) Tanh Linear(20,1)", activations={1: {"saturated_share": 0.6}}),
        ),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "flat",
            lambda: net_run("Linear(9,20) Sigmoid Linear(20,1)", activations={1: {"saturated_share": 0.97}}),
        ),
    )
