"""A small network that predicts from a start whether an agent will fail: one hidden layer, both classes weighed alike, stopped early."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
_HIDDEN, _ROUNDS, _PATIENCE, _RATE, _DECAY = 24, 400, 40, 0.01, 1e-3
_HELD_OUT = 0.2


@dataclass(frozen=True, eq=False)
class Predictor:
    """`probability(features)`: of failing. Constant where only one outcome was ever seen."""

    centre: Numbers
    spread: Numbers
    weights: tuple[Numbers, ...]
    constant: float | None = None

    def probability(self, features: Numbers) -> Numbers:
        if self.constant is not None:
            return np.full(len(features), self.constant)
        return _forward(self.weights, (features - self.centre) / self.spread)[1]


def fitted(features: Numbers, failed: NDArray[np.bool_], seed: int = 0) -> Predictor:
    finite = np.isfinite(features).all(axis=1)
    features, failed = features[finite], failed[finite]
    width = features.shape[1] if features.ndim == 2 else 0
    centre = features.mean(axis=0) if len(features) else np.zeros(width)
    spread = features.std(axis=0) if len(features) else np.ones(width)
    spread = np.where(spread > 1e-12, spread, 1.0)
    share = float(failed.mean()) if len(failed) else 0.5
    if min(int(failed.sum()), int((~failed).sum())) < 3 or width == 0:
        return Predictor(centre, spread, (), share)
    random = np.random.default_rng(seed)
    x, y = (features - centre) / spread, failed.astype(float)
    held = random.random(len(x)) < _HELD_OUT
    if len(set(y[held])) < 2 or len(set(y[~held])) < 2:
        held = np.zeros(len(x), dtype=bool)
    importance = np.where(failed, 0.5 / share, 0.5 / (1 - share))
    return Predictor(centre, spread, _trained(x, y, importance, held, random))


def _trained(
    x: Numbers, y: Numbers, importance: Numbers, held: NDArray[np.bool_], random: np.random.Generator
) -> tuple[Numbers, ...]:
    weights = [
        random.normal(0, 1 / np.sqrt(x.shape[1]), (x.shape[1], _HIDDEN)),
        np.zeros(_HIDDEN),
        random.normal(0, 1 / np.sqrt(_HIDDEN), _HIDDEN),
        np.zeros(1),
    ]
    first = [np.zeros_like(each) for each in weights]
    second = [np.zeros_like(each) for each in weights]
    best, kept, waited = np.inf, tuple(each.copy() for each in weights), 0
    watched = held if held.any() else ~held
    for step in range(1, _ROUNDS + 1):
        gradients = _gradients(tuple(weights), x[~held], y[~held], importance[~held])
        for place, gradient in enumerate(gradients):
            gradient = gradient + _DECAY * weights[place]
            first[place] = 0.9 * first[place] + 0.1 * gradient
            second[place] = 0.999 * second[place] + 0.001 * gradient**2
            scaled = np.sqrt(second[place] / (1 - 0.999**step)) + 1e-8
            weights[place] = weights[place] - _RATE * first[place] / (1 - 0.9**step) / scaled
        loss = _loss(_forward(tuple(weights), x[watched])[1], y[watched], importance[watched])
        if loss < best - 1e-5:
            best, kept, waited = loss, tuple(each.copy() for each in weights), 0
        else:
            waited += 1
            if waited >= _PATIENCE:
                break
    return kept


def _forward(weights: tuple[Numbers, ...], x: Numbers) -> tuple[Numbers, Numbers]:
    hidden = np.tanh(x @ weights[0] + weights[1])
    return hidden, 1 / (1 + np.exp(-np.clip(hidden @ weights[2] + weights[3], -40, 40)))


def _gradients(
    weights: tuple[Numbers, ...], x: Numbers, y: Numbers, importance: Numbers
) -> tuple[Numbers, ...]:
    hidden, output = _forward(weights, x)
    error = (output - y) * importance / importance.sum()
    back = np.outer(error, weights[2]) * (1 - hidden**2)
    return x.T @ back, back.sum(axis=0), hidden.T @ error, np.array([error.sum()])


def _loss(output: Numbers, y: Numbers, importance: Numbers) -> float:
    safe = np.clip(output, 1e-9, 1 - 1e-9)
    return float(-np.average(y * np.log(safe) + (1 - y) * np.log(1 - safe), weights=importance))
