"""A model small enough to be reckoned by hand."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from ranking.combination import HEALTHY, TERMS, Combination
from ranking.forest import LEAF, Forest
from ranking.model import Model


@pytest.fixture
def small_model() -> Callable[..., Model]:
    return _small_model


def _small_model(least: float = 0.5, healthy: float = 0.0) -> Model:
    """One tree: a falling loss is healthy, any other has a rate that is too high."""
    forest = Forest(
        features=("loss_last",),
        classes=(HEALTHY, "HYP-LR-HIGH"),
        base=np.zeros(2),
        starts=np.array([0, 3]),
        speaks_of=np.array([1]),
        feature=np.array([0, LEAF, LEAF], dtype=np.int16),
        threshold=np.array([-0.3, 0, 0]),
        right=np.array([2, 0, 0]),
        missing_left=np.array([True, False, False]),
        value=np.array([0.0, -9.0, math.log(9)]),
    )
    weights = {"share": 1.0, "rules": 0.5, "rules_first": 1.0}
    combination = Combination(0.0, tuple(weights.get(name, 0.0) for name in TERMS))
    return Model(forest, combination, least, healthy, {"runs": 20})
