"""D301 InputNonfinite."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from netmend.diagnose.detector import register
from netmend.unit import Run, threshold
from netmend.vocabulary import ModelFact, Symptom, Table, Trace


def _trace(counts: list[float]) -> Trace:
    rows = {step: (0.0, 1.0, -2.0, 2.0, count) for step, count in enumerate(counts)}
    return Trace(tables={("input", "model"): Table.of("input", "model", rows)})


@register
class InputNonfinite:
    """A batch that reached a model holds NaN or infinite values.

    One such value makes the loss, then every gradient and then every weight NaN. Usual causes: missing entries in a table, a division by
    a standard deviation of zero, the logarithm of zero in preprocessing.
    """

    code: ClassVar[str] = "D301"

    least_values: int = threshold(1, "exact", "a single NaN is enough to spoil every weight")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for table in trace.tables_of("input"):
            steps, counts = table.known("nonfinite")
            bad = np.flatnonzero(counts >= self.least_values)
            if not len(bad):
                continue
            model = trace.get(ModelFact, table.component)
            if model is not None and not model.parameters:
                continue  # a loss: what it is given was made by the network
            born = [event.step for event in trace.events if event.kind == "nonfinite"]
            if born and min(born) < int(steps[bad[0]]):
                continue  # the trouble began elsewhere
            yield Symptom(
                self.code,
                f"The input of {table.component} held {int(counts[bad[0]])} non-finite values at step {int(steps[bad[0]])}, "
                f"and in {len(bad)} of {len(counts)} batches looked at.",
                component=table.component,
                first_step=int(steps[bad[0]]),
                observed=float(counts[bad[0]]),
                limit=0.0,
                site=None if model is None else model.called,
            )

    HEALTHY: ClassVar[tuple[Run, ...]] = (Run("all finite", lambda: _trace([0.0] * 5)),)
    FAULTY: ClassVar[tuple[Run, ...]] = (Run("some rows hold NaN", lambda: _trace([0.0, 3.0, 0.0, 2.0])),)
