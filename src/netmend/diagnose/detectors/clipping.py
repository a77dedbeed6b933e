"""Gradients that are clipped away, in the wrong place, or while they are scaled."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.curves import trace_of
from netmend.diagnose.examples.loops import trained
from netmend.diagnose.measures.loop import (
    calls,
    first_step,
    misplaced,
    stepping,
    steps_in,
    unfolded,
    usual_site,
)
from netmend.unit import calibrated, convention
from netmend.vocabulary import Call, Pattern, Symptom, Table, Trace

_CLIP = "clip_grad_norm_"


def _clipped(norm: float, limit: float) -> Table:
    return Table.of("clip", "", dict.fromkeys(range(40), (norm, limit)))


class ClippingEatsGradient(Detector, code="D211"):
    """Clipping cuts nearly every gradient down to a tiny part of its length.

    Clipping is meant to stop rare bursts. When it cuts each step by a large factor, plain SGD moves that factor too slowly.
    Usual causes: a limit far below the usual gradient norm, a limit meant for another reduction of the loss, clipping before
    gradients are unscaled.
    """

    factor = calibrated(100.0, "196 healthy runs cut the median gradient by at most 2.9")
    share = convention(0.9, "nearly every step; bursts are what clipping is for")
    least_steps = convention(8, "the first steps of a run may be bursts")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        ratios = _ratios(trace)
        if len(ratios) < self.least_steps or (ratios > 1).mean() < self.share:
            return
        usual = float(np.median(ratios))
        if usual < self.factor:
            return
        table = trace.table("clip")
        limit = float(np.median(table.column("limit")))
        message = (
            f"Clipping to a norm of {limit:.3g} made the usual gradient {usual:,.0f} times shorter, on "
            f"{(ratios > 1).mean():.0%} of the steps."
        )
        yield self.symptom(
            message,
            (_CLIP, usual_site(trace, "clip")),
            observed=usual,
            limit=self.factor,
            detail={"limit": limit, "norm": usual * limit, "share": float((ratios > 1).mean())},
            first_step=int(table.steps[0]),
        )

    def extremes(self, trace: Trace) -> dict[str, float]:
        ratios = _ratios(trace)
        return {"factor": float(np.median(ratios))} if len(ratios) else {}

    HEALTHY = {
        "only bursts are cut": lambda: trained(_clipped(0.7, 1.0)),
        "cut on every step, but not by much": lambda: trained(_clipped(30.0, 1.0)),
    }
    FAULTY = {"nothing is left": lambda: trained(_clipped(2.0, 1e-4))}


def _ratios(trace: Trace) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Gradient norm over the limit, per step."""
    table = trace.table("clip")
    norms, limits = table.column("norm"), table.column("limit")
    there = np.isfinite(norms) & np.isfinite(limits) & (limits > 0)
    return np.asarray(norms[there] / limits[there])


class ClippingMisplaced(Detector, code="D227"):
    """Gradients are clipped where it has no effect: after the step, or before they are computed.

    The step uses gradients of full length, so a burst does what clipping should prevent.
    Usual cause: clip_grad_norm_ below optimizer.step(), or above backward().
    """

    least_steps = convention(4, "the loop is known exactly; fewer steps may be a warm-up")
    share_limit = convention(0.8, "nearly all steps; single ones may be somebody's own schedule")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        if len(trace.optimizers) > 1:
            return  # what is clipped for one may be used by the other
        usual = [pattern for pattern in stepping(trace) if _backward_and_step(pattern)]
        wrong = misplaced(usual, _useless, self.least_steps, self.share_limit)
        if wrong is None:
            return
        message = f"On {wrong.steps} of {wrong.total} steps gradients were clipped before they were computed or after they were used."
        yield self.symptom(message, wrong, wrong.share, self.share_limit, component=_CLIP)

    HEALTHY = {
        "between backward and step": lambda: trained(
            ("zero_grad forward=train,grad backward clip=norm step:optimizer", 20)
        ),
        "after each of several backward passes": lambda: trained(
            ("zero_grad forward=train,grad*2 backward@20 clip=norm backward@22 step:optimizer", 20)
        ),
    }
    FAULTY = {
        "after the step": lambda: trained(
            ("zero_grad forward=train,grad backward step:optimizer", 1),
            ("clip=norm zero_grad forward=train,grad backward step:optimizer", 20),
        )
    }


def _backward_and_step(pattern: Pattern) -> bool:
    order = {call.what for call in pattern.calls}
    return "backward" in order and all(not c.detail for c in pattern.calls if c.what == "step")


def _useless(pattern: Pattern) -> Call | None:
    """A clipping that comes before all backward passes of its step, where none comes after them."""
    order = unfolded(pattern)
    first = next(index for index, call in enumerate(order) if call.what == "backward")
    early = [call for call in order[:first] if call.what == "clip"]
    late = [call for call in order[first:] if call.what == "clip"]
    return early[0] if early and not late else None


_SCALE = Table.of("scale", "GradScaler", dict.fromkeys(range(40), (65536.0,)))
_RIGHT = "zero_grad forward=train,grad backward unscale:optimizer@13 clip=norm step:optimizer"
_WRONG = "zero_grad forward=train,grad backward clip=norm unscale:optimizer@14 step:optimizer"


class ClippedBeforeUnscaling(Detector, code="D212"):
    """Gradients are clipped while they are still multiplied by the loss scale of mixed precision.

    The scale is in the tens of thousands, so every gradient looks enormous, is cut to the limit, and is then divided by the
    scale: next to nothing is left of it.
    Usual cause: clip_grad_norm_ without scaler.unscale_(optimizer) before it.
    """

    least_scale = convention(16.0, "a scale near 1 changes little")
    least_steps = convention(4, "the loop is known exactly; fewer steps may be a warm-up")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        scales = [value for table in trace.tables_of("scale") for value in table.known("scale")[1]]
        if not scales or float(np.median(scales)) < self.least_scale:
            return
        wrong = misplaced(stepping(trace), _clipped_first, self.least_steps)
        if wrong is None:
            return
        scale = float(np.median(scales))
        message = f"Gradients were clipped on {wrong.steps} steps while they were still multiplied by the loss scale of {scale:,.0f}."
        yield self.symptom(message, wrong, scale, self.least_scale, component=_CLIP)

    HEALTHY = {
        "unscaled first": lambda: trained(_SCALE, (_RIGHT, 20)),
        "no mixed precision": lambda: trained((_WRONG, 20)),
    }
    FAULTY = {"clipped first": lambda: trained(_SCALE, (_WRONG, 20))}


def _clipped_first(pattern: Pattern) -> Call | None:
    """The clipping after a backward pass that comes before gradients are unscaled for the step."""
    found: Call | None = None
    for call in pattern.calls:
        if call.what == "backward":
            found = None
        elif call.what == "clip" and found is None:
            found = call
        elif call.what == "unscale":
            return found
    return None


_TAKEN = "zero_grad forward=train,grad backward step:optimizer"


def _skipped(taken: int, skipped: int) -> Trace:
    trace = trained((_TAKEN, taken))
    call = Call("step", "optimizer", "skipped by GradScaler")
    pattern = Pattern((Call("backward"), call), ((taken, taken + skipped - 1),))
    return trace_of(pattern, onto=trace)


class LossScaleFalls(Detector, code="D225"):
    """The scaler of mixed precision skips step after step because gradients overflow.

    Skipped steps teach nothing. A few at the start are normal, while the scale is being found.
    Usual causes: values that overflow in half precision, a loss computed in half precision, weights that are diverging.
    """

    share = convention(0.2, "of the steps; a healthy scaler skips a handful at first and one in 2,000 later")
    least_skipped = convention(
        32, "the default start of 65,536 takes at most 16 halvings to reach 1; twice that is no search"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        total = steps_in(stepping(trace))
        skipped = [(p, c) for p, c in calls(trace, "step") if c.detail == "skipped by GradScaler"]
        count, since = steps_in(p for p, _ in skipped), first_step(p for p, _ in skipped)
        if count < self.least_skipped or count < self.share * total:
            return
        message = f"The scaler skipped {count} of {total} steps because gradients were not finite."
        yield self.symptom(message, skipped[0][1], count / total, self.share, first_step=since)

    HEALTHY = {"some steps at the start": lambda: _skipped(200, 20)}
    FAULTY = {"most steps": lambda: _skipped(20, 180)}
