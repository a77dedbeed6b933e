"""D114 UpdateRatioUneven."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np

from netmend.diagnose.detector import register
from netmend.diagnose.measures.motion import comparable
from netmend.diagnose.measures.net_examples import net_run
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Table, Trace


def _run(ratios: dict[int, float]) -> Trace:
    plain = net_run("Linear(9,32) ReLU Linear(32,32) ReLU Linear(32,32) ReLU Linear(32,4)")
    tables = dict(plain.tables)
    for layer, ratio in ratios.items():
        name = f"model.{layer}.weight"
        tables["update", name] = Table.of("update", name, dict.fromkeys(range(40), (0.0, ratio)))
    return Trace(plain.facts, tables, plain.patterns)


@register
class UpdateRatioUneven:
    """Some layers move thousands of times faster than others, relative to their size.

    No single learning rate suits them: it is too high for some or too low for others. Usual causes: gradients that vanish or explode
    over the depth, layers that start at very different scales, very different rates per group.
    """

    code: ClassVar[str] = "D114"

    spread_limit: float = threshold(
        1000.0, "calibrated", "fastest over slowest layer of one optimiser; healthy programs stay below 60"
    )
    least_layers: int = threshold(3, "convention", "two layers are no pattern")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        speeds = self._speeds(trace)
        if len(speeds) < self.least_layers:
            return
        slow, fast = min(speeds, key=lambda n: speeds[n]), max(speeds, key=lambda n: speeds[n])
        spread = speeds[fast] / speeds[slow]
        if spread >= self.spread_limit:
            yield Symptom(
                self.code,
                f"The weight {fast} moves {spread:.2g} times as fast as {slow}, relative to their sizes.",
                component=slow,
                observed=spread,
                limit=self.spread_limit,
                detail={"fast": fast},
            )

    def _speeds(self, trace: Trace) -> dict[str, float]:
        """Median relative update of every comparable weight that moves at all; groups with rates of their own are left out."""
        held = {p.group for p in comparable(trace)}
        if len(held) > 1:
            return {}
        found = {}
        for parameter in comparable(trace):
            _, ratios = trace.series("update", parameter.name, "ratio")
            moving = ratios[np.isfinite(ratios) & (ratios > 0)]
            if len(moving) >= 4:
                found[parameter.name] = float(np.median(moving))
        return found

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        speeds = self._speeds(trace)
        if len(speeds) < self.least_layers:
            return {}
        return {"spread_limit": max(speeds.values()) / min(speeds.values())}

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("even", lambda: net_run("Linear(9,32) ReLU Linear(32,32) ReLU Linear(32,4)")),
        Run("one layer ten times slower", lambda: _run({0: 3e-4})),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (Run("the first layer stands still", lambda: _run({0: 1e-7})),)
