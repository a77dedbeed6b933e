"""The objective whose curve means something: falls when the program learns. Adversarial and reward losses do not."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from netmend.diagnose.measures.loop import main_pattern
from netmend.diagnose.measures.progress import Progress, main_progress, progress
from netmend.library.losses import DISTANCES
from netmend.vocabulary import LossFact, Pattern, Table, TargetFact, Trace
from netmend.vocabulary.table import FloatArray, IntArray

_LATE = 0.5  # of the steps of a run
_REGRESSIONS = (*DISTANCES, "objective", "expression")


@lru_cache(maxsize=16)
def objective(trace: Trace) -> Progress | None:
    """The course of the training loss where lower is better; None for GANs, rewards, losses below zero, or none at all."""
    courses = progress(trace)
    turns = {loss.backward for loss in trace.losses if loss.backward is not None}
    if max(len(courses), len(turns)) > 1 and len(trace.optimizers) > 1:
        return None  # objectives that take turns pull against each other
    course = main_progress(trace)
    if course is None or course.best < 0 or _own_targets(trace, course) or not _end_seen(trace):
        return None
    return course


def left(trace: Trace) -> float | None:
    """The loss at the end, relative to that of the best constant prediction; None where that is not known."""
    course = objective(trace)
    return None if course is None else course.last_relative


def _end_seen(trace: Trace) -> bool:
    """Whether losses are known from the later half of the run: on a busy machine there may be no time to look."""
    tables = (*trace.tables_of("step"), *trace.tables_of("progress"))
    last = max((int(table.steps[-1]) for table in tables if len(table)), default=0)
    return last + 1 >= _LATE * trace.run.steps


def _own_targets(trace: Trace, course: Progress) -> bool:
    """Whether the targets are the program's own estimates (Q-learning): they move while it learns, and the loss with them."""
    if course.loss.partition("@")[0] not in _REGRESSIONS:
        return False
    pattern = main_pattern(trace)
    return pattern is not None and any(
        call.what == "forward" and "no_grad" in call.detail and not _evaluates(pattern, index)
        for index, call in enumerate(pattern.calls)
    )


def _evaluates(pattern: Pattern, index: int) -> bool:
    """Whether a forward pass without gradients is an evaluation: one update per epoch brings it into the loop of steps.

    Its model is switched to evaluation within the loop, or the loss that follows has no gradients either.
    """
    model = pattern.calls[index].component
    if any(call.what == "eval" and call.component == model for call in pattern.calls):
        return True
    following = next((call for call in pattern.calls[index + 1 :] if call.what in ("forward", "loss")), None)
    return following is not None and following.what == "loss" and "no_grad" in following.detail


def same_task(trace: Trace, table: Table, course: Progress) -> bool:
    """Whether an evaluation computes the same criterion as the training objective.

    Where an objective has several terms of that criterion, only the same line is known to compute the same one.
    """
    kind = course.loss.partition("@")[0]
    if table.component.partition("@")[0] != kind or not kind:
        return False
    for loss in trace.losses:
        terms = loss.settings.get("terms", ())
        if course.loss in terms and sum(term.partition("@")[0] == kind for term in terms) > 1:
            return table.component == course.loss
    return True


@lru_cache(maxsize=16)
def evaluations(trace: Trace) -> tuple[IntArray, FloatArray, FloatArray] | None:
    """Steps, losses and metrics of the evaluation passes over held-out data.

    Passes over the training data cannot be told from the loss alone; a table all of whose samples were trained on is left out
    by `diagnose.detectors.training_evaluation_overlap`, not here.
    """
    course = objective(trace)
    if course is None:
        return None
    groups: list[tuple[IntArray, FloatArray, FloatArray]] = []
    for table in trace.tables_of("evaluation"):
        if not len(table) or not same_task(trace, table, course):
            continue
        samples, losses = np.nan_to_num(table.column("samples")), _as_trained(trace, table, course)
        for size in np.unique(samples):
            there = np.isfinite(losses) & (samples == size)
            if there.any():
                groups.append((table.steps[there], losses[there], table.column("metric")[there]))
    most = max((len(group[0]) for group in groups), default=0)
    often = [group for group in groups if len(group[0]) >= 0.5 * most]
    # Sets of different size are different data. Where the training data is evaluated too, the other set is the worse one.
    return max(often, key=lambda group: float(np.median(group[1][-3:])), default=None)


def _as_trained(trace: Trace, table: Table, course: Progress) -> FloatArray:
    """An evaluation's losses, as large as the training loss would have been: one may be summed up, the other averaged.

    Both are known relative to the best constant prediction; where they are not, such losses cannot be compared (NaN).
    """
    losses = table.column("loss")
    if _reduction(trace, table.component) == _reduction(trace, course.loss):
        return losses
    constants, trained = table.column("constant_loss"), constant_of(course)
    scale = np.where(constants > 0, constants, np.nan)
    return np.asarray(losses / scale * (np.nan if trained is None else trained))


def _reduction(trace: Trace, loss: str) -> str:
    """How a recorded loss counts its elements; of one value per element the mean is recorded."""
    fact = trace.get(LossFact, loss)
    given = "mean" if fact is None else str(fact.settings.get("reduction", "mean"))
    return "mean" if given == "none" else given


def constant_of(course: Progress) -> float | None:
    """Loss of the best constant prediction behind a course's relative values."""
    if course.relative is None or course.relative[-1] == 0:
        return None
    return float(course.losses[-1] / course.relative[-1])


def relative_to(losses: FloatArray, constants: FloatArray) -> FloatArray:
    """Losses over those of the best constant prediction, where both are known and the latter is not zero."""
    known = np.isfinite(losses) & np.isfinite(constants) & (constants > 0)
    return losses[known] / constants[known]


def smooth(values: FloatArray) -> FloatArray:
    """Running medians over about a tenth of the values: one lucky evaluation is no best one."""
    width = max(1, len(values) // 10) | 1
    if width < 3:
        return values
    half = width // 2
    padded = np.concatenate([values[:1].repeat(half), values, values[-1:].repeat(half)])
    return np.asarray(np.median(np.lib.stride_tricks.sliding_window_view(padded, width), axis=1))


def right_more_often_than_chance(trace: Trace, course: Progress) -> bool:
    """Whether classes are told apart, whatever the loss says (label smoothing and mixed labels keep it high)."""
    target = trace.get(TargetFact, course.loss)
    if target is None or not target.class_counts or course.metric_last is None:
        return False
    total = sum(target.class_counts.values())
    majority = max(target.class_counts.values()) / total if total else 1.0
    return course.metric_last > majority + 0.5 * (1 - majority) ** 2


_FIRST_STEPS = 40
_FIRST_SHARE = 0.05


@dataclass(frozen=True)
class Start:
    """Values of the loss; `constant` is the loss of the best constant prediction, None where there is none."""

    first: float  # before any step
    peak: float  # highest in the first steps after it
    peak_step: int
    constant: float | None

    @property
    def overshoot(self) -> float:
        """How far the loss shot up: its peak over where it started, or over the constant prediction if that is higher."""
        return self.peak / max(self.first, self.constant or 0.0)

    @property
    def first_relative(self) -> float | None:
        """Loss before any step, on the scale of the constant prediction."""
        return None if not self.constant else self.first / self.constant


@lru_cache(maxsize=16)
def start(trace: Trace) -> Start | None:
    """None where the loss cannot be judged (adversarial, negative) or its first value was not seen."""
    course = objective(trace)
    steps, losses = trace.loss
    finite = np.isfinite(losses)
    steps, losses = steps[finite], losses[finite]
    if course is None or len(losses) < 4 or steps[0] != 0 or losses.min() < 0 or losses[0] <= 0:
        return None
    until = max(_FIRST_STEPS, _FIRST_SHARE * max(int(steps[-1]), trace.run.steps))
    early = losses[1:][steps[1:] <= until]
    if not len(early):
        return None
    highest = int(np.argmax(early))
    return Start(
        float(losses[0]), float(early[highest]), int(steps[1:][highest]), _fitting(trace, constant_of(course))
    )


def _fitting(trace: Trace, constant: float | None) -> float | None:
    """The constant's loss, if what is minimised is the criterion itself and not a sum in which it is one term."""
    course = objective(trace)
    if constant is None or course is None:
        return None
    by_step = dict(zip(*(values.tolist() for values in trace.loss), strict=True))
    steps, values = trace.series("progress", course.loss, "loss")
    pairs = [(by_step[s], v) for s, v in zip(steps.tolist(), values.tolist(), strict=True) if s in by_step]
    if not pairs:
        return None
    same = np.mean([abs(a - b) <= 1e-3 * max(abs(a), abs(b), 1e-12) for a, b in pairs])
    return constant if same > 0.8 else None
