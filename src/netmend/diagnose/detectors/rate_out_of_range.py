"""D125 RateOutOfRange."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.data import batch_size
from netmend.diagnose.measures.examples import falling, flat
from netmend.diagnose.measures.motion import Motion, motions
from netmend.diagnose.measures.net_examples import net_run
from netmend.diagnose.measures.objective import objective
from netmend.diagnose.measures.rates import PLAIN, highest_rate, momentum, plain, usual_range
from netmend.unit import Run, threshold
from netmend.vocabulary import OptimizerFact, Symptom, Trace


@register
class RateOutOfRange:
    """The learning rate lies outside the range its optimiser is used with, its steps show it, and little was learned.

    A rate that hardly anybody uses is a mistake of its own even where something else is wrong as well: mending only the other leaves steps that are
    too small or too large. Plain SGD at a usual but small rate is told apart: there the missing momentum, not the rate, is what is unusual.
    A program that learns well with an odd rate is left alone; so is one whose steps are ordinary (a summed loss, large gradients).
    """

    code: ClassVar[str] = "D125"

    small_step: float = threshold(
        3e-3,
        "calibrated",
        "highest relative update; healthy programs that learn from scratch come above 5e-3",
    )
    large_step: float = threshold(
        0.2, "calibrated", "highest relative update; healthy programs that learned little stay below 0.1"
    )
    plain_rate: float = threshold(
        0.05, "convention", "below that SGD is mostly used with momentum, which makes steps ten times longer"
    )
    poor_relative: float = threshold(0.6, "convention", "a loss that high at the end was hardly learned")
    unseen_travel: float = threshold(
        0.06,
        "convention",
        "where progress cannot be judged: the distance that all steps together could reach",
    )
    most_fall: float = threshold(
        0.1, "convention", "share of the first loss that is gone, where it has no scale"
    )
    far: float = threshold(
        10.0, "convention", "times the highest usual rate: a mistake where nothing says how well the run went"
    )
    least_steps: int = threshold(5, "convention", "fewer steps say nothing")

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
            yield Symptom(
                self.code,
                f"`lr={rate:g}` is {'below' if low else 'above'} {limit:g}, the {'lowest' if low else 'highest'} rate usual for {name}, "
                f"and steps changed the weights by at most {motion.highest:.2g} of their size.",
                component=motion.optimizer,
                observed=rate,
                limit=limit,
                detail={"direction": "low" if low else "high"},
            )

    def _unpushed(self, motion: Motion, optimizer: OptimizerFact, rate: float) -> Symptom:
        return Symptom(
            self.code,
            f"`lr={rate:g}` is usual for {optimizer.kind} with momentum; without it, steps changed the weights by at most "
            f"{motion.highest:.2g} of their size.",
            component=motion.optimizer,
            observed=rate,
            limit=self.plain_rate,
            detail={"direction": "plain"},
        )

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

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run(
            "a low rate that learns", lambda: net_run(losses=falling(200), settings={"lr": 1e-5}, ratio=1e-4)
        ),
        Run(
            "a low rate with ordinary steps",
            lambda: net_run(losses=flat(200), optimizer="SGD", settings={"lr": 1e-4}, ratio=0.02),
        ),
        Run("the usual rate, nothing learned", lambda: net_run(losses=flat(200), ratio=1e-4)),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("Adam with 1e-5", lambda: net_run(losses=flat(200), settings={"lr": 1e-5}, ratio=1e-4)),
        Run(
            "Adadelta with the rate of Adam",
            lambda: net_run(losses=flat(200), optimizer="Adadelta", settings={"lr": 1e-3}, ratio=1e-5),
        ),
        Run(
            "plain SGD with a rate that needs momentum",
            lambda: net_run(losses=flat(200), optimizer="SGD", settings={"lr": 0.01}, ratio=1e-3),
        ),
        Run("Adam with 0.5", lambda: net_run(losses=flat(200), settings={"lr": 0.5}, ratio=0.4)),
    )


def _unscaled(trace: Trace) -> bool:
    """Whether the loss can only be compared with its own start, which a wild rate makes easy to beat."""
    course = objective(trace)
    return course is not None and course.last_relative is None


def _summed(trace: Trace, optimizer: OptimizerFact) -> float:
    """How much a loss that is summed over the batch lengthens the gradient, which plain SGD follows: by the size of the batch."""
    trained = [loss for loss in trace.losses if loss.backward is not None]
    if (
        optimizer.kind not in PLAIN
        or not trained
        or any(loss.settings.get("reduction") != "sum" for loss in trained)
    ):
        return 1.0
    return float(batch_size(trace) or 1)
