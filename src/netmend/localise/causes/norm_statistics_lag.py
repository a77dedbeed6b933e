"""LYR-NORM-STATS, told as API-USAGE."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from netmend.diagnose.detectors.norm_statistics import NormStatisticsLag as Detector
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, STRONG, fault, for_symptom, register
from netmend.localise.lines.follow import argument_origin
from netmend.unit import Run
from netmend.vocabulary import Fault


@register
class NormStatisticsLag:
    """The momentum of batch norm is so small that its running statistics never catch up.

    Training uses the statistics of the batch, evaluation the running ones; when these are still those of the start, evaluation sees another network.
    Leave `momentum` at 0.1. (In PyTorch it is the weight of the new value, not of the old one.)
    """

    code: ClassVar[str] = "LYR-NORM-STATS"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D316"):
            origin = argument_origin(case.sources, symptom.site, "momentum", 2)
            yield fault(
                "API-USAGE",
                [for_symptom(symptom, STRONG + STRONG + FAIR)],
                component=symptom.component,
                site=symptom.site if origin is None else origin.site,
                summary=symptom.message,
                reason="Evaluation normalises with statistics that do not match the data.",
                remedy="Use the default `momentum=0.1`; in PyTorch it is the weight of the new value.",
                refutation="Evaluation with batch statistics is just as bad.",
                related=(symptom.site,),
                explains=("D311", "D506", "D507", "D605", "D510", "D511"),
            )

    FAULTY: ClassVar[tuple[Run, ...]] = tuple(replace(run, code="API-USAGE") for run in Detector.FAULTY)
