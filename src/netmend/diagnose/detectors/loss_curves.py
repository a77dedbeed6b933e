"""Training losses that do not come down as they should."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.curves import falling, flat, run_with
from netmend.diagnose.measures.objective import (
    constant_of,
    objective,
    relative_to,
    right_more_often_than_chance,
)
from netmend.diagnose.measures.progress import Progress
from netmend.unit import calibrated, convention, published
from netmend.vocabulary import LossFact, Symptom, Trace

_CLEARLY = 0.97  # of the constant prediction's loss: more than a network gains that hardly moves


class NotLearning(Detector, code="D501", needs_fixed_data=True):
    """The loss never got clearly below that of the best constant prediction.

    A network that answers the same for every input (the class frequencies, the mean) reaches that loss without
    looking at the data. Usual causes: a learning rate far off, a cut gradient, a loss or output that does not
    fit, dead or saturated units, labels that have nothing to do with the inputs.
    """

    relative_limit = calibrated(
        0.95, "healthy programs end below 0.9 of the constant prediction's loss, most below 0.5"
    )
    least_looks = convention(20, "fewer measured losses say nothing about a trend")
    least_steps = convention(100, "learning may not have begun before")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        course = objective(trace)
        lowest = self.extremes(trace).get("relative_limit")
        if course is None or course.relative is None or lowest is None or lowest < self.relative_limit:
            return
        loss = trace.get(LossFact, course.loss)
        if loss is not None and loss.settings.get("reduction") == "none":
            return  # weighted by the program itself (rewards, masks): the plain mean is not what is trained
        if right_more_often_than_chance(trace, course) or _under_way(course):
            return
        last = float(course.relative[-1])
        message = (
            f"After {course.last_step + 1} steps the loss was {last:.2f} times that of the best constant prediction "
            f"(class frequencies or mean), and at best {min(last, lowest):.2f} times."
        )
        yield self.symptom(message, course.loss, lowest, self.relative_limit, first_step=course.middle)

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        course = objective(trace)
        if course is None or course.relative is None or course.looks < self.least_looks:
            return {}
        if trace.run.steps < self.least_steps:
            return {}
        evaluated = [
            float(value)
            for table in trace.tables_of("evaluation")
            for value in relative_to(table.column("loss"), table.column("constant_loss"))
            if table.component.partition("@")[0] == course.loss.partition("@")[0]
        ]
        # The mean of the last blocks is steadier than one; an evaluation that is better counts for the program.
        late = float(course.relative[-max(1, len(course.relative) // 5) :].mean())
        return {"relative_limit": min([late, float(course.relative.min()) + 0.02, *evaluated])}

    HEALTHY = {
        "learns": lambda: run_with(falling(200)),
        "learns a little, from very noisy data": lambda: run_with(flat(100, 1.0) + flat(200, 0.92)),
        "slow, but below it and still falling": lambda: run_with(_slope(1.17, 0.94)),
        "too short to judge": lambda: run_with(flat(12)),
        "no constant prediction is known for this loss": lambda: run_with(flat(200), constant=None),
    }
    FAULTY = {
        "stays at the constant prediction": lambda: run_with(flat(200)),
        "falls towards the constant prediction": lambda: run_with(_slope(1.3, 1.0) + flat(200, 1.0)),
    }


def _slope(start: float, end: float, steps: int = 400) -> list[float]:
    return [start + (end - start) * step / steps + 0.02 * (-1) ** step for step in range(steps)]


def _under_way(course: Progress) -> bool:
    """Whether the loss has come below that of the constant prediction and was still falling: slow is not stuck."""
    assert course.relative is not None
    quarter = len(course.losses) // 4
    constant = constant_of(course)
    if not quarter or constant is None:
        return False
    late, before = course.losses[-quarter:], course.losses[-2 * quarter : -quarter]
    error = float(np.hypot(course.errors[-quarter:].mean(), course.errors[-2 * quarter : -quarter].mean()))
    error /= quarter**0.5
    falls = float(before.mean() - late.mean())
    return falls > 4 * error and float(late[-1]) < _CLEARLY * constant


class Diverging(Detector, code="D502", needs_fixed_data=True):
    """The training loss rose far above its lowest level and stayed there.

    Each step undoes more than it gains. Usual causes: a learning rate that is too high, gradients that are not
    cleared, a loss with the wrong sign, unscaled data, missing clipping in a recurrent network.
    """

    rise_limit = calibrated(1.5, "healthy programs end within 1.2 times their lowest block mean")
    rise_limit_unknown = convention(
        10.0, "a loss of no known kind (value functions in RL) may grow severalfold in a healthy run"
    )
    least_relative = calibrated(0.4, "a converged loss near zero may double without any harm")
    blocks = published(3, "several checks in a row, as TheDeepChecker asks")
    least_looks = convention(16, "fewer measured losses say nothing about a trend")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        course = objective(trace)
        found = self.extremes(trace)
        if course is None or not found:
            return
        limit = self.rise_limit if course.relative is not None else self.rise_limit_unknown
        if found["rise_limit"] < limit or found["least_relative"] < self.least_relative:
            return
        lowest = int(np.argmin(course.losses))
        beyond = [
            index for index in range(lowest, len(course.losses)) if course.losses[index] > limit * course.best
        ]
        message = f"The loss rose from {course.best:.3g} around step {int(course.steps[lowest])} to {course.last:.3g} at the end."
        yield self.symptom(
            message,
            course.loss,
            observed=found["rise_limit"],
            limit=limit,
            first_step=int(course.steps[beyond[0]]) if beyond else int(course.steps[-1]),
        )

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        course = objective(trace)
        if course is None or course.looks < self.least_looks or len(course.losses) <= self.blocks:
            return {}
        if course.best <= 0:
            return {}
        late = course.losses[-self.blocks :]
        rise = float(late.min() / course.best)
        clear = late.min() > course.best + 4 * float(np.hypot(course.errors.min(), course.errors[-1]))
        relative = 1.0 if course.relative is None else float(course.relative[-self.blocks :].min())
        # Losses that differ by orders of magnitude are noisy by orders of magnitude too; such a rise needs no further test.
        return {"rise_limit": rise if clear or rise > 10 else 1.0, "least_relative": relative}

    HEALTHY = {
        "falls": lambda: run_with(falling(200)),
        "doubles near zero": lambda: run_with(falling(150, end=0.01, noise=0.001) + flat(80, 0.03, 0.001)),
        "rises a little": lambda: run_with(falling(100, end=0.5) + flat(100, 0.6)),
        "a value function grows with the reward": lambda: run_with(
            [1 + 0.05 * i for i in range(150)], constant=None
        ),
    }
    FAULTY = {
        "rises for good": lambda: run_with(falling(60, end=0.5) + [0.5 + 0.1 * step for step in range(100)])
    }


class Oscillating(Detector, code="D503", needs_fixed_data=True):
    """The loss swings up and down by much more than the noise of single batches explains.

    Steps overshoot the minimum and come back. Usual causes: a learning rate or momentum that is too high, very small batches,
    data that comes sorted instead of shuffled.
    """

    swing_limit = calibrated(
        0.35, "swings of block means in the second half of healthy programs stay below 0.2 of the mean"
    )
    noise_limit = convention(3.0, "standard errors that a swing must exceed, so that it is not noise")
    least_relative = calibrated(0.3, "near zero the relative swing means nothing")
    least_blocks = convention(8, "fewer blocks cannot show a swing")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        course = objective(trace)
        found = self.extremes(trace)
        if course is None or not found:
            return
        if found["swing_limit"] < self.swing_limit or found["least_relative"] < self.least_relative:
            return
        message = f"In the second half of the run the loss kept swinging up and down by {found['swing_limit']:.0%} of its mean."
        yield self.symptom(
            message, course.loss, found["swing_limit"], self.swing_limit, first_step=course.middle
        )

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        course = objective(trace)
        if course is None or len(course.losses) < self.least_blocks:
            return {}
        relative = (
            1.0 if course.relative is None else float(np.median(course.relative[len(course.relative) // 2 :]))
        )
        return {"swing_limit": self._swing(course), "least_relative": relative}

    def _swing(self, course: Progress) -> float:
        """Mean height of significant turns between block means of the second half, relative to their mean."""
        half = slice(len(course.losses) // 2, None)
        means, errors = course.losses[half], course.errors[half]
        changes = np.diff(means)
        noise = np.hypot(errors[1:], errors[:-1])
        clear = np.where(np.abs(changes) > self.noise_limit * noise, np.sign(changes), 0.0)
        signs = clear[clear != 0]
        turns = int((np.diff(signs) != 0).sum()) if len(signs) > 1 else 0
        level = float(np.abs(means).mean())
        return float(np.abs(changes[clear != 0]).mean() / level) if turns >= 2 and level > 0 else 0.0

    HEALTHY = {
        "falls": lambda: run_with(falling(200)),
        "noisy batches": lambda: run_with(flat(200, 0.6, 0.15)),
        "too short": lambda: run_with(flat(20)),
    }
    FAULTY = {
        "swings by a factor of two": lambda: run_with(
            [(1.6 if (step // 10) % 2 else 0.7) + 0.02 * (-1) ** step for step in range(200)]
        )
    }


class Plateau(Detector, code="D504", needs_fixed_data=True):
    """The loss fell at first and then stood still at a high level.

    Noise in the data can make that the best there is, so a plateau alone is no fault; it lends weight to causes that explain it.
    Usual causes: a schedule that stops the learning rate, too small a network, a missing non-linearity, an
    output that cannot take the target's values, strong regularisation.
    """

    level_limit = convention(0.3, "below that most of what can be learned has been")
    nothing_learned = convention(0.95, "above that it is D501's matter")
    flat_limit = convention(0.03, "change over the second half, relative to the level")
    least_blocks = convention(6, "fewer blocks cannot show a standstill")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        course = objective(trace)
        if course is None or course.relative is None or len(course.losses) < self.least_blocks:
            return
        half = course.relative[len(course.relative) // 2 :]
        level = float(half.mean())
        change = float(half[: len(half) // 2].mean() - half[-(len(half) // 2) :].mean())
        noise = 2 * float(np.median(course.errors)) / max(course.last, 1e-30) * level
        if not self.level_limit < level < self.nothing_learned or abs(change) > max(
            self.flat_limit * level, noise
        ):
            return
        message = f"The loss stayed at {level:.2f} times that of the best constant prediction for the second half of the run."
        yield self.symptom(message, course.loss, level, self.level_limit, first_step=course.middle)

    HEALTHY = {
        "falls to a low level": lambda: run_with(falling(200)),
        "still falling": lambda: run_with([1.0 * 0.995**step for step in range(200)]),
    }
    FAULTY = {"stands still half way": lambda: run_with(falling(100, end=0.6) + flat(200, 0.6))}


class LearnsSlowly(Detector, code="D508", needs_fixed_data=True):
    """The loss falls steadily, in nearly a straight line, but has hardly come down at the end.

    A healthy curve falls fast at first and bends. A straight one means that every step does the same small amount: the steps are
    too small for the distance. Usual causes: a learning rate that is too low, clipping that is too tight, an
    optimiser whose steps are tiny by construction.
    """

    fall_limit = convention(0.35, "share of the first loss that is gone at the end, at most")
    least_fall = convention(1e-4, "share of the first loss below which nothing fell")
    bend_limit = convention(0.35, "the first half of a straight line brings half of the fall")
    least_looks = convention(24, "a bend needs points to be seen")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        course = objective(trace)
        if course is None or course.looks < self.least_looks or len(course.losses) < 4 or course.first <= 0:
            return
        first, last = float(course.losses[0]), course.last
        noise = float(np.hypot(course.errors[0], course.errors[-1]))
        fall = first - last
        if fall < 3 * noise or fall / first > self.fall_limit or fall / first < self.least_fall:
            return
        position = np.searchsorted(course.steps, course.last_step / 2)
        late = float(course.losses[min(int(position), len(course.losses) - 2)]) - last
        if late / fall < self.bend_limit:
            return
        message = f"The loss fell in nearly a straight line, from {first:.3g} to only {last:.3g} in {course.last_step + 1} steps."
        yield self.symptom(message, course.loss, fall / first, self.fall_limit, first_step=course.middle)

    HEALTHY = {
        "falls and bends": lambda: run_with(falling(200)),
        "falls, then stands": lambda: run_with(falling(100, end=0.8) + flat(200, 0.8)),
    }
    FAULTY = {
        "a straight line": lambda: run_with(
            [1.2 - 0.0005 * step + 0.005 * (-1) ** step for step in range(300)]
        )
    }
