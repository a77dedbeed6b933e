"""Progress: how far the loss came, on a scale on which 1 is the best constant prediction.

s = loss / loss of the best constant prediction for the same criterion. s ≈ 1 means that nothing was learned from the inputs; s well
below 1 means that something was. Where no constant prediction is known (a hand-written objective), s is None and
only the shape of the curve can be judged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from netmend.vocabulary import Table, Trace
from netmend.vocabulary.table import FloatArray, IntArray

BLOCKS = 20  # a curve is judged on at most this many block means
_LEAST_IN_BLOCK = 4


@dataclass(frozen=True, eq=False)
class Progress:
    """The course of one objective. Arrays are block means over equal shares of the steps that were looked at."""

    loss: str  # name of the loss; "" for the loss of the steps themselves
    steps: IntArray  # middle of each block
    losses: FloatArray
    errors: FloatArray  # standard error of each block's mean
    relative: FloatArray | None  # s per block, where the constant prediction's loss is known
    first: float  # mean of the first looks (up to three)
    last: float  # last block mean
    best: float  # lowest block mean
    first_relative: float | None
    last_relative: float | None
    best_relative: float | None
    metric_first: float | None  # accuracy or R²; see TaskFact
    metric_last: float | None
    metric_best: float | None
    looks: int  # how many measured values are behind it
    last_step: int

    @property
    def fell(self) -> float:
        """Share of the first loss that is gone at the end; negative when it grew. For losses that are never negative."""
        return (self.first - self.last) / self.first if self.first > 0 else 0.0

    @property
    def middle(self) -> int:
        """The step half-way through."""
        return int(self.steps[len(self.steps) // 2])


@lru_cache(maxsize=16)
def progress(trace: Trace) -> tuple[Progress, ...]:
    """The course of every training objective; of the plain step losses where no objective was recognised."""
    tables = [table for table in trace.tables_of("progress") if len(table.known("loss")[0]) >= 2]
    training = {loss.name for loss in trace.losses if loss.backward is not None}
    named = [table for table in tables if not training or table.component in training] or tables
    steps, values = trace.loss
    if len(named) == 1:
        denser = _denser(named[0], steps, values)
        if denser is not None:
            return (denser,)
    found = [course for table in named if (course := _of_table(table)) is not None]
    if found:
        return tuple(found)
    course = _course("", steps, values, np.full(len(values), np.nan), np.full(len(values), np.nan))
    return () if course is None else (course,)


def _denser(table: Table, steps: IntArray, values: FloatArray) -> Progress | None:
    """The course of the only objective from the losses of all steps seen, of which close looks are a small part.

    None when the two are not the same quantity: a loss with a penalty added, or scaled anew at every step.
    """
    _, here, there = np.intersect1d(steps, table.steps, return_indices=True)
    close, plain = table.column("loss")[there], values[here]
    both = np.isfinite(close) & np.isfinite(plain) & (close != 0)
    if len(steps) <= len(table) or both.sum() < 3:
        return None
    ratios = plain[both] / close[both]
    scale = float(np.median(ratios))
    if scale <= 0 or np.abs(ratios / scale - 1).max() > 0.05:
        return None
    metrics, constants = np.full(len(values), np.nan), np.full(len(values), np.nan)
    metrics[here], constants[here] = table.column("metric")[there], table.column("constant_loss")[there]
    return _course(table.component, steps, values / scale, constants, metrics)


def main_progress(trace: Trace) -> Progress | None:
    """The objective with the most looks, of several terms the one that weighs most at first; None when no loss was seen twice."""
    return max(progress(trace), key=lambda course: (course.looks, course.first), default=None)


def blocks(values: FloatArray) -> list[FloatArray]:
    """Equal shares of a series: as many as there are enough values for, at least one."""
    number = max(1, min(BLOCKS, len(values) // _LEAST_IN_BLOCK))
    return list(np.array_split(values, number))


def _of_table(table: Table) -> Progress | None:
    return _course(
        table.component,
        table.steps,
        table.column("loss"),
        table.column("constant_loss"),
        table.column("metric"),
    )


def _course(
    name: str, steps: IntArray, losses: FloatArray, constants: FloatArray, metrics: FloatArray
) -> Progress | None:
    there = np.isfinite(losses)
    steps, losses, constants, metrics = steps[there], losses[there], constants[there], metrics[there]
    if len(losses) < 2:
        return None
    means = np.array([part.mean() for part in blocks(losses)])
    errors = np.array([part.std() / np.sqrt(len(part)) for part in blocks(losses)])
    middles = np.array([part[len(part) // 2] for part in blocks(steps.astype(np.float64))]).astype(np.int64)
    known = np.isfinite(constants) & (constants > 0)
    relative: FloatArray | None = None
    first_relative: float | None = None
    if known.any():
        # One constant for the whole run: the loss of the best constant on a single batch is too low for small batches.
        constant = float(np.median(constants[known]))
        relative = means / constant
        first_relative = float(losses[:3].mean() / constant)
    there = np.isfinite(metrics)
    metric_means = np.array([part.mean() for part in blocks(metrics[there])]) if there.any() else np.empty(0)
    has_metric = len(metric_means) > 0
    return Progress(
        name,
        middles,
        means,
        errors,
        relative,
        float(losses[:3].mean()),
        float(means[-1]),
        float(means.min()),
        first_relative,
        None if relative is None else float(relative[-1]),
        None if relative is None else float(relative.min()),
        float(metrics[there][:3].mean()) if has_metric else None,
        float(metric_means[-1]) if has_metric else None,
        float(metric_means.max()) if has_metric else None,
        len(losses),
        int(steps[-1]),
    )


_LEAST_BLOCKS = 4  # block means that a trend needs
_LEAST_FALL = 0.005  # of the loss over the half that is looked at


def times_longer(course: Progress, level: float) -> tuple[float, float] | None:
    """Best and worst case, in lengths of the run as it was; None where the curve has no trend to go by.

    `level` is the wanted loss as a share of the last one.
    """
    count = len(course.losses)
    if count < _LEAST_BLOCKS or course.losses.min() <= 0 or not 0 < level < 1:
        return None
    half = count // 2
    late = np.log(course.losses[half:])
    # The median of all slopes: one odd block does not turn it.
    pairs = [(late[b] - late[a]) / (b - a) for a in range(len(late)) for b in range(a + 1, len(late))]
    slope = float(np.median(pairs))
    fall = -slope * (count - half)
    noise = float(np.hypot(course.errors[half] / course.losses[half], course.errors[-1] / course.losses[-1]))
    if fall < max(_LEAST_FALL, 2 * noise):
        return None
    wanted = -math.log(level)
    best = 1 + wanted / (-slope * count)
    doublings = wanted / (fall * math.log(2) / math.log(count / max(half, 1)))
    return best, max(best, 2.0 ** min(doublings, 20.0))
