"""PRE-MISS-SCALE."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.data_values import TargetBadlyScaled
from netmend.diagnose.measures.ending import finished
from netmend.diagnose.measures.examples import flat, run_with
from netmend.diagnose.measures.objective import constant_of
from netmend.diagnose.measures.progress import progress
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, STRONG, fault, for_symptom, register
from netmend.localise.lines.data_origin import target_origin
from netmend.localise.outcome import hardly_trained, rivals
from netmend.unit import Run, threshold
from netmend.vocabulary import Evidence, Fault, Trace

_RIVALS = {
    "D106": "The gradients vanish on their way.",
    "D111": "The weights start symmetric.",
    "D113": "Biases start badly.",
}


@register
class TargetsNotScaled:
    """The targets of a regression are not scaled.

    The network starts at about zero; most of the training is spent on reaching the size of the targets, with gradients of that size.
    Standardise the targets with training statistics and undo it on the predictions.
    """

    code: ClassVar[str] = "PRE-MISS-SCALE"

    good_relative: float = threshold(
        0.4, "convention", "a program that learns as well as that is not hindered"
    )
    large_factor: float = threshold(10.0, "convention", "times the limit from which size alone weighs more")

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D305"):
            course = next((c for c in progress(case.trace) if c.loss == symptom.component), None)
            evidence = [for_symptom(symptom, STRONG)]
            if symptom.observed and symptom.limit and symptom.observed > self.large_factor * symptom.limit:
                evidence.append(Evidence("The targets are far larger than a new network's outputs.", FAIR))
            if course is None or course.last_relative is None:
                continue
            if self._learned(case, course.loss):
                evidence.append(
                    Evidence(f"The program learns anyway ({course.last_relative:.2f}).", -2 * STRONG)
                )
            elif hardly_trained(case):
                evidence.append(Evidence("There were too few steps, or they were too small.", -STRONG))
            elif finished(case.trace):
                evidence.append(
                    Evidence(
                        f"At the end the loss was still {course.last_relative:.2f} times that of the best constant prediction.",
                        FAIR,
                    )
                )
            if any(s.code == "D305" and self._learned(case, s.component) for s in case.symptoms):
                evidence.append(
                    Evidence("Another network of the same program learned such targets.", -2 * STRONG)
                )
            evidence += rivals(case, _RIVALS, FAIR)
            yield fault(
                self.code,
                evidence,
                component=symptom.component,
                site=target_origin(case),
                summary=symptom.message,
                reason="The output must first grow to the size of the targets, and until then the gradients are that large too.",
                remedy="Standardise the targets, `y = (y - y.mean()) / y.std()` with training statistics, and undo it on the predictions.",
                refutation="Standardising the targets does not lower the relative loss.",
                related=(symptom.site,),
                explains=(
                    "D501",
                    "D502",
                    "D503",
                    "D508",
                    "D505",
                    "D412",
                    "D103",
                    "D102",
                    "D115",
                    "D504",
                    "D101",
                ),
            )

    def _learned(self, case: Case, loss: str) -> bool:
        """Whether that loss came down, for one of the optimisers that take turns at it."""
        course = next((c for c in progress(case.trace) if c.loss == loss), None)
        if course is None or course.last_relative is None:
            return False
        constant = constant_of(course)
        ends = [] if constant is None or len(progress(case.trace)) > 1 else _ends(case.trace)
        return min([course.last_relative, *(end / constant for end in ends if constant)]) < self.good_relative

    FAULTY: ClassVar[tuple[Run, ...]]


def _example() -> Trace:
    trace, prices = run_with(flat(200, 1.2), criterion="mse_loss"), TargetBadlyScaled.FAULTY[0].trace
    return Trace({**trace.facts, **prices.facts}, trace.tables)


TargetsNotScaled.FAULTY = (Run("prices, nothing learned", lambda: _example()),)


def _ends(trace: Trace) -> list[float]:
    """The mean loss of each optimiser's last steps, where several train networks side by side."""
    if len(trace.optimizers) < 2:
        return []
    losses = [table.known("loss")[1] for table in trace.tables_of("step")]
    return [float(values[-max(1, len(values) // 10) :].mean()) for values in losses if len(values)]
