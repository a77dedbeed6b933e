"""A model small enough to be reckoned by hand."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from netmend.diagnose.learned.combination import HEALTHY, TERMS, Combination
from netmend.diagnose.learned.forest import LEAF, Forest
from netmend.diagnose.learned.model import Model


@pytest.fixture
def small_model() -> Callable[..., Model]:
    return _small_model


def _small_model(least: float = 0.5, healthy: float = 0.0) -> Model:
    """One tree: a falling loss is healthy, any other has a rate that is too high."""
    forest = Forest(
        ("loss_last",),
        (HEALTHY, "HYP-LR-HIGH"),
        np.array([0, 3]),
        np.array([0, LEAF, LEAF], dtype=np.int16),
        np.array([-0.3, 0, 0], dtype=np.float32),
        np.array([2, 0, 0]),
        np.array([False, False, False]),
        np.array([0, 1, 3]),
        np.array([0, 0, 1]),
        np.array([10.0, 1.0, 9.0]),
    )
    weights = {"share": 1.0, "rules": 0.5, "rules_first": 1.0}
    combination = Combination(0.0, tuple(weights.get(name, 0.0) for name in TERMS))
    return Model(forest, combination, least, healthy, {"runs": 20})
