"""D103 ExplodingGradient."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np

from netmend.diagnose.detector import register
from netmend.diagnose.measures.depth import profiles
from netmend.diagnose.measures.net_examples import net_run
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Table, Trace

_DEEP = "Linear(10,32) ReLU " + "Linear(32,32) ReLU " * 5 + "Linear(32,4)"


def _with_norms(norms: list[float]) -> Trace:
    """A run whose gradients have these norms."""
    plain = net_run()
    rows = {step: (1.0, 1.0, 0.0, norm, 2.0) for step, norm in enumerate(norms)}
    return Trace(
        plain.facts,
        {**plain.tables, ("step", "optimizer"): Table.of("step", "optimizer", rows)},
        plain.patterns,
    )


@register
class ExplodingGradient:
    """Gradients grow by orders of magnitude, towards the input or in the course of training.

    One such step throws the weights away. Usual causes: a learning rate that is too high, recurrent networks without clipping, weights
    that start too large in a deep stack, unscaled inputs or targets.
    """

    code: ClassVar[str] = "D103"

    depth_limit: float = threshold(
        3.0, "calibrated", "decades from the last to the first layer; healthy programs: 0.2"
    )
    growth_limit: float = threshold(
        1000.0,
        "calibrated",
        "rise of the gradients' norm above its level in the first steps; healthy programs: 24",
    )
    least_layers: int = threshold(4, "convention", "fewer layers are not a depth")
    least_looks: int = threshold(
        2, "convention", "a run may break down within two steps; the limit is far above any noise"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        found = self.extremes(trace)
        if found.get("depth_limit", 0.0) >= self.depth_limit:
            steepest = min(profiles(trace), key=lambda profile: profile.total)
            yield Symptom(
                self.code,
                f"Relative to the weights, gradients grow {10**-steepest.total:.3g}-fold towards the input over the "
                f"{len(steepest.layers)} layers of {steepest.model}.",
                component=steepest.layers[0].name,
                first_step=0,
                observed=-steepest.total,
                limit=self.depth_limit,
                site=steepest.layers[0].site,
                detail={"form": "depth"},
            )
        growth = found.get("growth_limit", 0.0)
        if growth >= self.growth_limit:
            yield Symptom(
                self.code,
                f"The gradient norm rose to {growth:.3g} times its level in the first steps.",
                first_step=self._rises(trace)[1],
                observed=growth,
                limit=self.growth_limit,
                detail={"form": "time"},
            )

    def _rises(self, trace: Trace) -> tuple[float, int]:
        """The largest rise of any optimiser's gradients, and where it was."""
        best = (0.0, 0)
        for table in trace.tables_of("step"):
            steps, norms = table.known("gradient_norm")
            there = np.isfinite(norms) & (norms > 0)
            steps, norms = steps[there], norms[there]
            if len(norms) >= self.least_looks:
                rises = norms[1:] / min(float(norms[0]), float(np.median(norms[:4])))
                highest = int(np.argmax(rises))
                best = max(best, (float(rises[highest]), int(steps[1:][highest])))
        return best

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        deep = [-profile.total for profile in profiles(trace) if len(profile.layers) >= self.least_layers]
        found = {"depth_limit": max(deep)} if deep else {}
        rise, _ = self._rises(trace)
        return found | ({"growth_limit": rise} if rise else {})

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("even gradients", lambda: net_run(_DEEP)),
        Run("gradients rise when learning sets in", lambda: _with_norms([0.01] * 10 + [0.3] * 20)),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("tenfold per layer", lambda: net_run(_DEEP, gradients={2 * n: 10.0**-n for n in range(7)})),
        Run("in the course of training", lambda: _with_norms([1.0] * 10 + [10.0**n for n in range(6)])),
    )
