"""On which data a program evaluates, and how that is prepared."""

from __future__ import annotations

import math
from collections.abc import Iterator

from netmend.diagnose.detectors.evaluation_passes import TrainingEvaluationSkew
from netmend.diagnose.detectors.shared_samples import TrainedOnTestPart, TrainingEvaluationOverlap
from netmend.diagnose.measures.batches import features
from netmend.diagnose.measures.objective import evaluations, objective
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, Cause, for_symptom
from netmend.localise.lines.data_lines import (
    dataset_line,
    evaluated_origin,
    input_origin,
    prepared_in_loop,
    several_loaders,
    split_line,
)
from netmend.localise.lines.head_lines import text_at
from netmend.localise.outcome import level
from netmend.unit import convention, exact
from netmend.vocabulary import Evidence, Fault, Site, Symptom


class EvaluationOnTrainingData(Cause, code="VAL-SPLIT"):
    """Samples of the evaluation were trained on.

    The score then measures memory: it looks better than what new data will get. Split first, then duplicate, augment or fit anything; and cut
    the parts so that no sample is in both.
    """

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D309"):
            # all of it was trained on: perhaps it is meant as a training accuracy
            unsure = bool(symptom.detail.get("unsure"))
            cut = split_line(case)
            if symptom.detail.get("windows") and cut is None and any(case.sources.files()):
                continue  # one text without parts: the loss on what is learned is looked at on purpose
            loaders = [loader for loader in case.trace.loaders if loader.phase == "evaluation"]
            site = cut or (loaders[0].created if loaders else None) or input_origin(case)
            yield self.fault(
                symptom,
                [for_symptom(symptom, FAIR if unsure else STRONG + FAIR)],
                component="evaluation data",
                site=site,
                reason="The evaluation score then shows what was memorised, not how new samples would do.",
                remedy="Split the data before anything is duplicated or augmented, so that no sample is in both parts.",
                refutation="Equal inputs are different samples: the inputs have only a few possible values.",
                related=[loader.created for loader in case.trace.loaders],
            )

        for symptom in case.of("D321"):
            yield self._on_test_part(case, symptom)
        for symptom in case.of("D312"):
            yield self.fault(
                symptom,
                [for_symptom(symptom, STRONG + FAIR)],
                component="evaluation data",
                site=split_line(case) or input_origin(case),
                reason="Classes never seen in training cannot be learned; the score says nothing about the trained ones.",
                remedy="Shuffle the data before cutting it, or split every class in the same proportion.",
                refutation="New classes in evaluation are intended, as in few-shot learning.",
                related=[loader.created for loader in case.trace.loaders],
                explains=("D311", "D506", "D507"),
            )

    def _on_test_part(self, case: Case, symptom: Symptom) -> Fault:
        """The data set itself says which part it holds."""
        site = dataset_line(case, symptom.site) or symptom.site
        evidence = [for_symptom(symptom, PROVEN if symptom.detail["evaluated"] else FAIR)]
        if not symptom.detail["evaluated"] and several_loaders(case, symptom.site):
            evidence.append(Evidence("The program makes another loader, for its evaluation.", STRONG))
        return self.fault(
            symptom,
            evidence,
            component="training data",
            site=site,
            reason="The score on the test part then shows what was memorised, and the training part is not used.",
            remedy=f'Load the training part at {text_at(case, site)}: `train=True` (or `split="train"`), and keep the test part for evaluation.',
            refutation="The test part was itself split into training and evaluation data.",
            related=[loader.created for loader in case.trace.loaders],
            explains=("D309",),
        )

    FAULTY = (*TrainingEvaluationOverlap.FAULTY, *TrainedOnTestPart.FAULTY[:2])


class EvaluationPreparedDifferently(Cause, code="PRE-TRAIN-TEST-SKEW"):
    """Training and evaluation data are prepared differently.

    The network is asked about inputs of another offset or scale than it has learned from. Put all preparation into one function, with
    statistics of the training data, and use it for both.
    """

    loss_gap = convention(2.0, "evaluation loss over training loss that is a clear gap")
    metric_gap = convention(0.2, "accuracy or R² lost from training to evaluation")
    good_metric = convention(
        0.9, "accuracy or R² of an evaluation that does not suffer from how it is prepared"
    )
    half_range = exact(3**0.5, "half the range over standard deviation, of even values")
    plain_to_see = convention(10.0, "a difference that large is a fault however training went")
    unlearned = convention(0.9, "of the constant prediction's loss: nothing was learned")

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D310"):
            evidence = [for_symptom(symptom, STRONG)]
            if symptom.detail.get("rescaled"):
                text = "Range, mean and spread of the images all differ by the same change of scale."
                evidence.append(Evidence(text, STRONG))
            evidence += self._suffers(case)
            evidence += self._otherwise(case, symptom)
            yield self.fault(
                symptom,
                evidence,
                component="evaluation data",
                site=_site(case),
                reason="The network is evaluated on inputs unlike those it was trained on.",
                remedy="Prepare the evaluation data as the training data, with the statistics of the training data.",
                refutation="The evaluation data differs on purpose.",
                related=[loader.created for loader in case.trace.loaders],
                explains=("D311", "D506", "D507"),
            )

    def _suffers(self, case: Case) -> Iterator[Evidence]:
        """Whether evaluation is worse than training, by its loss or by what it gets right."""
        course, passes = objective(case.trace), evaluations(case.trace)
        if course is None or passes is None or course.last <= 0:
            return
        gap = float(passes[1][-1]) / course.last
        right = float(passes[2][-1])
        if gap > self.loss_gap:
            yield Evidence(f"The evaluation loss is {gap:.1f} times the training loss.", STRONG)
        elif course.metric_last is not None and course.metric_last - right > self.metric_gap:
            # A loss has no scale where the targets were changed with the inputs; the share that is explained has.
            text = f"Accuracy or R² is {course.metric_last:.2f} in training and {right:.2f} in evaluation."
            yield Evidence(text, STRONG)
        elif not math.isfinite(right) or right >= self.good_metric:
            yield Evidence(f"The evaluation loss is {gap:.1f} times the training loss.", -FAIR)

    def _otherwise(self, case: Case, symptom: Symptom) -> Iterator[Evidence]:
        """Other reasons for the difference: a split by order, or a training that failed by itself."""
        trained, evaluated = features(case.trace, "training"), features(case.trace, "evaluation")
        if trained is not None and evaluated is not None and len(trained.mean) == len(evaluated.mean) == 1:
            span, beside = self.half_range * trained.std[0], abs(evaluated.mean[0] - trained.mean[0])
            width = self.half_range * evaluated.std[0]
            if width < span and 0.8 * span <= beside - width <= 1.25 * span:
                text = "Evaluation starts where the training range ends: the data was split by order."
                yield Evidence(text, -2 * STRONG)
        exact = bool(symptom.detail.get("rescaled"))
        reached, mild = level(case), (symptom.observed or 0.0) < self.plain_to_see and not exact
        if mild and reached is not None and reached > self.unlearned:
            yield Evidence("Training itself learned nothing, whatever the evaluation data.", -STRONG)

    FAULTY = TrainingEvaluationSkew.FAULTY


def _site(case: Case) -> Site | None:
    loaders = [loader.created for loader in case.trace.loaders if loader.phase == "evaluation"]
    made = dataset_line(case, loaders[0]) if loaders else None
    found = made or (loaders[0] if loaders else None)
    return prepared_in_loop(case) or found or evaluated_origin(case) or split_line(case) or input_origin(case)
