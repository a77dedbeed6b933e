"""HYP-EPOCH-FEW."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.short_training import ShortTraining
from netmend.diagnose.detectors.still_falling import StillFalling
from netmend.diagnose.measures.data import epochs
from netmend.diagnose.measures.loop import usual_site
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, STRONG, WEAK, fault, for_symptom, register
from netmend.localise.loops import epoch_loop
from netmend.unit import Run, threshold
from netmend.vocabulary import Evidence, Fault, Symptom


@register
class TooFewEpochs:
    """Training stops before it has converged.

    The loss is still falling steeply in the last epoch, so the result says little about what the program can reach.
    Train longer: double the number of epochs until the curve bends.
    """

    code: ClassVar[str] = "HYP-EPOCH-FEW"

    few_epochs: float = threshold(
        5, "convention", "passes over the data that are few for any training from scratch"
    )
    hardly_any: int = threshold(
        50, "convention", "updates that are hardly any: the optimiser has not even found its pace"
    )
    few_steps: int = threshold(150, "convention", "updates that are few for any training from scratch")

    def accuse(self, case: Case) -> Iterator[Fault]:
        passes, steps = epochs(case.trace), case.trace.run.steps
        if case.has("D701", "D110"):
            return  # it did not stop by plan, or what it did afterwards was lost
        # A straight line means the same when there were hardly any steps: the curve had no time to bend.
        brief = steps <= self.few_steps and passes is not None and passes <= self.few_epochs
        short = case.first("D512")
        if short is not None:
            # Without a number of passes and without a loop over epochs it may be a stream, or a few steps on purpose.
            known = passes is not None or epoch_loop(case.sources, case.trace) is not None
            weight = STRONG if known else FAIR + WEAK / 2
            yield self._fault(case, short, [for_symptom(short, weight), *self._still_falling(case)])
            return
        for symptom in (case.of("D505") or (case.of("D508") if brief else ()))[:1]:
            # Alone it is not enough: a short program may have been meant to show no more.
            evidence = [for_symptom(symptom, FAIR + WEAK / 2)]
            if passes is not None and passes <= self.few_epochs:
                evidence.append(Evidence(f"Every training sample was seen about {passes:.1f} times.", FAIR))
            if steps <= self.few_steps:
                weight = FAIR if steps <= self.hardly_any else WEAK
                evidence.append(Evidence(f"There were only {steps} updates.", weight))
            elif passes is None or passes > 4 * self.few_epochs:
                evidence.append(Evidence(f"There were {steps} updates, which is not few.", -FAIR))
            if slow := case.first("D102", *(() if brief else ("D508",))):
                evidence.append(Evidence("The steps themselves are very small.", -STRONG, slow.code))
            yield self._fault(case, symptom, evidence)

    @staticmethod
    def _still_falling(case: Case) -> list[Evidence]:
        """A loss that was still falling when it ended says the same once more."""
        return [for_symptom(symptom, WEAK) for symptom in case.of("D505")[:1]]

    def _fault(self, case: Case, symptom: Symptom, evidence: list[Evidence]) -> Fault:
        loop = epoch_loop(case.sources, case.trace)
        site = usual_site(case.trace, "step") if loop is None else loop.count
        return fault(
            self.code,
            evidence,
            component="training loop",
            site=site,
            summary=symptom.message,
            reason="Training ends in the middle of learning, so weights and figures are those of an unfinished run.",
            remedy="Train at least twice as long, and go on doubling until the loss no longer falls.",
            refutation="The loss stays where it is when the number of epochs is doubled.",
            related=() if loop is None else (loop.loop,),
        )

    FAULTY: ClassVar[tuple[Run, ...]] = (*StillFalling.FAULTY, *ShortTraining.FAULTY[:1])
