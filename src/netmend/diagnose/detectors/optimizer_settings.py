"""Settings around the optimiser: clipping that takes gradients away or has no effect, schedules that ruin the rate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.curves import trace_of
from netmend.diagnose.examples.loops import optimizer, trained
from netmend.diagnose.measures.loop import (
    calls,
    first_step,
    misplaced,
    span_of,
    stepping,
    steps_in,
    unfolded,
    usual_site,
)
from netmend.diagnose.measures.progress import main_progress
from netmend.unit import calibrated, convention
from netmend.vocabulary import Call, GroupFact, Pattern, SchedulerFact, Site, Symptom, Table, Trace
from netmend.vocabulary.table import IntArray

_CLIP = "clip_grad_norm_"


def _clipped(norm: float, limit: float) -> Table:
    return Table.of("clip", "", dict.fromkeys(range(40), (norm, limit)))


class ClippingEatsGradient(Detector, code="D211", figure="gradient norm"):
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


_SCHEDULER = SchedulerFact(
    "StepLR", "StepLR", "optimizer", {"gamma": 0.1}, Site("train.py", 9), Site("train.py", 14)
)


def _rates(every: int, factor: float, least: float = 0.0) -> Table:
    """A rate that is multiplied every so many of 64 steps."""
    return Table.of(
        "rate", "optimizer[0]", {s: (max(0.1 * factor ** (s // every), least),) for s in range(0, 64, every)}
    )


class RateDies(Detector, code="D210", figure="learning rate"):
    """The schedule lowers the learning rate to next to nothing in the first half of the run.

    From then on the weights hardly move: the rest of the run is spent for nothing, and what was learned until then is all.
    Usual causes: scheduler.step() after every batch where the schedule counts epochs, gamma far too small, warm-up or cosine
    length given in epochs instead of steps.
    """

    dead = convention(
        1e-3, "a thousandth of the highest rate: a thousand such steps weigh as much as one before"
    )
    by_share = convention(
        0.5, "schedules that end low reach a thousandth in the last tenth (cosine: the last 2 %)"
    )
    weak = convention(0.0101, "a hundredth: what two usual decays by ten leave")
    by_early = convention(0.2, "two decays in the first fifth of the run: the numbers count something else")
    least_steps = convention(20, "shorter runs have no schedule to speak of")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for table in trace.tables_of("rate"):
            name = table.component.partition("[")[0]
            begun, ended = span_of(trace, name)  # a run may have several phases, each with an optimiser
            when, rates = table.known("rate")
            when, steps = when - begun, ended - begun
            peak = float(rates.max(initial=0.0))
            if peak <= 0 or steps < self.least_steps:
                continue
            died = _since(when, rates < self.dead * peak)
            early = _since(when, rates < self.weak * peak)
            if died is not None and died <= self.by_share * steps:
                step, part = died, "a thousandth"
            elif early is not None and early <= self.by_early * steps:
                step, part = early, "a hundredth"
            else:
                continue
            scheduler = next((s for s in trace.all(SchedulerFact) if s.optimizer == name), None)
            message = f"The learning rate of {name} fell to less than {part} of its peak ({peak:.3g}) by step {step} of {steps}."
            yield self.symptom(
                message,
                scheduler.name if scheduler is not None else table.component,
                observed=step / steps,
                limit=self.by_share,
                detail={
                    "dead": part == "a thousandth",
                    "fell_after": _fell_after(trace, begun + step),
                    "scheduler": "" if scheduler is None else scheduler.name,
                },
                first_step=begun + step,
                site=scheduler.stepped if scheduler is not None else None,
            )

    HEALTHY = {
        "constant": lambda: trained(optimizer(), Table.of("rate", "optimizer[0]", {0: (0.1,)})),
        "low at the end only": lambda: trained(_SCHEDULER, _rates(12, 0.1)),
        "low at the end of the first of two phases": lambda: trained(
            optimizer(),
            optimizer("second"),
            _SCHEDULER,
            _rates(12, 0.1),
            ("zero_grad:optimizer forward:model=train,grad backward step:optimizer", 64),
            ("zero_grad:second forward:model=train,grad backward step:second", 80),
        ),
        "never quite dead": lambda: trained(_SCHEDULER, _rates(4, 0.1, 2e-3)),
    }
    FAULTY = {
        "stepped far too often": lambda: trained(_SCHEDULER, _rates(4, 0.1)),
        "milestones of epochs, counted in batches": lambda: trained(_SCHEDULER, _rates(4, 0.1, 1e-3)),
    }


def _since(when: IntArray, low: NDArray[np.bool_]) -> int | None:
    """The step from which on the rate stayed low; None when it was not low at the end."""
    if not len(low) or not low[-1]:
        return None
    alive = np.flatnonzero(~low)
    return int(when[alive[-1] + 1]) if len(alive) else int(when[0])


def _fell_after(trace: Trace, step: int) -> float | None:
    """Share of the loss that still went away after a step."""
    course = main_progress(trace)
    if course is None:
        return None
    after = course.losses[course.steps >= step]
    return float((after[0] - after[-1]) / after[0]) if len(after) > 1 and after[0] > 0 else None


_WARM_UP = SchedulerFact("LambdaLR", "LambdaLR", "optimizer", {}, Site("train.py", 9), Site("train.py", 14))


def _run(given: float, *rates: float) -> Trace:
    group = GroupFact({"lr": rates[0], "initial_lr": given}, ("model.fc.weight",))
    seen = {8 * turn: (rate,) for turn, rate in enumerate(rates)}
    return trained(
        replace(optimizer(), groups=(group,)),
        _WARM_UP,
        Table.of("rate", "optimizer[0]", seen),
        losses=[1.0] * 40,
    )


class RateNeverRises(Detector, code="D232", needs_end=True):
    """A schedule keeps the learning rate far below the one that the optimiser was given, from the first step to the last.

    That is meant where the given rate is only a unit (1.0, with a schedule that returns rates). It is none where the rate is a usual one.
    Usual causes: a LambdaLR whose function returns a rate, though it is a factor of the rate; a warm-up that is longer than the run.
    """

    share = convention(0.0101, "of the given rate: a hundredth is no rate that anybody asked for")
    least_steps = convention(20, "shorter runs have no schedule to speak of")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for fact in trace.optimizers:
            scheduler = next((s for s in trace.all(SchedulerFact) if s.optimizer == fact.name), None)
            begun, ended = span_of(trace, fact.name)
            if scheduler is None or ended - begun < self.least_steps:
                continue
            for number, group in enumerate(fact.groups):
                given = group.settings.get("initial_lr")
                rates = trace.table("rate", f"{fact.name}[{number}]").known("rate")[1]
                peak = float(rates.max(initial=0.0))
                if not isinstance(given, float) or not 0 < peak <= self.share * given:
                    continue
                message = f"The learning rate of {fact.name} never came above {peak:.3g}, although it was set to {given:g}."
                yield self.symptom(
                    message,
                    (scheduler.name, scheduler.created),
                    observed=peak / given,
                    limit=self.share,
                    detail={"given": given, "scheduler": scheduler.name},
                    first_step=begun,
                )
                break

    HEALTHY = {
        "warms up and decays": lambda: _run(0.003, 1e-6, 1e-3, 3e-3, 1e-3, 1e-6),
        "one tenth to begin with": lambda: _run(0.003, 3e-4, 3e-4, 1e-4),
    }
    FAULTY = {"a rate in place of a factor": lambda: _run(0.003, 3e-7, 5e-6, 9e-6, 5e-6)}
