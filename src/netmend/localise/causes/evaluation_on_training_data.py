"""VAL-SPLIT."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.shared_samples import TrainedOnTestPart, TrainingEvaluationOverlap
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, fault, for_symptom, register
from netmend.localise.lines.data_origin import input_origin
from netmend.localise.lines.head_lines import text_at
from netmend.localise.lines.split_line import dataset_line, several_loaders, split_line
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
            cut = split_line(case)
            if symptom.detail.get("windows") and cut is None and any(case.sources.files()):
                continue  # one text without parts: the loss on what is learned is looked at on purpose
            loaders = [loader for loader in case.trace.loaders if loader.phase == "evaluation"]
            site = cut or (loaders[0].created if loaders else None) or input_origin(case)
            yield fault(
                self.code,
                [for_symptom(symptom, FAIR if unsure else STRONG + FAIR)],
                component="evaluation data",
                site=site,
                summary=symptom.message,
                reason="The evaluation score then shows what was memorised, not how new samples would do.",
                remedy="Split the data before anything is duplicated or augmented, so that no sample is in both parts.",
                refutation="Equal inputs are different samples: the inputs have only a few possible values.",
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
        return fault(
            self.code,
            evidence,
            component="training data",
            site=site,
            summary=symptom.message,
            reason="The score on the test part then shows what was memorised, and the training part is not used.",
            remedy=f'Load the training part at {text_at(case, site)}: `train=True` (or `split="train"`), and keep the test part for evaluation.',
            refutation="The test part was itself split into training and evaluation data.",
            related=[loader.created for loader in case.trace.loaders],
            explains=("D309",),
        )

    FAULTY: ClassVar[tuple[Run, ...]] = (*TrainingEvaluationOverlap.FAULTY, *TrainedOnTestPart.FAULTY[:2])
