"""TOK-SHIFT-MISSING, TOK-SHIFT-EXTRA, TOK-SHIFT-WRONG."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from netmend.diagnose.detectors.sequences import TargetsNotNext as TargetsNotNextDetector
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, fault, for_symptom, register
from netmend.localise.lines.data_origin import target_origin
from netmend.localise.lines.target_line import target_line
from netmend.unit import Run
from netmend.vocabulary import Fault

_CODES = {0: "TOK-SHIFT-MISSING", 2: "TOK-SHIFT-EXTRA", -1: "TOK-SHIFT-WRONG"}
_SLICES = "with `x = data[i : i + T]`, `y = data[i + 1 : i + T + 1]`; in one tensor of whole rows, `x = ids[:, :-1]` and `y = ids[:, 1:]`"
_REASONS = {
    0: "The model only has to copy its input: it soon reaches 100 % accuracy without learning what comes next.",
    2: "The model learns to skip a token: generated text leaves out every other one.",
    -1: "The model only has to remember its previous input: it soon reaches 100 % accuracy without learning what comes next.",
}
_REMEDIES = {
    0: f"Shift the targets one position ahead of the inputs: {_SLICES}.",
    2: f"Shift the targets once, either here or in the model: {_SLICES}.",
    -1: f"Shift the targets one position ahead of the inputs, not behind: {_SLICES}.",
}


@register
class TargetsNotNext:
    """The targets of a model that reads a sequence from left to right are not the next elements of it.

    The same elements, or the last ones, can be copied from the input, so nothing is learned; targets shifted twice leave one out. Shift once: the target
    of a position is the element that follows it.
    """

    code: ClassVar[str] = "TOK-SHIFT-MISSING"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D803"):
            offset = symptom.detail["offset"]
            yield fault(
                _CODES[offset],
                [for_symptom(symptom, PROVEN)],
                component="training data",
                site=target_line(case) or target_origin(case) or symptom.site,
                summary=symptom.message,
                reason=_REASONS[offset],
                remedy=_REMEDIES[offset],
                refutation="The model is meant to reproduce its input.",
                related=[symptom.site],
                explains=("D505", "D506", "D507", "D508", "D512"),
            )

    FAULTY: ClassVar[tuple[Run, ...]] = tuple(
        replace(run, code=code)
        for run, code in zip(
            TargetsNotNextDetector.FAULTY,
            ("TOK-SHIFT-MISSING", "TOK-SHIFT-WRONG", "TOK-SHIFT-EXTRA"),
            strict=True,
        )
    )
