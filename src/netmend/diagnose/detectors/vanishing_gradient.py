"""D106 VanishingGradient."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.depth import Profile, profiles
from netmend.diagnose.measures.net_examples import net_run
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace

_DEEP = "Linear(10,32) Sigmoid " + "Linear(32,32) Sigmoid " * 5 + "Linear(32,4)"


@register
class VanishingGradient:
    """Gradients shrink from layer to layer on their way back to the input.

    The first layers then learn hundreds of times more slowly than the last ones. Usual causes: sigmoid or tanh in a deep stack, weights that
    start too small, many layers without normalisation or skip connections.
    """

    code: ClassVar[str] = "D106"

    total_limit: float = threshold(
        3.0, "calibrated", "decades between the last and the first layer; healthy programs stay below 1.9"
    )
    slope_limit: float = threshold(0.2, "convention", "decades per layer: a third, over and over")
    least_layers: int = threshold(4, "convention", "fewer layers are not a depth")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for profile in profiles(trace):
            if len(profile.layers) < self.least_layers:
                continue
            if profile.total < self.total_limit or profile.slope < self.slope_limit:
                continue
            first = profile.layers[0]
            yield Symptom(
                self.code,
                f"Relative to the weights, gradients shrink {10**profile.slope:.1f}-fold per layer towards the input: "
                f"{10**profile.total:.0f}-fold over the {len(profile.layers)} layers of {profile.model}.",
                component=first.name,
                first_step=0,
                observed=profile.total,
                limit=self.total_limit,
                site=first.site,
                detail={"slope": profile.slope, "layers": [link.name for link in profile.layers]},
            )

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        found: list[Profile] = [p for p in profiles(trace) if len(p.layers) >= self.least_layers]
        if not found:
            return {}
        return {"total_limit": max(p.total for p in found), "slope_limit": max(p.slope for p in found)}

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("even gradients", lambda: net_run(_DEEP)),
        Run("shrinks a little", lambda: net_run(_DEEP, gradients={2 * n: 1e-3 * 1.6**n for n in range(7)})),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "a quarter per layer", lambda: net_run(_DEEP, gradients={2 * n: 1e-6 * 4.0**n for n in range(7)})
        ),
    )
