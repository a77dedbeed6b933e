"""HYP-LR-SCHED."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.schedules import _SCHEDULER, RateDies, RateNeverRises
from netmend.diagnose.measures.loop import calls
from netmend.diagnose.measures.loop_examples import optimizer, trained
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, WEAK, fault, for_symptom, register
from netmend.localise.effects import NOT_LEARNING, outcome
from netmend.localise.lines.schedule_lines import returned_factor, set_by_hand
from netmend.unit import Run
from netmend.vocabulary import Evidence, Fault, SchedulerFact, Symptom, Trace


def _dying() -> Trace:
    rates = RateDies.FAULTY[0].trace.table("rate", "optimizer[0]")
    return trained(optimizer(), _SCHEDULER, rates, losses=[1.0, 0.9, 0.8] + [0.75] * 29)


@register
class ScheduleRuinsRate:
    """The schedule lowers the learning rate to nothing long before training is done.

    What is left of the run changes nothing any more.
    Step the scheduler where its numbers are meant (epochs or batches), or let it decay more slowly.
    """

    code: ClassVar[str] = "HYP-LR-SCHED"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D210"):
            scheduler = case.trace.get(SchedulerFact, str(symptom.detail.get("scheduler")))
            evidence = [
                for_symptom(symptom, STRONG + WEAK if symptom.detail["dead"] else FAIR + WEAK / 2),
                *outcome(case, bad=FAIR + FAIR, good=-STRONG - WEAK),
            ]
            fell = symptom.detail["fell_after"]
            if fell is not None and fell > 0.3:
                evidence.append(Evidence(f"The loss fell by another {fell:.0%} after that.", -STRONG))
            if scheduler is not None and scheduler.kind == "ReduceLROnPlateau":
                evidence.append(
                    Evidence("The rate was lowered because the loss had stopped falling.", -STRONG)
                )
            yield self._fault(case, symptom, scheduler, evidence)
        for symptom in case.of("D215"):
            scheduler = case.trace.get(SchedulerFact, str(symptom.detail.get("scheduler")))
            if symptom.detail.get("rate") == 0 and scheduler is not None:
                yield self._fault(case, symptom, scheduler, [for_symptom(symptom, PROVEN)])

        for symptom in case.of("D232"):
            yield self._never_rises(case, symptom)

    def _never_rises(self, case: Case, symptom: Symptom) -> Fault:
        """The given rate may be a mere unit: that the one in use is too low must show by itself."""
        low = [s for s in case.of("D125") if s.detail.get("direction") == "low"]
        evidence = [for_symptom(symptom, FAIR), *(for_symptom(s, STRONG) for s in low[:1])]
        evidence += [for_symptom(s, FAIR) for s in case.of("D102")[:1]]
        scheduler = case.trace.get(SchedulerFact, str(symptom.detail["scheduler"]))
        kind = "schedule" if scheduler is None else scheduler.kind
        return fault(
            self.code,
            [*evidence, *outcome(case, bad=FAIR, good=-STRONG - WEAK)],
            component=kind,
            site=returned_factor(case.sources, symptom.site) or symptom.site,
            summary=symptom.message,
            reason=f"The {kind} multiplies the optimiser's rate; what is left is too small to move the weights.",
            remedy="Return a factor (1.0 for the full rate), not a rate, and let a warm-up end within the run.",
            refutation="The optimiser's rate is only a unit, and the loss falls.",
            related=[symptom.site, *(optimizer.created for optimizer in case.trace.optimizers)],
            explains=(*NOT_LEARNING, "D102", "D125", "D209", "D215"),
        )

    def _fault(
        self, case: Case, symptom: Symptom, scheduler: SchedulerFact | None, evidence: list[Evidence]
    ) -> Fault:
        often = scheduler is not None and _every_step(case, scheduler.name)
        kind = "schedule" if scheduler is None else scheduler.kind
        name = "scheduler" if scheduler is None else scheduler.kind
        made = None if scheduler is None else scheduler.created
        stepped = None if scheduler is None else scheduler.stepped
        optimizers = [optimizer.created for optimizer in case.trace.optimizers]
        updated = next((optimizer.stepped for optimizer in case.trace.optimizers), None)
        by_hand = set_by_hand(case.sources, updated) if scheduler is None else None
        return fault(
            self.code,
            evidence,
            component=name,
            site=(stepped if often else made) or stepped or by_hand or next(iter(optimizers), None),
            summary=symptom.message,
            reason="With a rate near zero the weights stop moving, however long the run goes on.",
            remedy=f"Step the {kind} once per epoch instead of once per batch, or give it numbers that count batches."
            if often
            else f"Let the {kind} decay more slowly: the rate should stay within a hundredth of its peak until the end.",
            refutation="The loss had reached its minimum before the rate fell.",
            related=[made, stepped, *optimizers],
            explains=(*NOT_LEARNING, "D209", "D215"),
        )

    FAULTY: ClassVar[tuple[Run, ...]] = (
        *RateNeverRises.FAULTY,
        Run(
            "the rate dies while the loss is high",
            _dying,
        ),
    )


def _every_step(case: Case, scheduler: str) -> bool:
    stepped = sum(p.steps * c.times for p, c in calls(case.trace, "scheduler") if c.component == scheduler)
    seen = sum(p.steps for p in case.trace.patterns if any(c.what == "step" for c in p.calls))
    return stepped > seen / 2
