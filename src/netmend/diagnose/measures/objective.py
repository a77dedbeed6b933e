"""The objective whose curve means something: falls when the program learns. Adversarial and reward losses do not."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from netmend.diagnose.measures.progress import Progress, main_progress, progress
from netmend.vocabulary import Table, Trace
from netmend.vocabulary.table import FloatArray, IntArray


@lru_cache(maxsize=16)
def objective(trace: Trace) -> Progress | None:
    """The course of the training loss where lower is better; None for GANs, rewards, losses below zero, or none at all."""
    courses = progress(trace)
    if len(courses) > 1 and len(trace.optimizers) > 1:
        return None  # objectives that take turns pull against each other
    course = main_progress(trace)
    if course is None or course.best < 0:
        return None
    return course


def same_task(trace: Trace, table: Table, course: Progress) -> bool:
    """Whether an evaluation computes the same criterion as the training objective."""
    return table.component.partition("@")[0] == course.loss.partition("@")[0] != ""


@lru_cache(maxsize=16)
def evaluations(trace: Trace) -> tuple[IntArray, FloatArray, FloatArray] | None:
    """Steps, losses and metrics of the evaluation passes over held-out data: the table with the most passes.

    Passes over the training data cannot be told from the loss alone; a table all of whose samples were trained on is left out
    by `diagnose.detectors.training_evaluation_overlap`, not here.
    """
    course = objective(trace)
    if course is None:
        return None
    tables = [
        table
        for table in trace.tables_of("evaluation")
        if len(table) and same_task(trace, table, course) and np.isfinite(table.column("loss")).any()
    ]
    if not tables:
        return None
    table = max(tables, key=len)
    there = np.isfinite(table.column("loss"))
    return table.steps[there], table.column("loss")[there], table.column("metric")[there]


def constant_of(course: Progress) -> float | None:
    """Loss of the best constant predictor behind a course's relative values."""
    if course.relative is None or course.relative[-1] == 0:
        return None
    return float(course.losses[-1] / course.relative[-1])
