"""A learning rate that is too high or too low."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from netmend.diagnose.detectors.step_sizes import UpdateRatioLow
from netmend.diagnose.examples.curves import flat
from netmend.diagnose.examples.networks import net_run
from netmend.diagnose.measures.acting import acts
from netmend.diagnose.measures.chain import chain
from netmend.diagnose.measures.ending import cut_short
from netmend.diagnose.measures.loop import calls
from netmend.diagnose.measures.motion import Motion, motions, searches
from netmend.diagnose.measures.objective import objective, start
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, STRONG, WEAK, Cause, fault, for_symptom
from netmend.localise.effects import codes
from netmend.localise.lines.rates import (
    at_most,
    beside_fact,
    better_rate,
    highest_rate,
    lowest_usual,
    momentum,
    setting,
)
from netmend.localise.outcome import level, rivals
from netmend.unit import calibrated, convention
from netmend.vocabulary import Evidence, Fault, OptimizerFact

_OUTCOMES = {"D501": FAIR, "D502": FAIR, "D503": FAIR, "D109": WEAK, "D504": WEAK, "D115": WEAK}
_EXPLAINS = codes("D101 D103 D104 D105 D107 D109 D110 D115 D130 D501 D502 D503 D504 D510 D511")
_RIVALS = {
    "D120": "A layer of one or two units dies easily.",
    "D111": "The weights start symmetric.",
    "D112": "The initial weights have the wrong scale.",
    "D113": "The biases start far off.",
    "D117": "Regularisation is stronger than the data.",
    "D301": "The inputs hold non-finite values.",
    "D302": "The inputs are badly scaled.",
    "D305": "The targets are badly scaled.",
    "D412": "The loss is far off before the first step.",
    "D409": "The loss has no lower bound.",
    "D410": "The loss is summed over the batch.",
}


# Loops and batches that make steps too large or the loss jump at any rate: all that was observed is their doing.
_ACCOUNTED_FOR = {
    "D201": "Gradients are not cleared.",
    "D203": "Steps are taken before the gradients exist.",
    "D208": "Gradients of several batches are summed, not averaged.",
    "D308": "The data is sorted, which makes the loss jump.",
    "D313": "The batches are very small.",
}


class LearningRateHigh(Cause, code="HYP-LR-HIGH"):
    """The learning rate is too high.

    Steps overshoot: the loss jumps up, swings or stays where a constant prediction would be, weights grow, units die, values overflow.
    Divide the rate by ten until the loss falls from the first steps on; then try rates in between.
    """

    ratio = calibrated(
        0.1, "highest relative update; only one in ten healthy programs comes above, none that fails"
    )
    growth = calibrated(2.5, "growth of weights in the first steps of healthy programs, at most")
    overshoot = calibrated(2.0, "jump of the loss in the first steps; healthy programs stay below 1.5")
    far_overshoot = convention(5.0, "a jump that no noise explains")
    good_relative = convention(0.3, "a loss that low was learned, whatever the rate")
    good_after_wild_start = convention(0.1, "the same where loss and weights both shot up at the start")
    poor_relative = convention(0.5, "a loss that high at the end was hardly learned")
    bad_start = convention(3.0, "a loss that far off before any step is not the rate's doing")
    hopeless_start = convention(100.0, "a loss that far off says that data or weights have a wrong scale")
    high_momentum = convention(0.99, "steps grow a hundredfold, and the rate is not the first suspect")
    most = convention(4.2, "an inference never outweighs a proof, which has 4.5")

    def accuse(self, case: Case) -> Iterator[Fault]:
        moving = motions(case.trace)
        overflow = [s for s in case.of("D110") if s.detail.get("grew")]
        if not moving and overflow:
            moving = tuple(Motion.unseen(optimizer.name) for optimizer in case.trace.optimizers[:1])
        for motion in moving:
            optimizer = case.trace.get(OptimizerFact, motion.optimizer)
            if searches(case.trace, motion):
                continue
            too_large = [*self._steps(case, motion), *(for_symptom(s, STRONG) for s in overflow)]
            harm = self._harm(case, sure=sum(item.weight for item in too_large) >= STRONG)
            odd = [
                for_symptom(s, STRONG)
                for s in case.of("D125")
                if s.component == motion.optimizer and s.detail.get("direction") == "high"
            ]
            if too_large and (harm or overflow or (odd and self._all_say_so(case, motion))):
                fact = sum(item.weight for item in odd)
                weighed = [*odd, *at_most([*too_large, *harm], self.most - fact)]
                evidence = beside_fact(fact, weighed, self._against(case, optimizer))
                yield self._fault(case, motion, optimizer, evidence)

    def _all_say_so(self, case: Case, motion: Motion) -> bool:
        """Where objectives pull against each other no loss shows harm: steps and weights have to."""
        if objective(case.trace) is not None or len(case.trace.optimizers) < 2 or acts(case.trace):
            return False
        seen = {s.code for s in case.of("D101", "D107") if s.component == motion.optimizer}
        return "D107" in seen and ("D101" in seen or (motion.highest or 0.0) >= 2 * self.ratio)

    def _steps(self, case: Case, motion: Motion) -> Iterator[Evidence]:
        """Signs that the steps are too large."""
        high = [s for s in case.of("D101") if s.component == motion.optimizer]
        grown = [s for s in case.of("D107") if s.component == motion.optimizer]
        yield from (for_symptom(symptom, STRONG) for symptom in high[:1])
        if not high and (motion.highest or 0.0) >= self.ratio:
            weight = FAIR if (motion.highest or 0.0) >= 2 * self.ratio else 1.5 * WEAK
            text = f"Single steps changed the weights by {motion.highest:.0%} of their size."
            yield Evidence(text, weight, step=1)
        yield from (for_symptom(symptom, STRONG) for symptom in grown[:1])
        if not grown and motion.tensors > 1 and (motion.early_growth or 0.0) >= self.growth:
            text = f"The weights grew {motion.early_growth:.1f}-fold within the first steps."
            yield Evidence(text, FAIR, step=1)
        elif not grown and motion.tensors > 1 and (motion.growth or 0.0) >= 2 * self.growth:
            yield Evidence(f"The weights grew {motion.growth:.1f}-fold over the run.", WEAK)
        died = [s for s in case.of("D130") if s.detail["since"] > 0]
        died += [s for s in case.of("D104") if s.detail.get("rise", 0.0) > 0]
        yield from (for_symptom(symptom, STRONG) for symptom in died[:1])
        begun = start(case.trace)
        if begun is not None and begun.overshoot >= self.overshoot:
            yield Evidence(
                f"The loss jumped from {begun.first:.3g} to {begun.peak:.3g} within the first steps.",
                STRONG if begun.overshoot >= self.far_overshoot else FAIR,
                step=begun.peak_step,
            )

    def _harm(self, case: Case, sure: bool) -> list[Evidence]:
        """Signs that training suffers; a high level alone may be the noise of the data, and counts only if steps surely are large."""
        harm = [for_symptom(symptom, _OUTCOMES[symptom.code]) for symptom in case.of(*_OUTCOMES)]
        course, reached = objective(case.trace), level(case)
        if not sure:
            return [item for item in harm if item.symptom != "D504"]
        if course is None or reached is None or case.has("D501", "D502", "D503"):
            return harm
        if course.last_relative is None:
            if reached > 1 - self.good_after_wild_start:
                harm.append(Evidence(f"The loss ended at {course.last:.3g}, no lower than it started.", FAIR))
        elif reached > self._good(case):
            weight = FAIR if reached > self.poor_relative else WEAK
            text = f"The loss ended at {reached:.2f} times that of the best constant prediction."
            harm.append(Evidence(text, weight))
        return harm

    def _good(self, case: Case) -> float:
        """The level of the loss at which nobody would complain."""
        begun = start(case.trace)
        wild = begun is not None and begun.overshoot >= self.overshoot and case.has("D107")
        return self.good_after_wild_start if wild else self.good_relative

    def _against(self, case: Case, optimizer: OptimizerFact | None) -> list[Evidence]:
        found = rivals(case, _RIVALS) + rivals(case, _ACCOUNTED_FOR, 2 * STRONG)
        reached, begun = level(case), start(case.trace)
        if optimizer is not None and momentum(optimizer) >= self.high_momentum:
            message = f"A momentum of {momentum(optimizer):g} makes steps many times longer."
            found.append(Evidence(message, -STRONG))
        if reached is not None and reached < self._good(case) and not case.has("D110"):
            found.append(Evidence("The loss still reached a low level.", -2 * STRONG))
        recurrent = any(link.kind == "recurrent" for link in chain(case.trace))
        # Optimisers that divide by the size of the gradient do not mind a burst.
        recurrent = recurrent and all(optimizer.kind == "SGD" for optimizer in case.trace.optimizers)
        if recurrent and case.has("D103") and not any(True for _ in calls(case.trace, "clip")):
            message = "A recurrent layer multiplies gradients, and they are not clipped."
            found.append(Evidence(message, -STRONG, "D103"))
        course = objective(case.trace)
        if begun is not None and course is not None and course.last < begun.first and cut_short(case.trace):
            message = "The run was cut short, and its loss was back below where it started."
            found.append(Evidence(message, -STRONG))
        if begun is not None and (begun.first_relative or 1.0) > self.bad_start and not case.has("D412"):
            message = f"The loss was {begun.first_relative:.3g} times too high before any step."
            found.append(Evidence(message, -STRONG))
        odd = any(symptom.detail.get("direction") == "high" for symptom in case.of("D125"))
        if begun is not None and not odd and (begun.first_relative or 1.0) > self.hopeless_start:
            text = f"The rate is a usual one, and the loss was {begun.first_relative:.3g} times too high before any step."
            found.append(Evidence(text, -2 * STRONG))
        return found

    def _fault(
        self, case: Case, motion: Motion, optimizer: OptimizerFact | None, evidence: list[Evidence]
    ) -> Fault:
        told = sorted((item for item in evidence if item.weight > 0), key=lambda item: -item.weight)
        return fault(
            self.code,
            evidence,
            summary=" ".join(item.message for item in told[:2]),
            reason="Steps this large overshoot the minimum and undo what was learned.",
            refutation="A ten times lower learning rate does not improve the curve.",
            explains=_EXPLAINS,
            **_another_rate(case, motion, optimizer, motion.highest, lower=True),
        )

    FAULTY = {
        "jumps up, grows, stays at the constant prediction": lambda: net_run(
            losses=[1.0, 8.0, 30.0, 12.0, *flat(200, 1.05)],
            settings={"lr": 1.0},
            ratio=lambda step: 0.5 if step < 20 else 0.05,
            growth=lambda step: min(1 + step, 15.0),
        ),
        "large steps for the whole run, no learning": lambda: net_run(
            losses=flat(200, 1.2, 0.2), optimizer="SGD", settings={"lr": 10.0}, ratio=0.3, growth=3.0
        ),
    }


_SLOW_OUTCOMES = {"D501": FAIR, "D508": FAIR, "D505": WEAK}
_SLOW_EXPLAINS = ("D102", "D109", "D114", "D215", "D501", "D504", "D505", "D508", "D511")
_SLOW_RIVALS = {
    "D106": "The gradients vanish on their way to the first layers.",
    "D111": "The weights start symmetric.",
    "D113": "The biases swamp the weights.",
    "D112": "The initial weights have the wrong scale.",
    "D210": "A schedule lowers the rate to next to nothing.",
    "D211": "Clipping removes most of the gradient.",
    "D302": "The inputs are badly scaled.",
    "D401": "The output is normalised twice, which weakens the gradient.",
}


class LearningRateLow(Cause, code="HYP-LR-LOW"):
    """The learning rate is too low.

    The weights hardly leave their start, so that the loss falls in a straight line and hardly at all.
    Multiply the rate by ten until the loss bends down within the first tenth of the run.
    """

    slow = calibrated(
        1.5e-3,
        "relative update below which a straight, slow fall is put down to the rate; healthy programs move more",
    )
    most = convention(4.2, "an inference never outweighs a proof, which has 4.5")

    def accuse(self, case: Case) -> Iterator[Fault]:
        early = cut_short(case.trace)  # a curve that is still falling is then no sign of anything
        for motion in motions(case.trace):
            low = next((s for s in case.of("D102") if s.component == motion.optimizer), None)
            odd = [
                for_symptom(s, STRONG)
                for s in case.of("D125")
                if s.component == motion.optimizer and s.detail.get("direction") == "low"
            ]
            outcomes = [
                for_symptom(outcome, _SLOW_OUTCOMES[outcome.code]) for outcome in case.of(*_SLOW_OUTCOMES)
            ]
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
            against = [*rivals(case, _SLOW_RIVALS), *self._customary(case, motion)]
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
        return fault(
            self.code,
            evidence,
            summary=evidence[0].message,
            reason="Steps this small cannot move the weights far enough within the run.",
            refutation="A ten times higher learning rate does not lower the loss faster.",
            explains=_SLOW_EXPLAINS,
            **_another_rate(case, motion, optimizer, motion.usual, lower=False),
        )

    FAULTY = UpdateRatioLow.FAULTY


def _another_rate(
    case: Case, motion: Motion, optimizer: OptimizerFact | None, step: float | None, lower: bool
) -> dict[str, Any]:
    """Where the rate is set, and what to set it to, by the relative size of the steps."""
    place = setting(case, optimizer, "lr", 1)
    rate = None if optimizer is None else highest_rate(case.trace, optimizer)
    given = "the learning rate" if rate is None else f"`lr={rate:g}`"
    if rate and optimizer is not None:
        where = f" in {place.site.short}" if place.site is not None else ""
        remedy = f"Try `lr={better_rate(optimizer, rate, step, lower):g}` instead of {given}{where}."
    elif lower:
        remedy = f"Divide {given} by 10, repeatedly, until the loss falls from the first steps on."
    else:
        remedy = f"Multiply {given} by 10, repeatedly, until the loss drops early in the run."
    component = motion.optimizer or "training loop"
    return {"component": component, "site": place.site, "related": place.related, "remedy": remedy}
