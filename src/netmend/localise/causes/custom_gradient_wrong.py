"""TRN-GRAD."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.experiments import GradientWrong
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, fault, for_symptom, register
from netmend.localise.effects import ANY
from netmend.unit import Run
from netmend.vocabulary import Fault, Symptom


@register
class CustomGradientWrong:
    """The backward of a custom autograd.Function does not return the gradient of its forward.

    Layers before the function follow a direction that has little to do with the loss.
    Correct backward(), and let `torch.autograd.gradcheck` confirm it on a small input in double precision.
    """

    code: ClassVar[str] = "TRN-GRAD"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D607"):
            line = case.sources.line(symptom.site) if symptom.site is not None else ""
            quoted = f"`{line}`" if line else "What backward() returns"
            yield fault(
                self.code,
                [for_symptom(symptom, PROVEN + 1.5)],
                component=symptom.component,
                site=symptom.site,
                summary=symptom.message,
                reason="Everything before this function is trained with a wrong gradient.",
                remedy=f"Correct {quoted}{_hint(symptom)} `torch.autograd.gradcheck` shows when it is right.",
                refutation="The backward deliberately differs from the true gradient.",
                explains=(*ANY, "D215", "D605"),
            )

    FAULTY: ClassVar[tuple[Run, ...]] = GradientWrong.FAULTY


def _hint(symptom: Symptom) -> str:
    """What a plain factor between the two gradients gives away."""
    ratio, error = symptom.detail.get("ratio"), symptom.observed
    if not ratio or error is None or abs(error - abs(ratio - 1)) > 0.02:
        return "."
    if abs(ratio + 1) < 0.02:
        return ": its sign is wrong."
    return f": it returns about {ratio:.2g} times the gradient."
