"""D110 NonfiniteOrigin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np

from netmend.diagnose.detector import register
from netmend.diagnose.measures.examples import falling
from netmend.diagnose.measures.motion import motions
from netmend.diagnose.measures.net_examples import net_run
from netmend.unit import Run, threshold
from netmend.vocabulary import Event, Site, Symptom, Trace

_EVENT = Event(
    60,
    "nonfinite",
    "the loss became NaN at step 60: first made by log in loss at train.py:20",
    "loss",
    Site("train.py", 20),
    {"what": "loss", "operation": "log", "phase": "forward", "exact": True},
)
_DIVISION = Event(
    60,
    "nonfinite",
    "the loss became NaN at step 60: first made by div in loss at train.py:20",
    "loss",
    Site("train.py", 20),
    {"what": "loss", "operation": "div", "phase": "forward", "exact": True},
)
_IN_LOSS = ("div", "log", "log2", "log10", "sqrt", "reciprocal", "truediv")  # fail at zero, whatever the rate
_GRADIENT = Event(3, "nonfinite", "the gradient became NaN at step 3", "", None, {"what": "gradient"})


@register
class NonfiniteOrigin:
    """A NaN or infinity appeared, first produced by one operation.

    Every weight that the gradient reaches is lost with the next step. Usual causes: values that overflow because steps are too
    large, a logarithm or division of zero, the root of zero in the gradient, invalid values in the data.
    """

    code: ClassVar[str] = "D110"

    growth: float = threshold(
        20.0,
        "calibrated",
        "rise of loss or weights before; runs that broke by a log or a division show less than 3",
    )
    recovered: float = threshold(
        0.5, "convention", "share of later losses that are finite: the program skipped the bad step by itself"
    )

    again_limit: int = threshold(
        3,
        "convention",
        "further losses that are not finite: a division or logarithm of the loss fails now and then",
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for event in trace.events:
            if event.kind != "nonfinite" or self._recovered(trace, event):
                continue
            rise = self._rise(trace, event.step)
            grew = rise >= self.growth
            before = f" The loss or the weights had grown {rise:.3g}-fold before." if grew else ""
            yield Symptom(
                self.code,
                f"{event.message[:1].upper()}{event.message[1:]}.{before}",
                component=event.component,
                first_step=event.step,
                observed=rise,
                limit=self.growth,
                site=event.site,
                detail={**event.detail, "grew": grew},
            )
            return

    def _recovered(self, trace: Trace, event: Event) -> bool:
        steps, losses = trace.loss
        later = losses[steps > event.step]
        made = event.detail.get("what") == "loss" and event.detail.get("operation") in _IN_LOSS
        if made and int((~np.isfinite(later)).sum()) >= self.again_limit:
            return False
        return len(later) > 0 and float(np.isfinite(later).mean()) > self.recovered

    def _rise(self, trace: Trace, step: int) -> float:
        """How far the loss, or the weights, had grown when it happened; their own overflow is the extreme."""
        steps, losses = trace.loss
        before = losses[(steps <= step) & np.isfinite(losses)]
        found = [1.0]
        if len(before) >= 2 and before[0] > 0:
            found.append(float(before[-3:].max() / before[0]))
        for motion in motions(trace):
            growth = motion.growth
            if growth is not None:
                found.append(growth if np.isfinite(growth) else self._last_finite(trace, step))
        return max(found)

    def _last_finite(self, trace: Trace, step: int) -> float:
        """Growth of the weights at the last look at which they were finite."""
        ratios = [
            float(sizes[np.isfinite(sizes) & (steps < step)][-1]) / parameter.initial.rms
            for parameter in trace.parameters
            if parameter.initial.rms and len(parameter.shape) > 1
            for steps, sizes in [trace.series("weight", parameter.name, "rms")]
            if (np.isfinite(sizes) & (steps < step)).any()
        ]
        return float(np.median(ratios)) if ratios else 1.0

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        steps = [event.step for event in trace.events if event.kind == "nonfinite"]
        return {"growth": self._rise(trace, steps[0])} if steps else {}

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("finite throughout", lambda: net_run()),
        Run(
            "one division that gave NaN",
            lambda: net_run(
                losses=[float("nan") if n == 60 else value for n, value in enumerate(falling(120))],
                events=[_DIVISION],
            ),
        ),
        Run("a bad step that the program skipped", lambda: net_run(events=[_GRADIENT])),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "a division by zero now and then",
            lambda: net_run(
                losses=[
                    float("nan") if n in (60, 75, 90, 95) else value for n, value in enumerate(falling(120))
                ],
                events=[_DIVISION],
            ),
        ),
        Run(
            "the logarithm of zero",
            lambda: net_run(losses=[*falling(61), *[float("nan")] * 20], events=[_EVENT]),
        ),
        Run(
            "overflow",
            lambda: net_run(
                losses=[*(10.0**n for n in range(20)), *[float("nan")] * 60], events=[_EVENT], growth=1e6
            ),
        ),
    )
