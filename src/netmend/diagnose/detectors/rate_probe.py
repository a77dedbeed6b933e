"""D608 RateProbe."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.probe_examples import probed
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace


@register
class RateProbe:
    """On one batch, copies of the model learn far better at another learning rate than at the program's.

    Only said with --probe. Ten steps on the first batch were tried at a hundredth, a tenth, ten and a hundred times the rate.
    Usual cause: a learning rate that is too high or too low. Ten steps say nothing about schedules with a warm-up.
    """

    code: ClassVar[str] = "D608"

    worse_limit: float = threshold(1.0, "exact", "of the first loss after ten steps: it rose")
    better_limit: float = threshold(
        0.7, "convention", "of the first loss: a lower rate must do plainly better on the same batch"
    )
    stuck_limit: float = threshold(
        0.999,
        "convention",
        "of the first loss after ten steps on one batch; Adam at 1e-3 leaves 0.98 even of a slow model's",
    )
    moved_limit: float = threshold(
        0.9, "convention", "of the first loss: a higher rate must do plainly better on the same batch"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for probe in trace.probes("rate probe"):
            own = _reached(probe.values, "x1")
            lower = min(_reached(probe.values, "x0.01"), _reached(probe.values, "x0.1"))
            higher = min(_reached(probe.values, "x10"), _reached(probe.values, "x100"))
            if own > self.worse_limit and lower < self.better_limit:
                direction, other = "too high", lower
            elif self.stuck_limit < own <= self.worse_limit and higher < self.moved_limit:
                direction, other = "too low", higher
            else:
                continue
            yield Symptom(
                self.code,
                f"Ten steps on one batch brought the loss to {own:.2f} of its start at the program's learning rate, and to {other:.2f} "
                f"at a {'lower' if direction == 'too high' else 'higher'} one.",
                component=probe.component,
                first_step=probe.step,
                observed=own,
                limit=self.better_limit,
                site=probe.site,
                detail={"direction": direction, **probe.values},
            )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run(
            "falls",
            lambda: probed("rate probe", {"x0.01": 1.0, "x0.1": 0.95, "x1": 0.6, "x10": 0.3, "x100": 9.0}),
        ),
        Run(
            "slow",
            lambda: probed("rate probe", {"x0.01": 1.0, "x0.1": 1.0, "x1": 0.98, "x10": 0.7, "x100": 0.02}),
        ),
        Run(
            "cautious",
            lambda: probed(
                "rate probe", {"x0.01": 1.0, "x0.1": 0.999, "x1": 0.98, "x10": 0.85, "x100": 0.72}
            ),
        ),
        Run(
            "nothing helps",
            lambda: probed("rate probe", {"x0.01": 1.0, "x0.1": 1.0, "x1": 1.0, "x10": 1.0, "x100": 1.0}),
        ),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "too high",
            lambda: probed(
                "rate probe", {"x0.01": 0.9, "x0.1": 0.3, "x1": 4.0, "x10": 80.0, "x100": math.nan}
            ),
        ),
        Run(
            "too low",
            lambda: probed("rate probe", {"x0.01": 1.0, "x0.1": 1.0, "x1": 0.9995, "x10": 0.99, "x100": 0.5}),
        ),
    )


def _reached(values: Mapping[str, Any], name: str) -> float:
    """The loss relative to its start; infinite where it was lost on the way."""
    value = values.get(name)
    return float(value) if value is not None and math.isfinite(value) else math.inf
