"""D303 InputLayoutSuspect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.unit import Run, threshold
from netmend.vocabulary import ProbeFact, Site, Symptom, Trace


def _trace(given: float, channels_last: float) -> Trace:
    values = {"given": given, "channels_last": channels_last}
    probe = ProbeFact("layout@model", "layout", "model", 0, values, Site("train.py", 20))
    return Trace(facts={"probe": {probe.name: probe}})


@register
class InputLayoutSuspect:
    """Images look much smoother when read with the channels last than in the layout used.

    Neighbouring pixels of an image are alike. When height, width and channels were reshaped instead of permuted, numbers that lie side by side no longer belong to
    neighbouring pixels, and convolutions see scrambled pictures.
    """

    code: ClassVar[str] = "D303"

    ratio_limit: float = threshold(
        1.4,
        "calibrated",
        "difference of neighbours as given over that with channels last; healthy programs stay below 1.1",
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for probe, ratio in _ratios(trace):
            if ratio > self.ratio_limit:
                yield Symptom(
                    self.code,
                    f"Neighbouring pixels of the input of {probe.component} differ {ratio:.1f} times as much as they would if the "
                    "channels came last: height, width and channels seem to be mixed up.",
                    component=probe.component,
                    first_step=probe.step,
                    observed=ratio,
                    limit=self.ratio_limit,
                    site=probe.site,
                )

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        ratios = [ratio for _, ratio in _ratios(trace)]
        return {"ratio_limit": max(ratios)} if ratios else {}

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("pictures as they should be", lambda: _trace(0.2, 0.5)),
        Run("noise looks the same either way", lambda: _trace(1.0, 1.0)),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (Run("reshaped instead of permuted", lambda: _trace(0.6, 0.2)),)


def _ratios(trace: Trace) -> Iterator[tuple[ProbeFact, float]]:
    for probe in trace.probes("layout"):
        given, other = probe.values.get("given"), probe.values.get("channels_last")
        if isinstance(given, int | float) and isinstance(other, int | float) and other > 0:
            yield probe, given / other
