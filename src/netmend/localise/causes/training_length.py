"""Training that is too short, too long or on too few samples."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.diagnose.detectors.evaluation_curves import Overtraining
from netmend.diagnose.detectors.training_length import FewSamples, ShortTraining, StillFalling
from netmend.diagnose.measures.batches import epochs
from netmend.diagnose.measures.ending import finished
from netmend.diagnose.measures.loop import usual_site
from netmend.diagnose.measures.objective import objective
from netmend.diagnose.measures.progress import times_longer
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, STRONG, WEAK, Accusation, Cause, accuses, for_symptom
from netmend.localise.lines.data_lines import input_origin
from netmend.localise.lines.epoch_loop import epoch_loop
from netmend.localise.outcome import LEARNED, level
from netmend.unit import convention
from netmend.vocabulary import Evidence, Fault, Symptom


class TooFewEpochs(Cause, code="HYP-EPOCH-FEW"):
    """Training stops before it has converged.

    The loss is still falling steeply in the last epoch, so the result says little about what the program can reach.
    Train longer, as long as the curve says; where that would take many times as long, the steps are too small. A run that was interrupted, crashed or killed is not judged by its length.
    """

    few_epochs = convention(5, "passes over the data that are few for any training from scratch")
    hardly_any = convention(50, "updates that are hardly any: the optimiser has not even found its pace")
    few_steps = convention(150, "updates that are few for any training from scratch")
    moved = convention(
        0.03, "share of the loss that must have gone: one that does not move has another trouble"
    )
    least_blocks = convention(8, "parts of a curve from which on its second half shows a trend")
    known_metric = convention(0.97, "accuracy or R² at the end of a task that is learned")
    too_long = convention(10.0, "times as long, at best, from which on a longer training is no remedy")

    def accuse(self, case: Case) -> Iterator[Fault]:
        trace = case.trace
        passes, steps = epochs(trace), trace.run.steps
        if not finished(trace) or case.has("D110", "D130") or not self._on_its_way(case):
            return
        # A straight line means the same when there were hardly any steps: the curve had no time to bend.
        brief = steps <= self.few_steps and passes is not None and passes <= self.few_epochs
        short = case.first("D512")
        if short is not None:
            # Without a number of passes and without a loop over epochs it may be a stream, or a few steps on purpose.
            known = passes is not None or epoch_loop(case.sources, trace) is not None
            weight = STRONG if known else FAIR + WEAK / 2
            against = [*self._tiny_steps(case), *self._settled(case)]
            yield self._fault(case, short, [for_symptom(short, weight), *self._still_falling(case), *against])
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
            else:
                evidence.extend(self._tiny_steps(case))
            yield self._fault(case, symptom, evidence)

    def _on_its_way(self, case: Case) -> bool:
        """Whether the loss moved at all, and the task is not learned already."""
        course = objective(case.trace)
        if course is None:
            return True
        metrics = [
            course.metric_last,
            *(
                scores[-1]
                for t in case.trace.tables_of("evaluation")
                if (scores := t.known("metric")[1]).size
            ),
        ]
        if all(metric is not None and metric >= self.known_metric for metric in metrics):
            return False
        # So few updates move nothing, whatever else is wrong.
        hardly = case.trace.run.steps <= self.hardly_any
        return hardly or course.first - course.last > self.moved * abs(course.first)

    def _tiny_steps(self, case: Case) -> list[Evidence]:
        """With a rate far below what its optimiser needs no number of epochs is enough; a handful of updates is few all the same."""
        low = [symptom for symptom in case.of("D125") if symptom.detail.get("direction") != "high"]
        weight = WEAK / 2 if case.trace.run.steps <= self.hardly_any else STRONG
        return (
            [Evidence("With steps this small, no number of epochs is enough.", -weight, "D125")]
            if low
            else []
        )

    def _settled(self, case: Case) -> list[Evidence]:
        """A loss that fell and then stayed is as low as this program gets: noise in its targets, or a term beside it."""
        course = objective(case.trace)
        if course is None or course.fell < self.moved or case.trace.run.steps <= self.hardly_any:
            return []
        if len(course.losses) < self.least_blocks or times_longer(course, 0.9) is not None:
            return []
        return [Evidence("The loss no longer fell in the second half of the run.", -FAIR)]

    @staticmethod
    def _still_falling(case: Case) -> list[Evidence]:
        """A loss that was still falling when it ended says the same once more."""
        return [for_symptom(symptom, WEAK) for symptom in case.of("D505")[:1]]

    def _fault(self, case: Case, symptom: Symptom, evidence: list[Evidence]) -> Fault:
        loop = epoch_loop(case.sources, case.trace)
        remedy, slow = self._remedy(case)
        if loop is not None and loop.given:
            remedy = f"The program was started with `{loop.given}`. {remedy}"
        return self.fault(
            symptom,
            [*evidence, *slow],
            component="training loop",
            site=usual_site(case.trace, "step") if loop is None else loop.count,
            reason="Training stops while the model is still improving, so the weights and the scores are those of an unfinished run.",
            remedy=remedy,
            refutation="Doubling the number of epochs does not lower the loss.",
            related=() if loop is None else (loop.loop,),
        )

    def _remedy(self, case: Case) -> tuple[str, list[Evidence]]:
        """How much longer, as the curve says; and whether that is a remedy at all."""
        course, passes = objective(case.trace), epochs(case.trace)
        left = None if course is None else course.last_relative
        level = 0.5 if left is None or left <= LEARNED else LEARNED / left
        times = None if course is None else times_longer(course, level)
        if course is None or times is None:
            return "Train about four times as long, and check whether the loss keeps falling.", []
        best, worst = times
        goal = "half of its last value"
        if level != 0.5:
            goal = f"{LEARNED:g} times that of the best constant prediction"
        if best > self.too_long:
            text = f"At its pace the loss would need {best:.0f} times as many updates to reach {goal}."
            return (
                f"{text} More epochs alone are not enough: raise the learning rate first, then train longer.",
                [Evidence(text, -FAIR)],
            )
        low, high = max(2, round(best)), min(round(worst), round(4 * best))
        span = f"about {low} times" if high <= low else f"{low} to {high} times"
        unit = ""
        if passes is not None and passes >= 1:
            ends = sorted({round(low * passes), round(max(low, high) * passes)})
            unit = f" ({' to '.join(map(str, ends))} epochs instead of {passes:.0f})"
        return f"Train {span} as long{unit}: at its pace the loss then reaches {goal}.", []

    FAULTY = (*StillFalling.FAULTY, *ShortTraining.FAULTY[1:2])


class TooManyEpochs(Cause, code="HYP-EPOCH-MANY"):
    """Training continues long after the best evaluation.

    From some point on the network only learns its training samples by heart, and answers new ones worse.
    Stop early, or keep the weights of the best evaluation.
    """

    many_epochs = convention(60, "passes over the data that are many for a network of any size")
    unlearned = convention(0.9, "a training loss that high was not learned by heart")

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D507"):
            evidence = [for_symptom(symptom, STRONG)]
            passes = epochs(case.trace)
            if passes is not None and passes >= self.many_epochs:
                evidence.append(Evidence(f"Every training sample was seen about {passes:.0f} times.", FAIR))
            if (broken := case.first("D502", "D110")) is not None:
                evidence.append(Evidence("The training loss itself rose.", -STRONG, broken.code))
            reached = level(case)
            if reached is not None and reached > self.unlearned:
                text = f"The training loss itself ended at {reached:.2f} of that of the best constant prediction."
                evidence.append(Evidence(text, -STRONG))
            loop = epoch_loop(case.sources, case.trace)
            yield self.fault(
                symptom,
                evidence,
                component="training loop",
                site=usual_site(case.trace, "step") if loop is None else loop.count,
                reason="The later part of the run makes predictions on new samples worse, and costs time.",
                remedy=f"Stop around step {symptom.first_step}, or keep the weights of the best evaluation and restore them at the end.",
                refutation="Your metric keeps improving although the evaluation loss rises.",
                related=() if loop is None else (loop.loop,),
            )

    FAULTY = Overtraining.FAULTY


_RESULTS = ("D102", "D109", "D114", "D220", "D224", "D226")  # of little training, or of no weight


@accuses("DAT-LITTLE", FewSamples)
def too_little_data(case: Case, symptom: Symptom) -> Accusation | None:
    """There are hardly any training samples.

    From a handful of samples nothing general can be learned, and an epoch over them is an update or two. Look where the data is cut: the parts of a split
    exchanged, a subset of a first try left in. With no more data, use a smaller or pretrained network, and augmentation.
    """
    if case.has("D506"):
        return None  # then the gap between training and evaluation says more
    evidence: list[Evidence] = []
    evidence += [for_symptom(s, FAIR) for s in case.of("D505", "D512", "D501", "D508")[:1]]
    if any(s.code[:2] in ("D1", "D2", "D4") and s.code not in _RESULTS for s in case.symptoms):
        evidence.append(Evidence("Something else is broken and would explain it.", -STRONG))
    origin = input_origin(case, inside=False)
    return Accusation(
        STRONG + WEAK,
        evidence=evidence,
        component="training data",
        site=symptom.site or origin,
        reason="So few samples say little about the task, and one epoch over them is hardly any training.",
        remedy="Train on more of the data: check how it is split. If there is no more, use a smaller or pretrained network.",
        refutation="Training on ten times as many samples is no better.",
        related=(origin,),
        explains=("D319", "D501", "D504", "D505", "D508", "D512"),
    )
