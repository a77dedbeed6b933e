"""DNNLOC's five features (Lam et al. 2017) and a small network over them.

The published code that the comparison study cites searches 51 files a report, gives wrong files the history of a right one and splits
copies of one row over both sides of its folds. Here: all candidates, each file's own history, whole projects held out.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.locate.baselines.case import Case, Scores, Terms
from bench.locate.baselines.vector_space import cosine, report_likeness

HIDDEN = 300
_MONTH = 30 * 86_400.0
_REPEAT = 10  # fixed files are rare; each of their rows is seen ten times
_DECAY = 1e-5
Rows = NDArray[np.float64]


def features(case: Case) -> Rows:
    """A row a file: text, earlier reports of the file, class names, recency and number of earlier reports."""
    mine: dict[int, list[int]] = {}
    for place, report in enumerate(case.before):
        for number in report.files:
            mine.setdefault(number, []).append(place)
    table = np.zeros((case.size, 5))
    table[:, 0] = cosine(case.body, case.text)
    table[:, 2] = cosine(case.classes, case.text)
    numbers = sorted(mine)
    joined = [_joined([case.before[place].terms for place in mine[number]]) for number in numbers]
    table[numbers, 1] = report_likeness(case.text, joined)
    for number in numbers:
        newest = max(case.before[place].time for place in mine[number])
        table[number, 3] = 1 / ((case.opened - newest) / _MONTH + 1)
        table[number, 4] = len(mine[number])
    largest = table.max(axis=0, initial=0.0)
    return np.asarray(np.divide(table, largest, out=np.zeros_like(table), where=largest > 0))


@dataclass(frozen=True)
class Network:
    """One hidden layer of rectified units, one output."""

    first: Rows
    first_bias: Scores
    second: Scores
    second_bias: float

    def scores(self, rows: Rows) -> Scores:
        hidden = np.maximum(rows @ self.first + self.first_bias, 0)
        return np.asarray(hidden @ self.second + self.second_bias)


def train(
    rows: Rows, fixed: NDArray[np.bool_], epochs: int = 20, rate: float = 0.01, seed: int = 0
) -> Network:
    """Squared error to 0 and 1 by stochastic gradient descent with momentum."""
    random = np.random.default_rng(seed)
    width = rows.shape[1]
    parameters = [
        random.normal(0, np.sqrt(2 / width), (width, HIDDEN)),
        np.zeros(HIDDEN),
        random.normal(0, np.sqrt(1 / HIDDEN), HIDDEN),
        np.zeros(1),
    ]
    moved = [np.zeros_like(value) for value in parameters]
    order = np.concatenate([np.arange(len(rows)), np.repeat(np.flatnonzero(fixed), _REPEAT - 1)])
    for epoch in range(epochs):
        random.shuffle(order)
        step = rate * (1 - epoch / epochs)
        for start in range(0, len(order), 256):
            batch = order[start : start + 256]
            gradients = _gradients(parameters, rows[batch], fixed[batch].astype(float))
            for value, momentum, gradient in zip(parameters, moved, gradients, strict=True):
                momentum *= 0.9
                momentum -= step * (gradient + _DECAY * value)
                value += momentum
    return Network(parameters[0], parameters[1], parameters[2], float(parameters[3][0]))


def _gradients(parameters: list[Rows], rows: Rows, wanted: Scores) -> list[Rows]:
    first, first_bias, second, second_bias = parameters
    before = rows @ first + first_bias
    hidden = np.maximum(before, 0)
    error = (hidden @ second + second_bias - wanted) / len(rows)
    back = np.outer(error, second) * (before > 0)
    return [rows.T @ back, back.sum(axis=0), hidden.T @ error, np.array([error.sum()])]


def _joined(texts: list[Terms]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for text in texts:
        total.update(text)
    return dict(total)
