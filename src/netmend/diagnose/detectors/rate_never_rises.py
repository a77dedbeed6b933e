"""D232 RateNeverRises."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.loop import span_of
from netmend.diagnose.measures.loop_examples import optimizer, trained
from netmend.unit import Run, threshold
from netmend.vocabulary import GroupFact, SchedulerFact, Site, Symptom, Table, Trace

_SCHEDULER = SchedulerFact("LambdaLR", "LambdaLR", "optimizer", {}, Site("train.py", 9), Site("train.py", 14))


def _run(given: float, *rates: float) -> Trace:
    group = GroupFact({"lr": rates[0], "initial_lr": given}, ("model.fc.weight",))
    seen = {8 * turn: (rate,) for turn, rate in enumerate(rates)}
    return trained(
        replace(optimizer(), groups=(group,)),
        _SCHEDULER,
        Table.of("rate", "optimizer[0]", seen),
        losses=[1.0] * 40,
    )


@register
class RateNeverRises:
    """A schedule keeps the learning rate far below the one that the optimiser was given, from the first step to the last.

    That is meant where the given rate is only a unit (1.0, with a schedule that returns rates). It is none where the rate is a usual one.
    Usual causes: a LambdaLR whose function returns a rate, though it is a factor of the rate; a warm-up that is longer than the run.
    """

    code: ClassVar[str] = "D232"

    share: float = threshold(
        0.0101, "convention", "of the given rate: a hundredth is no rate that anybody asked for"
    )
    least_steps: int = threshold(20, "convention", "shorter runs have no schedule to speak of")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for fact in trace.optimizers:
            scheduler = next((s for s in trace.all(SchedulerFact) if s.optimizer == fact.name), None)
            begun, ended = span_of(trace, fact.name)
            if scheduler is None or ended - begun < self.least_steps:
                continue
            for number, group in enumerate(fact.groups):
                given = group.settings.get("initial_lr")
                rates = trace.table("rate", f"{fact.name}[{number}]").known("rate")[1]
                peak = float(rates.max(initial=0.0))
                if not isinstance(given, float) or not 0 < peak <= self.share * given:
                    continue
                yield Symptom(
                    self.code,
                    f"The learning rate of {fact.name} never came above {peak:.3g}, although it was set to {given:g}.",
                    component=scheduler.name,
                    first_step=begun,
                    observed=peak / given,
                    limit=self.share,
                    site=scheduler.created,
                    detail={"given": given, "peak": peak, "scheduler": scheduler.name},
                )
                break

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("warms up and decays", lambda: _run(0.003, 1e-6, 1e-3, 3e-3, 1e-3, 1e-6)),
        Run("one tenth to begin with", lambda: _run(0.003, 3e-4, 3e-4, 1e-4)),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("a rate in place of a factor", lambda: _run(0.003, 3e-7, 5e-6, 9e-6, 5e-6)),
    )
