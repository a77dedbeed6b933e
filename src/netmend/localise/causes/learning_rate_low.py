"""HYP-LR-LOW."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.step_sizes import UpdateRatioLow
from netmend.diagnose.measures.ending import cut_short
from netmend.diagnose.measures.motion import Motion, motions
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, STRONG, WEAK, fault, for_symptom, register
from netmend.localise.lines.rates import (
    at_most,
    beside_fact,
    better_rate,
    highest_rate,
    lowest_usual,
    setting,
)
from netmend.localise.outcome import rivals
from netmend.unit import Run, threshold
from netmend.vocabulary import Evidence, Fault, OptimizerFact

_OUTCOMES = {"D501": FAIR, "D508": FAIR, "D505": WEAK}
_EXPLAINS = ("D102", "D109", "D114", "D215", "D501", "D504", "D505", "D508", "D511")
_RIVALS = {
    "D106": "The gradients vanish on their way to the first layers.",
    "D111": "The weights start symmetric.",
    "D113": "The biases swamp the weights.",
    "D112": "The initial weights have the wrong scale.",
    "D210": "A schedule lowers the rate to next to nothing.",
    "D211": "Clipping removes most of the gradient.",
    "D302": "The inputs are badly scaled.",
    "D401": "The output is normalised twice, which weakens the gradient.",
}


@register
class LearningRateLow:
    """The learning rate is too low.

    The weights hardly leave their start, so that the loss falls in a straight line and hardly at all.
    Multiply the rate by ten until the loss bends down within the first tenth of the run.
    """

    code: ClassVar[str] = "HYP-LR-LOW"

    slow: float = threshold(
        1.5e-3,
        "calibrated",
        "relative update below which a straight, slow fall is put down to the rate; healthy programs move more",
    )
    most: float = threshold(4.2, "convention", "an inference never outweighs a proof, which has 4.5")

    def accuse(self, case: Case) -> Iterator[Fault]:
        early = cut_short(case.trace)  # a curve that is still falling is then no sign of anything
        for motion in motions(case.trace):
            low = next((s for s in case.of("D102") if s.component == motion.optimizer), None)
            odd = [
                for_symptom(s, STRONG)
                for s in case.of("D125")
                if s.component == motion.optimizer and s.detail.get("direction") == "low"
            ]
            outcomes = [for_symptom(outcome, _OUTCOMES[outcome.code]) for outcome in case.of(*_OUTCOMES)]
            if low is not None:
                evidence = [for_symptom(low, STRONG + FAIR), *outcomes]
            elif not early and case.has("D505") and self._unusual(case, motion):
                text = f"The rate is low for this optimiser, and each step changed the weights by only {motion.usual:.1g}."
                evidence = [Evidence(text, 2 * FAIR), *outcomes]
            elif (
                not early
                and case.has("D508")
                and 0 < (motion.usual or 1.0) < self.slow
                and (motion.highest or 1.0) < 4 * self.slow
            ):
                text = f"Each step changed the weights by {motion.usual:.1g} of their size."
                evidence = [Evidence(text, FAIR), *outcomes]
            elif odd:
                evidence = [*outcomes]
            else:
                continue
            against = [*rivals(case, _RIVALS), *self._customary(case, motion)]
            optimizer = case.trace.get(OptimizerFact, motion.optimizer)
            fact = sum(item.weight for item in odd)
            weighed = [*odd, *at_most(evidence, self.most - fact)]
            yield self._fault(case, motion, optimizer, beside_fact(fact, weighed, against))

    @staticmethod
    def _customary(case: Case, motion: Motion) -> Iterator[Evidence]:
        """Plain SGD at a usual rate: what is unusual is that nothing makes its steps longer."""
        for symptom in case.of("D125"):
            if symptom.component == motion.optimizer and symptom.detail.get("direction") == "plain":
                yield Evidence("The rate is usual; what is missing is momentum.", -STRONG, symptom.code)

    def _unusual(self, case: Case, motion: Motion) -> bool:
        """A rate that hardly anybody uses, and small steps."""
        optimizer = case.trace.get(OptimizerFact, motion.optimizer)
        rate = None if optimizer is None else highest_rate(case.trace, optimizer)
        if optimizer is None or rate is None or not 0 < (motion.usual or 1.0) < 2 * self.slow:
            return False
        return rate < lowest_usual(optimizer) and (motion.highest or 1.0) < 8 * self.slow

    def _fault(
        self, case: Case, motion: Motion, optimizer: OptimizerFact | None, evidence: list[Evidence]
    ) -> Fault:
        place = setting(case, optimizer, "lr", 1)
        rate = None if optimizer is None else highest_rate(case.trace, optimizer)
        given = "the learning rate" if rate is None else f"`lr={rate:g}`"
        remedy = f"Multiply {given} by 10, repeatedly, until the loss drops early in the run."
        if rate and optimizer is not None:
            where = f" in {place.site.short}" if place.site is not None else ""
            wanted = better_rate(optimizer, rate, motion.usual, lower=False)
            remedy = f"Try `lr={wanted:g}` instead of {given}{where}."
        return fault(
            self.code,
            evidence,
            component=motion.optimizer or "training loop",
            site=place.site,
            summary=evidence[0].message,
            reason="Steps this small cannot move the weights far enough within the run.",
            remedy=remedy,
            refutation="A ten times higher learning rate does not lower the loss faster.",
            related=place.related,
            explains=_EXPLAINS,
        )

    FAULTY: ClassVar[tuple[Run, ...]] = UpdateRatioLow.FAULTY
