"""LYR-FILTER, of a network that trains."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.layer_sizes import PointwiseKernels
from netmend.localise.case import Case
from netmend.localise.cause import STRONG, fault, for_symptom, register
from netmend.localise.lines.follow import argument_origin
from netmend.localise.outcome import harm, relief
from netmend.unit import Run
from netmend.vocabulary import Fault


@register
class KernelTooSmall:
    """The convolutions have kernels of 1, so that no place sees its neighbours.

    Edges, shapes and rhythms lie in how neighbouring values differ, and nothing in such a network compares them before everything is pooled or flattened.
    Use kernels of 3 or 5, with padding of half of that.
    """

    code: ClassVar[str] = "LYR-FILTER"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D127")[:1]:
            origin = argument_origin(case.sources, symptom.site, "kernel_size", 2)
            yield fault(
                self.code,
                [for_symptom(symptom, STRONG), *harm(case), *relief(case, 2 * STRONG)],
                component=symptom.component,
                site=symptom.site if origin is None else origin.site,
                summary=symptom.message,
                reason="Samples differ in local patterns, but these layers look at one position at a time.",
                remedy=f"Use `kernel_size=3, padding=1` in {symptom.component} and in the other convolutions.",
                refutation="Training is no better with a kernel size of 3.",
                related=(symptom.site,),
                explains=("D109", "D127", "D501", "D504", "D508", "D511"),
            )

    FAULTY: ClassVar[tuple[Run, ...]] = PointwiseKernels.FAULTY
