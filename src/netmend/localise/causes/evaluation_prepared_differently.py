"""PRE-TRAIN-TEST-SKEW."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.diagnose.detectors.training_evaluation_skew import TrainingEvaluationSkew
from netmend.diagnose.measures.objective import evaluations, objective
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, STRONG, fault, for_symptom, register
from netmend.localise.data_origin import input_origin
from netmend.localise.split_line import split_line
from netmend.unit import Run
from netmend.vocabulary import Evidence, Fault, Site


@register
@dataclass(frozen=True)
class EvaluationPreparedDifferently:
    """Training and evaluation data are prepared differently.

    The network is asked about inputs of another offset or scale than it has learned from. Put all preparation into one function, with
    statistics of the training data, and use it for both.
    """

    code: ClassVar[str] = "PRE-TRAIN-TEST-SKEW"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D310"):
            evidence = [for_symptom(symptom, STRONG)]
            course, passes = objective(case.trace), evaluations(case.trace)
            if course is not None and passes is not None and course.last > 0:
                gap = float(passes[1][-1]) / course.last
                worse = f"The evaluation loss is {gap:.1f} times the training loss."
                evidence.append(Evidence(worse, STRONG if gap > 2 else -FAIR))
            yield fault(
                self.code,
                evidence,
                component="evaluation data",
                site=_site(case),
                summary=symptom.message,
                reason="The network is asked about another kind of inputs than it has learned from.",
                remedy="Prepare evaluation data with the same function and the same (training) statistics as training data.",
                refutation="The evaluation data is meant to differ.",
                related=[loader.created for loader in case.trace.loaders],
                explains=("D311", "D506", "D507"),
            )

    FAULTY: ClassVar[tuple[Run, ...]] = TrainingEvaluationSkew.FAULTY


def _site(case: Case) -> Site | None:
    loaders = [loader.created for loader in case.trace.loaders if loader.phase == "evaluation"]
    return (loaders[0] if loaders else None) or split_line(case) or input_origin(case)
