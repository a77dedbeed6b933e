"""Label smoothing."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.diagnose.detectors.label_smoothing import LabelsSmoothedAway
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, Cause, for_symptom
from netmend.localise.effects import STUCK
from netmend.localise.lines.follow import argument_origin
from netmend.vocabulary import Fault


class LabelSmoothingTooStrong(Cause, code="LOS-SMOOTH"):
    """Labels are smoothed so much that little is left of them.

    The network is asked to be nearly as sure of every wrong class as of the right one, so it hardly learns to tell them apart.
    Smooth by about 0.1, or not at all.
    """

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D418"):
            origin = argument_origin(case.sources, symptom.site, "label_smoothing")
            yield self.fault(
                symptom,
                [for_symptom(symptom, PROVEN)],
                site=symptom.site if origin is None else origin.site,
                reason="The best answer under this loss is hardly surer of the true class than of the others.",
                remedy=f"Set `label_smoothing` to 0.1 (it is {symptom.observed:g}).",
                refutation="Targets this vague are meant, as in an experiment on calibration.",
                related=(symptom.site,),
                explains=STUCK,
            )

    FAULTY = LabelsSmoothedAway.FAULTY
