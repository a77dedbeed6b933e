"""HYP-LR-SCHED."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.diagnose.detectors import rate_dies
from netmend.diagnose.measures.loop import calls
from netmend.diagnose.measures.loop_examples import optimizer, trained
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, WEAK, fault, for_symptom, register
from netmend.localise.effects import NOT_LEARNING, outcome
from netmend.unit import Run
from netmend.vocabulary import Evidence, Fault, SchedulerFact, Symptom

_RATES = rate_dies.RateDies.FAULTY[0].trace.table("rate", "optimizer[0]")


@register
@dataclass(frozen=True)
class ScheduleRuinsRate:
    """The schedule takes the learning rate to nothing long before training is done.

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

    def _fault(
        self, case: Case, symptom: Symptom, scheduler: SchedulerFact | None, evidence: list[Evidence]
    ) -> Fault:
        often = scheduler is not None and _every_step(case, scheduler.name)
        kind = "schedule" if scheduler is None else scheduler.kind
        name = "scheduler" if scheduler is None else scheduler.kind
        made = None if scheduler is None else scheduler.created
        stepped = None if scheduler is None else scheduler.stepped
        optimizers = [optimizer.created for optimizer in case.trace.optimizers]
        return fault(
            self.code,
            evidence,
            component=name,
            site=(stepped if often else made) or stepped or next(iter(optimizers), None),
            summary=symptom.message,
            reason="With a rate of next to nothing the weights stay where they are, however long the run goes on.",
            remedy=f"Step the {kind} once per epoch instead of once per batch, or give it numbers that count batches."
            if often
            else f"Let the {kind} decay more slowly: the rate should stay within a hundredth of its peak until the end.",
            refutation="A loss that had reached its floor before the rate fell.",
            related=[made, stepped, *optimizers],
            explains=(*NOT_LEARNING, "D209", "D215"),
        )

    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "the rate dies while the loss is high",
            trained(optimizer(), rate_dies._SCHEDULER, _RATES, losses=[1.0, 0.9, 0.8] + [0.75] * 29),
        ),
    )


def _every_step(case: Case, scheduler: str) -> bool:
    stepped = sum(p.steps * c.times for p, c in calls(case.trace, "scheduler") if c.component == scheduler)
    seen = sum(p.steps for p in case.trace.patterns if any(c.what == "step" for c in p.calls))
    return stepped > seen / 2
