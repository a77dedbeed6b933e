"""VAL-SPLIT."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.trained_on_test_part import TrainedOnTestPart
from netmend.diagnose.detectors.training_evaluation_overlap import TrainingEvaluationOverlap
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, fault, for_symptom, register
from netmend.localise.data_origin import input_origin
from netmend.localise.head_lines import text_at
from netmend.localise.split_line import dataset_line, several_loaders, split_line
from netmend.unit import Run
from netmend.vocabulary import Evidence, Fault, Symptom


@register
class EvaluationOnTrainingData:
    """Samples of the evaluation were trained on.

    The score then measures memory: it looks better than what new data will get. Split first, then duplicate, augment or fit anything; and cut
    the parts so that no sample is in both.
    """

    code: ClassVar[str] = "VAL-SPLIT"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D309"):
            unsure = bool(
                symptom.detail.get("unsure")
            )  # all of it was trained on: perhaps it is meant as a training accuracy
            loaders = [loader for loader in case.trace.loaders if loader.phase == "evaluation"]
            site = split_line(case) or (loaders[0].created if loaders else None) or input_origin(case)
            yield fault(
                self.code,
                [for_symptom(symptom, FAIR if unsure else STRONG + FAIR)],
                component="evaluation data",
                site=site,
                summary=symptom.message,
                reason="The score of the evaluation then tells what is remembered, not what new samples would get.",
                remedy="Cut training and evaluation data so that no sample is in both, before anything is duplicated or augmented.",
                refutation="Equal inputs are different samples, because the inputs take only few values.",
                related=[loader.created for loader in case.trace.loaders],
            )

        for symptom in case.of("D321"):
            yield self._on_test_part(case, symptom)
        for symptom in case.of("D312"):
            yield fault(
                self.code,
                [for_symptom(symptom, STRONG + FAIR)],
                component="evaluation data",
                site=split_line(case) or input_origin(case),
                summary=symptom.message,
                reason="What was never shown cannot be learned; the score says nothing about the classes that were trained.",
                remedy="Shuffle the data before cutting it, or split every class in the same proportion.",
                refutation="New classes in evaluation are meant, as in few-shot learning.",
                related=[loader.created for loader in case.trace.loaders],
                explains=("D311", "D506", "D507"),
            )

    def _on_test_part(self, case: Case, symptom: Symptom) -> Fault:
        """The data set itself says which part it holds."""
        site = dataset_line(case, symptom.site) or symptom.site
        evidence = [for_symptom(symptom, PROVEN if symptom.detail["evaluated"] else FAIR)]
        if not symptom.detail["evaluated"] and several_loaders(case, symptom.site):
            evidence.append(Evidence("The program makes another loader, for its evaluation.", STRONG))
        return fault(
            self.code,
            evidence,
            component="training data",
            site=site,
            summary=symptom.message,
            reason="The score on the test part then tells what is remembered, and the data meant for training is not used.",
            remedy=f'Load the training part at {text_at(case, site)}: `train=True` (or `split="train"`), and keep the test part for evaluation.',
            refutation="The test part was split anew into data for training and data for evaluation.",
            related=[loader.created for loader in case.trace.loaders],
            explains=("D309",),
        )

    FAULTY: ClassVar[tuple[Run, ...]] = (*TrainingEvaluationOverlap.FAULTY, *TrainedOnTestPart.FAULTY[:2])
