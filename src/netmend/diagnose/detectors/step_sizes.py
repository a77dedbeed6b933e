"""Steps that are too large, too small or uneven, and rates outside what optimisers are used with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.curves import falling, flat, trace_of
from netmend.diagnose.examples.networks import net_run
from netmend.diagnose.measures.batches import batch_size
from netmend.diagnose.measures.motion import Motion, comparable, motions, searches
from netmend.diagnose.measures.objective import objective
from netmend.diagnose.measures.rates import PLAIN, highest_rate, momentum, plain, usual_range
from netmend.diagnose.measures.words import plural
from netmend.unit import calibrated, convention
from netmend.vocabulary import OptimizerFact, Symptom, Table, Trace


class UpdateRatioHigh(Detector, code="D101", figure="update ratio"):
    """Each step changes the weights by a large part of their own size.

    What was learned before, and the scale that the initialisation chose with care, is lost within a few steps. Usual causes: a learning
    rate that is too high, gradients that are not cleared, unscaled inputs or targets, weights that start very small.
    """

    usual_limit = calibrated(
        0.15,
        "median update over weight after the first tenth; healthy programs stay below 0.1 (at the peak of a one-cycle schedule)",
    )
    early_limit = calibrated(
        0.5, "the same in the first steps; healthy programs stay below 0.3 (logistic regression)"
    )
    least_looks = convention(4, "fewer measured steps may be a burst")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for motion in motions(trace):
            usual, early = motion.usual or 0.0, motion.early or 0.0
            if not self._judged(trace, motion) or (usual < self.usual_limit and early < self.early_limit):
                continue
            seen, limit = (
                (usual, self.usual_limit) if usual >= self.usual_limit else (early, self.early_limit)
            )
            when = "" if usual >= self.usual_limit else " in the first steps"
            message = (
                f"Each step{when} changed the weights by {_share(seen)} their size (median of {plural(motion.tensors, 'tensor')}); "
                "about 0.1 to 3 % is usual."
            )
            yield self.symptom(message, motion.optimizer, seen, limit, first_step=1)

    def _judged(self, trace: Trace, motion: Motion) -> bool:
        return motion.looks >= self.least_looks and not searches(trace, motion)

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        judged = [motion for motion in motions(trace) if self._judged(trace, motion)]
        if not judged:
            return {}
        return {
            "usual_limit": max(motion.usual or 0.0 for motion in judged),
            "early_limit": max(motion.early or 0.0 for motion in judged),
        }

    HEALTHY = {
        "small steps": lambda: net_run(),
        "large but short-lived steps at the start": lambda: net_run(
            ratio=lambda step: 0.2 if step < 10 else 0.01
        ),
        "a line search": lambda: net_run(optimizer="LBFGS", ratio=0.5),
    }
    FAULTY = {
        "a third of the weights at every step": lambda: net_run(ratio=0.3),
        "the start is wiped out": lambda: net_run(ratio=lambda step: 0.8 if step < 12 else 0.02),
    }


def _share(ratio: float) -> str:
    return f"{ratio:.0%} of" if ratio < 2 else f"{ratio:.3g} times"


class UpdateRatioLow(Detector, code="D102", needs_fixed_data=True, figure="update ratio"):
    """The steps are so small that the weights hardly leave their start over the whole run, and the loss hardly falls.

    Usual causes: a learning rate that is too low, clipping that is too tight, an optimiser that takes tiny steps by construction,
    gradients that vanish, weights that start far too large. Fine-tuning a good model with small steps is no fault: its loss is low.
    """

    ratio_limit = calibrated(
        6e-4, "median update over weight; healthy programs that are not done move at least 1.8e-3 a step"
    )
    travelled_limit = calibrated(
        0.15, "that times the number of steps; healthy programs that are not done travel 0.8 and more"
    )
    unknown_limit = convention(
        0.003, "for objectives whose value says nothing about progress, only if nothing moved at all"
    )
    unscaled_limit = convention(0.03, "where the loss has no constant prediction to be compared with")
    least_relative = convention(0.75, "below that of the constant prediction something was learned")
    most_fall = convention(0.35, "share of the first loss that is gone: more is learning")
    highest_limit = convention(
        5e-3, "steps that were large once and are small now are a run that broke down or a schedule"
    )
    least_steps = convention(30, "a run may be meant to be that short")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for motion, ratio in self._judged(trace):
            travelled = motion.travelled or 0.0
            if ratio > self.ratio_limit or travelled > self._limit(trace):
                continue
            message = (
                f"Each step changed the weights by only {ratio:.1g} of their size (median of {plural(motion.tensors, 'tensor')}): "
                f"in {motion.steps} steps they could move by {travelled:.1g} at most."
            )
            yield self.symptom(
                message, motion.optimizer, ratio, self.ratio_limit, first_step=motion.last_look
            )

    def _limit(self, trace: Trace) -> float:
        """The distance that must be stayed below, by how well the loss tells whether anything was learned."""
        course = objective(trace)
        if course is None or len(motions(trace)) > 1:
            return self.unknown_limit
        return self.travelled_limit if course.relative is not None else self.unscaled_limit

    def _judged(self, trace: Trace) -> Iterator[tuple[Motion, float]]:
        """Optimisers that never made large steps in a run that learned little, with their usual relative update."""
        course = objective(trace)
        if course is not None and (
            course.fell > self.most_fall or (course.last_relative or 1.0) < self.least_relative
        ):
            return
        for motion in motions(trace):
            ratio = motion.usual if motion.usual is not None else motion.early
            # Exactly nothing is another matter: frozen, dead, or a rate of zero.
            if ratio and motion.steps >= self.least_steps and (motion.highest or 0.0) < self.highest_limit:
                yield motion, ratio

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        judged = list(self._judged(trace))
        if not judged:
            return {}
        return {
            "ratio_limit": min(ratio for _, ratio in judged),
            "travelled_limit": min(motion.travelled or 0.0 for motion, _ in judged),
        }

    HEALTHY = {
        "ordinary steps": lambda: net_run(),
        "small steps, but the loss is low": lambda: net_run(losses=falling(200), ratio=1e-4),
        "a flat loss in spite of ordinary steps": lambda: net_run(losses=flat(200), ratio=2e-3),
        "broke down after large steps": lambda: net_run(
            losses=flat(200), ratio=lambda step: 0.5 if step < 9 else 1e-6
        ),
        "too short to judge": lambda: net_run(losses=flat(20), ratio=1e-5),
    }
    FAULTY = {"hardly moves": lambda: net_run(losses=[1.1 - 1e-4 * step for step in range(300)], ratio=1e-5)}


def _run(ratios: dict[int, float]) -> Trace:
    updates = (
        Table.of("update", f"model.{layer}.weight", dict.fromkeys(range(40), (0.0, ratio)))
        for layer, ratio in ratios.items()
    )
    plain = net_run("Linear(9,32) ReLU Linear(32,32) ReLU Linear(32,32) ReLU Linear(32,4)")
    return trace_of(*updates, onto=plain)


class UpdateRatioUneven(Detector, code="D114", needs_fixed_data=True, figure="update ratio"):
    """Some layers move thousands of times faster than others, relative to their size.

    No single learning rate suits them: it is too high for some or too low for others. Usual causes: gradients that vanish or explode
    over the depth, layers that start at very different scales, very different rates per group.
    """

    spread_limit = calibrated(
        1000.0, "fastest over slowest layer of one optimiser; healthy programs stay below 60"
    )
    least_layers = convention(3, "two layers are no pattern")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        speeds = self._speeds(trace)
        if len(speeds) < self.least_layers:
            return
        slow, fast = min(speeds, key=lambda n: speeds[n]), max(speeds, key=lambda n: speeds[n])
        spread = speeds[fast] / speeds[slow]
        if spread >= self.spread_limit:
            message = (
                f"The weight {fast} moves {spread:.2g} times as fast as {slow}, relative to their sizes."
            )
            yield self.symptom(message, slow, spread, self.spread_limit)

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

    HEALTHY = {
        "even": lambda: net_run("Linear(9,32) ReLU Linear(32,32) ReLU Linear(32,4)"),
        "one layer ten times slower": lambda: _run({0: 3e-4}),
    }
    FAULTY = {"the first layer stands still": lambda: _run({0: 1e-7})}


class RateOutOfRange(Detector, code="D125", needs_fixed_data=True):
    """The learning rate lies outside the range its optimiser is used with, its steps show it, and little was learned.

    A rate that hardly anybody uses is a mistake of its own even where something else is wrong as well: mending only the other leaves steps that are
    too small or too large. Plain SGD at a usual but small rate is told apart: there the missing momentum, not the rate, is what is unusual.
    A program that learns well with an odd rate is left alone; so is one whose steps are ordinary (a summed loss, large gradients).
    """

    small_step = calibrated(
        3e-3, "highest relative update; healthy programs that learn from scratch come above 5e-3"
    )
    large_step = calibrated(
        0.2, "highest relative update; healthy programs that learned little stay below 0.1"
    )
    plain_rate = convention(
        0.05, "below that SGD is mostly used with momentum, which makes steps ten times longer"
    )
    poor_relative = convention(0.6, "a loss that high at the end was hardly learned")
    unseen_travel = convention(
        0.06, "where progress cannot be judged: the distance that all steps together could reach"
    )
    most_fall = convention(0.1, "share of the first loss that is gone, where it has no scale")
    far = convention(10.0, "times the highest usual rate: a mistake where nothing says how well the run went")
    least_steps = convention(5, "fewer steps say nothing")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for motion in motions(trace):
            optimizer = trace.get(OptimizerFact, motion.optimizer)
            usual = None if optimizer is None else usual_range(optimizer)
            rate = None if optimizer is None else highest_rate(trace, optimizer)
            if optimizer is None or usual is None or not rate or motion.highest is None:
                continue
            real = rate * _summed(trace, optimizer)
            small = motion.highest < self.small_step
            low = small and real < usual[0]
            if small and not low and real < self.plain_rate and plain(optimizer):
                if self._poor(trace, motion, low=True):
                    yield self._unpushed(motion, optimizer, rate)
                continue
            high = rate > usual[1] and motion.highest > self.large_step
            wild = high and rate > self.far * usual[1] and _unscaled(trace)
            if not (low or high) or not (wild or self._poor(trace, motion, low)):
                continue
            limit = usual[0] if low else usual[1]
            pushed = momentum(optimizer)
            with_momentum = f" with momentum {pushed:g}" if pushed else " without momentum"
            name = optimizer.kind + (with_momentum if optimizer.kind == "SGD" else "")
            message = (
                f"`lr={rate:g}` is {'below' if low else 'above'} {limit:g}, the {'lowest' if low else 'highest'} rate usual for {name}, "
                f"and steps changed the weights by at most {motion.highest:.2g} of their size."
            )
            detail = {"direction": "low" if low else "high"}
            yield self.symptom(message, motion.optimizer, rate, limit, detail)

    def _unpushed(self, motion: Motion, optimizer: OptimizerFact, rate: float) -> Symptom:
        message = (
            f"`lr={rate:g}` is usual for {optimizer.kind} with momentum; without it, steps changed the weights by at most "
            f"{motion.highest:.2g} of their size."
        )
        return self.symptom(message, motion.optimizer, rate, self.plain_rate, {"direction": "plain"})

    def _poor(self, trace: Trace, motion: Motion, low: bool) -> bool:
        course = objective(trace)
        if motion.steps < self.least_steps:
            return False
        if course is None:
            return not low or (motion.travelled or 0.0) < self.unseen_travel
        if course.last_relative is not None:
            return course.last_relative >= self.poor_relative
        return course.fell < self.most_fall

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        """The largest steps of programs that learned little: both limits are drawn among them."""
        found = [
            m.highest for m in motions(trace) if m.highest is not None and self._poor(trace, m, low=True)
        ]
        return {"small_step": min(found), "large_step": max(found)} if found else {}

    HEALTHY = {
        "a low rate that learns": lambda: net_run(losses=falling(200), settings={"lr": 1e-5}, ratio=1e-4),
        "a low rate with ordinary steps": lambda: net_run(
            losses=flat(200), optimizer="SGD", settings={"lr": 1e-4}, ratio=0.02
        ),
        "the usual rate, nothing learned": lambda: net_run(losses=flat(200), ratio=1e-4),
    }
    FAULTY = {
        "Adam with 1e-5": lambda: net_run(losses=flat(200), settings={"lr": 1e-5}, ratio=1e-4),
        "Adadelta with the rate of Adam": lambda: net_run(
            losses=flat(200), optimizer="Adadelta", settings={"lr": 1e-3}, ratio=1e-5
        ),
        "plain SGD with a rate that needs momentum": lambda: net_run(
            losses=flat(200), optimizer="SGD", settings={"lr": 0.01}, ratio=1e-3
        ),
        "Adam with 0.5": lambda: net_run(losses=flat(200), settings={"lr": 0.5}, ratio=0.4),
    }


def _unscaled(trace: Trace) -> bool:
    """Whether the loss can only be compared with its own start, which a wild rate makes easy to beat."""
    course = objective(trace)
    return course is not None and course.last_relative is None


def _summed(trace: Trace, optimizer: OptimizerFact) -> float:
    """How much a loss that is summed over the batch lengthens the gradient, which plain SGD follows: by the size of the batch."""
    trained = [loss for loss in trace.losses if loss.backward is not None]
    if optimizer.kind not in PLAIN or not trained:
        return 1.0
    if any(loss.settings.get("reduction") != "sum" for loss in trained):
        return 1.0
    return float(batch_size(trace) or 1)
