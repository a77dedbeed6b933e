"""LYR-OUT-SHAPE."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.output_ranges import OutputWidthMismatch
from netmend.diagnose.measures.heads import Head
from netmend.diagnose.measures.loss_examples import run_of
from netmend.diagnose.measures.progress import progress
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, fault, for_symptom, register
from netmend.localise.lines.follow import argument_origin
from netmend.localise.lines.head_lines import STUCK, head_of, last_layer, text_at
from netmend.unit import Run, threshold
from netmend.vocabulary import Evidence, Fault, ModuleFact, Site, Symptom


@register
class OutputWidth:
    """The last layer has too few or too many outputs for the targets.

    Classes need one output each, real targets one each. With fewer, a class id has no output, or one answer must serve several targets.
    Set the width of the last layer to the number of classes or targets.
    """

    code: ClassVar[str] = "LYR-OUT-SHAPE"

    well_fitted: float = threshold(
        0.3,
        "convention",
        "a loss this far below the best constant prediction: the targets are met all the same",
    )

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D406", "D411"):
            what = symptom.detail.get("what", "")
            if what not in ("single class", "width", "class id"):
                continue
            head = head_of(case, symptom)
            layer = last_layer(case, head)
            site, related = self._lines(case, layer, symptom)
            yield fault(
                self.code,
                [
                    for_symptom(symptom, STRONG + 1.5 if what == "width" else PROVEN + 1.5),
                    *self._against(case, head),
                ],
                component=layer.name if layer is not None else symptom.component,
                site=site,
                summary=symptom.message,
                reason="Every class or target needs its own output.",
                remedy=f"Set the width of the last layer at {text_at(case, site)} to {_needed(case, symptom)}.",
                refutation="The outputs share a target on purpose, like the members of an ensemble.",
                related=[*related, symptom.site],
                explains=(*STUCK, "D306", "D701"),
            )

    def _against(self, case: Case, head: Head | None) -> Iterator[Evidence]:
        """Several outputs for one target do no harm where all of them learn it."""
        for course in progress(case.trace):
            share = course.last_relative if head is not None and course.loss == head.loss.name else None
            if share is not None and 0 < share < self.well_fitted:
                yield Evidence(
                    f"The loss ended at {share:.2g} times that of the best constant prediction.",
                    -STRONG - FAIR,
                )

    @staticmethod
    def _lines(
        case: Case, layer: ModuleFact | None, symptom: Symptom
    ) -> tuple[Site | None, tuple[Site | None, ...]]:
        if layer is None or layer.created is None:
            return symptom.site, ()
        name, position = ("out_channels", 1) if "out_channels" in layer.settings else ("out_features", 1)
        origin = argument_origin(case.sources, layer.created, name, position)
        if origin is None:
            return layer.created, (layer.called,)
        return origin.site, (layer.created, layer.called)

    FAULTY: ClassVar[tuple[Run, ...]] = (
        *OutputWidthMismatch.FAULTY,
        Run(
            "more classes than outputs",
            lambda: run_of("cross_entropy", exception="IndexError: Target 9 is out of bounds."),
        ),
    )


def _needed(case: Case, symptom: Symptom) -> str:
    what = symptom.detail["what"]
    if what == "class id":
        label = int(symptom.detail["label"])
        if label < 0:
            return "the number of classes, and number the classes from 0"
        return f"the number of classes (at least {label + 1}), or number the classes from 0"
    return "the number of classes" if what == "single class" else "the number of targets per sample"
