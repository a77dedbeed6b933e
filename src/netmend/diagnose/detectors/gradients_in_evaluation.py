"""D224 GradientsInEvaluation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.unit import Run, threshold
from netmend.vocabulary import LossFact, Symptom, Table, Trace


def _evaluated(passes: int, grad: float) -> Trace:
    rows = {100 * number: (0.5, 1.0, 0.8, 100.0, 4.0, 0.0, grad) for number in range(passes)}
    return Trace(
        tables={("evaluation", "loss@train.py:40"): Table.of("evaluation", "loss@train.py:40", rows)}
    )


@register
@dataclass(frozen=True)
class GradientsInEvaluation:
    """Evaluation passes record everything that a backward pass would need, and none follows.

    It costs memory and time, and nothing else.
    Usual cause: no torch.no_grad() around validation.
    """

    code: ClassVar[str] = "D224"

    least_passes: int = threshold(2, "convention", "a single pass may be a look at gradients")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for table in trace.tables_of("evaluation"):
            recorded = (table.column("grad_enabled") == 1) & (table.column("training_mode") == 0)
            if recorded.sum() < self.least_passes:
                continue
            loss = trace.get(LossFact, table.component)
            yield Symptom(
                self.code,
                f"{int(recorded.sum())} evaluation passes recorded gradients that nobody used.",
                component=table.component,
                first_step=int(table.steps[recorded][0]),
                observed=float(recorded.sum()),
                limit=float(self.least_passes),
                site=loss.called if loss is not None else None,
            )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("without gradients", _evaluated(5, 0.0)),
        Run("one look", _evaluated(1, 1.0)),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (Run("with gradients", _evaluated(5, 1.0)),)
