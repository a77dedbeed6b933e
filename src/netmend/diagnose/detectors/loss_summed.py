"""D410 LossSummed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from netmend.diagnose.detector import register
from netmend.diagnose.measures.heads import Head, heads
from netmend.diagnose.measures.loss_examples import given, run_of, wanted
from netmend.diagnose.measures.progress import progress
from netmend.diagnose.measures.rates import ADAPTIVE
from netmend.diagnose.measures.wiring import wires
from netmend.unit import Run, threshold
from netmend.vocabulary import OptimizerFact, Symptom, Trace

_SCALE_FREE = (*ADAPTIVE, "Adagrad", "Adadelta", "Rprop", "Lion")  # steps as large for ten times the gradient


@register
class LossSummed:
    """The loss is summed over the batch instead of averaged, and training does not cope with it.

    The gradient is then as many times larger as there are samples, and so is the step with plain SGD: a rate that suits
    a mean is far too high. With a rate chosen for it, a sum is as good as a mean, so only runs that fail are told; optimisers such as
    Adam divide each gradient by its usual size, so a sum makes no difference to them.
    Usual causes: reduction="sum", or .sum() in a hand-written loss, with a usual learning rate.
    """

    code: ClassVar[str] = "D410"

    least_elements: int = threshold(8, "convention", "a sum over fewer values hardly differs from a mean")
    relative_limit: float = threshold(
        1.0,
        "exact",
        "a loss above that of the best constant prediction: nothing was learned, or it was lost again",
    )
    least_looks: int = threshold(8, "convention", "values of the loss that are needed to say that it fails")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        if trace.optimizers and all(optimizer.kind in _SCALE_FREE for optimizer in trace.optimizers):
            return
        if not any(wire.changed is not False for wire in wires(trace)) and wires(trace):
            return  # nothing was moved by it
        for head in heads(trace):
            elements = self._elements(head)
            if head.loss.settings.get("reduction") != "sum" or elements < self.least_elements:
                continue
            how = self._fails(trace, head.loss.name)
            if how is not None:
                yield Symptom(
                    self.code,
                    f"`{head.loss.criterion}` is summed over {elements} values of a batch instead of averaged, and {how}.",
                    component=head.loss.name,
                    observed=float(elements),
                    limit=float(self.least_elements),
                    site=head.loss.created or head.loss.called,
                    detail={"elements": elements, "loss": head.loss.name},
                )

    @staticmethod
    def _elements(head: Head) -> int:
        classes = head.loss.criterion in ("cross_entropy", "nll_loss")
        return head.rows if classes else math.prod(head.given.shape)

    def _fails(self, trace: Trace, name: str) -> str | None:
        table = trace.table("progress", name)
        values = table.column("loss") if len(table) else trace.loss[1]
        if len(values) and not np.isfinite(values).all():
            return "the loss became NaN"
        for course in progress(trace):
            if course.loss != name or course.looks < self.least_looks or course.relative is None:
                continue
            late = float(np.min(course.relative[-max(1, len(course.relative) // 4) :]))
            if late > self.relative_limit:
                return f"the loss ended {late:.3g} times as high as that of the best constant prediction"
        return None

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run(
            "a sum with a rate that suits it",
            lambda: run_of(
                "mse_loss",
                given(32, 1),
                wanted(32, 1, whole=False),
                settings={"reduction": "sum"},
                course=[40.0, 20, 12, 9, 8, 8, 7, 7, 6, 6],
                constant=32.0,
            ),
        ),
        Run(
            "a sum that Adam does not feel",
            lambda: run_of(
                "mse_loss",
                given(32, 1),
                wanted(32, 1, whole=False),
                settings={"reduction": "sum"},
                course=[40.0, 45, 39, 44, 38, 42, 40, 39, 41, 38],
                constant=32.0,
                more=[OptimizerFact("optimizer", "Adam")],
            ),
        ),
        Run(
            "a mean that does not learn",
            lambda: run_of(
                "mse_loss", given(32, 1), wanted(32, 1, whole=False), course=[1.0, 1.2] * 6, constant=1.0
            ),
        ),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "a sum that runs away",
            lambda: run_of(
                "mse_loss",
                given(32, 1),
                wanted(32, 1, whole=False),
                settings={"reduction": "sum"},
                course=[40.0, 200, 900, 4000, 2e4, 9e4, 4e5, 1e6, 1e7, math.nan],
                constant=32.0,
            ),
        ),
        Run(
            "a sum that never gets below the constant prediction",
            lambda: run_of(
                "cross_entropy",
                given(64, 4),
                wanted(64),
                settings={"reduction": "sum"},
                course=[90.0, 300, 200, 350, 220, 310, 260, 330, 210, 300],
                constant=88.0,
            ),
        ),
    )
