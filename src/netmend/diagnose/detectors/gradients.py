"""Gradients that explode or vanish, and the first values that are no numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.curves import falling, trace_of
from netmend.diagnose.examples.networks import net_run
from netmend.diagnose.measures.depth import Profile, profiles
from netmend.diagnose.measures.motion import motions
from netmend.unit import calibrated, convention
from netmend.vocabulary import Event, Site, Symptom, Table, Trace

_DEEP = "Linear(10,32) ReLU " + "Linear(32,32) ReLU " * 5 + "Linear(32,4)"


def _with_norms(norms: list[float]) -> Trace:
    """A run whose gradients have these norms."""
    plain = net_run()
    rows = {step: (1.0, 1.0, 0.0, norm, 2.0) for step, norm in enumerate(norms)}
    return trace_of(Table.of("step", "optimizer", rows), onto=plain)


class ExplodingGradient(Detector, code="D103", figure="gradient rms by depth"):
    """Gradients grow by orders of magnitude, towards the input or in the course of training.

    One such step throws the weights away. Usual causes: a learning rate that is too high, recurrent networks without clipping, weights
    that start too large in a deep stack, unscaled inputs or targets.
    """

    depth_limit = calibrated(3.0, "decades from the last to the first layer; healthy programs: 0.2")
    growth_limit = calibrated(
        1000.0, "rise of the gradients' norm above its level in the first steps; healthy programs: 24"
    )
    least_layers = convention(4, "fewer layers are not a depth")
    least_looks = convention(2, "a run may break down within two steps; the limit is far above any noise")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        found = self.extremes(trace)
        if found.get("depth_limit", 0.0) >= self.depth_limit:
            steepest = min(profiles(trace), key=lambda profile: profile.total)
            message = (
                f"Relative to the weights, gradients grow {10**-steepest.total:.3g}-fold towards the input over the "
                f"{len(steepest.layers)} layers of {steepest.model}."
            )
            yield self.symptom(
                message,
                (steepest.layers[0].name, steepest.layers[0].site),
                observed=-steepest.total,
                limit=self.depth_limit,
                detail={"form": "depth"},
                first_step=0,
            )
        growth = found.get("growth_limit", 0.0)
        if growth >= self.growth_limit:
            message = f"The gradient norm rose to {growth:.3g} times its level in the first steps."
            yield self.symptom(
                message, "", growth, self.growth_limit, {"form": "time"}, first_step=self._rises(trace)[1]
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

    HEALTHY = {
        "even gradients": lambda: net_run(_DEEP),
        "gradients rise when learning sets in": lambda: _with_norms([0.01] * 10 + [0.3] * 20),
    }
    FAULTY = {
        "tenfold per layer": lambda: net_run(_DEEP, gradients={2 * n: 10.0**-n for n in range(7)}),
        "in the course of training": lambda: _with_norms([1.0] * 10 + [10.0**n for n in range(6)]),
    }


_DEEP_SIGMOID = "Linear(10,32) Sigmoid " + "Linear(32,32) Sigmoid " * 5 + "Linear(32,4)"


class VanishingGradient(Detector, code="D106", needs_fixed_data=True, figure="gradient rms by depth"):
    """Gradients shrink from layer to layer on their way back to the input.

    The first layers then learn hundreds of times more slowly than the last ones. Usual causes: sigmoid or tanh in a deep stack, weights that
    start too small, many layers without normalisation or skip connections.
    """

    total_limit = calibrated(
        3.0, "decades between the last and the first layer; healthy programs stay below 1.9"
    )
    slope_limit = convention(0.2, "decades per layer: a third, over and over")
    least_layers = convention(4, "fewer layers are not a depth")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for profile in profiles(trace):
            if len(profile.layers) < self.least_layers:
                continue
            if profile.total < self.total_limit or profile.slope < self.slope_limit:
                continue
            first = profile.layers[0]
            message = (
                f"Relative to the weights, gradients shrink {10**profile.slope:.1f}-fold per layer towards the input: "
                f"{10**profile.total:.0f}-fold over the {len(profile.layers)} layers of {profile.model}."
            )
            detail = {"layers": [link.name for link in profile.layers]}
            yield self.symptom(message, first, profile.total, self.total_limit, detail, first_step=0)

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        found: list[Profile] = [p for p in profiles(trace) if len(p.layers) >= self.least_layers]
        if not found:
            return {}
        return {"total_limit": max(p.total for p in found), "slope_limit": max(p.slope for p in found)}

    HEALTHY = {
        "even gradients": lambda: net_run(_DEEP_SIGMOID),
        "shrinks a little": lambda: net_run(
            _DEEP_SIGMOID, gradients={2 * n: 1e-3 * 1.6**n for n in range(7)}
        ),
    }
    FAULTY = {
        "a quarter per layer": lambda: net_run(
            _DEEP_SIGMOID, gradients={2 * n: 1e-6 * 4.0**n for n in range(7)}
        )
    }


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


class NonfiniteOrigin(Detector, code="D110"):
    """A NaN or infinity appeared, first produced by one operation.

    Every weight that the gradient reaches is lost with the next step. Usual causes: values that overflow because steps are too
    large, a logarithm or division of zero, the root of zero in the gradient, invalid values in the data.
    """

    growth = calibrated(
        20.0, "rise of loss or weights before; runs that broke by a log or a division show less than 3"
    )
    recovered = convention(
        0.5, "share of later losses that are finite: the program skipped the bad step by itself"
    )
    again_limit = convention(
        3, "further losses that are not finite: a division or logarithm of the loss fails now and then"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for event in trace.events:
            if event.kind != "nonfinite" or self._recovered(trace, event):
                continue
            rise = self._rise(trace, event.step)
            grew = rise >= self.growth
            before = f" The loss or the weights had grown {rise:.3g}-fold before." if grew else ""
            message = f"{event.message[:1].upper()}{event.message[1:]}.{before}"
            yield self.symptom(message, event, rise, self.growth, {**event.detail, "grew": grew})
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

    HEALTHY = {
        "finite throughout": lambda: net_run(),
        "one division that gave NaN": lambda: net_run(
            losses=[float("nan") if n == 60 else value for n, value in enumerate(falling(120))],
            events=[_DIVISION],
        ),
        "a bad step that the program skipped": lambda: net_run(events=[_GRADIENT]),
    }
    FAULTY = {
        "a division by zero now and then": lambda: net_run(
            losses=[float("nan") if n in (60, 75, 90, 95) else value for n, value in enumerate(falling(120))],
            events=[_DIVISION],
        ),
        "the logarithm of zero": lambda: net_run(
            losses=[*falling(61), *[float("nan")] * 20], events=[_EVENT]
        ),
        "overflow": lambda: net_run(
            losses=[*(10.0**n for n in range(20)), *[float("nan")] * 60], events=[_EVENT], growth=1e6
        ),
    }
