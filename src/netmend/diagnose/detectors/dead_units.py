"""D104 DeadUnits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.chain import RECTIFIERS, Link, activations, positions
from netmend.diagnose.measures.net_examples import net_run
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace


@register
class DeadUnits:
    """Most units of a layer are zero for every sample, so they neither contribute nor learn.

    A rectifier whose input is negative for all samples passes no gradient back: such a unit stays dead. Usual causes: a learning rate that is
    too high (units die during training), strongly negative biases or unscaled inputs (dead from the start).
    """

    code: ClassVar[str] = "D104"

    dead_limit: float = threshold(
        0.95, "calibrated", "share of silent units at the end; healthy programs stay below 0.4"
    )
    died_limit: float = threshold(
        0.6, "calibrated", "the same where units died during training; healthy programs stay below 0.4"
    )
    rise_limit: float = threshold(
        0.4, "calibrated", "by how much the share rose; healthy programs stay below 0.38"
    )
    least_positions: int = threshold(
        16, "convention", "samples in a look: a unit is silent in a small batch by chance"
    )
    looks: int = threshold(3, "convention", "a unit must be silent in several batches in a row")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for link in activations(trace, RECTIFIERS):
            found = self._shares(trace, link)
            if found is None:
                continue
            first, last, step = found
            rise = last - first
            died = last >= self.died_limit and rise >= self.rise_limit
            if last < self.dead_limit and not died:
                continue
            since = (
                f", {first:.0%} at the start"
                if died
                else ", from the start"
                if first >= self.died_limit
                else ""
            )
            yield Symptom(
                self.code,
                f"{last:.0%} of the units of {link.name} were zero for all samples{since}.",
                component=link.name,
                first_step=step if died else 0,
                observed=last,
                limit=self.died_limit if died else self.dead_limit,
                site=link.site,
                detail={"first": first, "rise": rise if died else 0.0},
            )

    def _shares(self, trace: Trace, link: Link) -> tuple[float, float, int] | None:
        """Share of silent units in the first and in the last looks (the least of them), and the step at which half of the rise was done."""
        steps, shares = trace.series("activation", link.name, "silent_share")
        if len(shares) <= self.looks or positions(link.shape) < self.least_positions:
            return None
        first, last = float(shares[:2].min()), float(shares[-self.looks :].min())
        beyond = steps[shares >= (first + last) / 2]
        return first, last, int(beyond[0]) if len(beyond) else int(steps[-1])

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        found = [
            shares
            for link in activations(trace, RECTIFIERS)
            if (shares := self._shares(trace, link)) is not None
        ]
        if not found:
            return {}
        most = max(found, key=lambda shares: shares[1] - shares[0])
        return {
            "dead_limit": max(last for _, last, _ in found),
            "died_limit": most[1],
            "rise_limit": most[1] - most[0],
        }

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("few silent units", lambda: net_run()),
        Run("a sparse network", lambda: net_run(activations={1: {"silent_share": 0.6}})),
        Run("silent in a batch of four", lambda: net_run(activations={1: {"silent_share": 0.97}}, batch=4)),
        Run(
            "a rectifier at the output",
            lambda: net_run("Linear(9,20) ReLU Linear(20,5) ReLU", activations={3: {"silent_share": 1.0}}),
        ),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("dead from the start", lambda: net_run(activations={1: {"silent_share": 1.0}})),
        Run(
            "died",
            lambda: net_run(activations={3: {"silent_share": lambda step: min(0.02 + step / 30, 0.8)}}),
        ),
    )
