"""D211 ClippingEatsGradient."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from netmend.diagnose.detector import register
from netmend.diagnose.measures.loop import usual_site
from netmend.diagnose.measures.loop_examples import optimizer, trained
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Table, Trace


def _clipped(norm: float, limit: float) -> Table:
    return Table.of("clip", "", dict.fromkeys(range(40), (norm, limit)))


@register
class ClippingEatsGradient:
    """Clipping cuts nearly every gradient down to a tiny part of its length.

    Clipping is meant to stop rare bursts. When it cuts each step by a large factor, plain SGD moves that factor too slowly.
    Usual causes: a limit far below the usual gradient norm, a limit meant for another reduction of the loss, clipping before
    gradients are unscaled.
    """

    code: ClassVar[str] = "D211"

    factor: float = threshold(
        100.0,
        "calibrated",
        "196 healthy runs cut the median gradient by at most 2.9",
    )
    share: float = threshold(0.9, "convention", "nearly every step; bursts are what clipping is for")
    least_steps: int = threshold(8, "convention", "the first steps of a run may be bursts")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        ratios = _ratios(trace)
        if len(ratios) < self.least_steps or (ratios > 1).mean() < self.share:
            return
        usual = float(np.median(ratios))
        if usual < self.factor:
            return
        table = trace.table("clip")
        limit = float(np.median(table.column("limit")))
        yield Symptom(
            self.code,
            f"Clipping to a norm of {limit:.3g} made the usual gradient {usual:,.0f} times shorter, on "
            f"{(ratios > 1).mean():.0%} of the steps.",
            component="clip_grad_norm_",
            first_step=int(table.steps[0]),
            observed=usual,
            limit=self.factor,
            site=usual_site(trace, "clip"),
            detail={"limit": limit, "norm": usual * limit, "share": float((ratios > 1).mean())},
        )

    def extremes(self, trace: Trace) -> dict[str, float]:
        ratios = _ratios(trace)
        return {"factor": float(np.median(ratios))} if len(ratios) else {}

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("only bursts are cut", lambda: trained(optimizer(), _clipped(0.7, 1.0))),
        Run("cut on every step, but not by much", lambda: trained(optimizer(), _clipped(30.0, 1.0))),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("nothing is left", lambda: trained(optimizer(), _clipped(2.0, 1e-4))),
    )


def _ratios(trace: Trace) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Gradient norm over the limit, per step."""
    table = trace.table("clip")
    norms, limits = table.column("norm"), table.column("limit")
    there = np.isfinite(norms) & np.isfinite(limits) & (limits > 0)
    return np.asarray(norms[there] / limits[there])
