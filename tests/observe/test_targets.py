"""Targets: the loss of the best constant prediction, against search by brute force."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netmend.observe.targets import Targets


def shown(*batches: list[list[float]]) -> Targets:
    targets = Targets()
    for batch in batches:
        rows = np.asarray(batch, dtype=np.float64)
        targets.add_values(len(rows), rows.sum(axis=0), (rows**2).sum(axis=0), rows)
    return targets


def classes(*labels: int) -> Targets:
    targets = Targets()
    targets.add_classes(np.bincount(labels).astype(np.int64))
    return targets


def cross_entropy(counts: list[int], logits: Any, weights: list[float], smoothing: float) -> float:
    """As torch defines it, for a predictor that always returns the same logits."""
    logs = np.asarray(logits) - np.log(np.exp(logits).sum())
    amounts, weight = np.asarray(counts, dtype=float), np.asarray(weights)
    divisor = (amounts * weight).sum()
    true = -(amounts * weight * logs).sum() / divisor
    spread = -(weight * logs).sum() * amounts.sum() / divisor
    return float((1 - smoothing) * true + smoothing / len(counts) * spread)


@settings(max_examples=60, deadline=None)
@given(
    counts=st.lists(st.integers(0, 50), min_size=2, max_size=5).filter(sum),
    weights=st.lists(st.floats(0.1, 10), min_size=5, max_size=5),
    smoothing=st.sampled_from([0.0, 0.1, 0.5]),
    seed=st.integers(0, 10_000),
)
def test_no_constant_beats_the_best_constant_of_cross_entropy(
    counts: list[int], weights: list[float], smoothing: float, seed: int
) -> None:
    targets = Targets()
    targets.add_classes(np.asarray(counts, dtype=np.int64))
    used = weights[: len(counts)]
    config = {"weight": used, "label_smoothing": smoothing, "classes": len(counts)}
    best = targets.constant_loss("cross_entropy", config)
    assert best is not None
    for logits in np.random.default_rng(seed).normal(0, 3, size=(200, len(counts))):
        assert cross_entropy(counts, logits, used, smoothing) >= best - 1e-9
    # And it is reached: by the logarithms of the shares that the criterion sees.
    shares = np.asarray(used) * ((1 - smoothing) * np.asarray(counts) + smoothing * sum(counts) / len(counts))
    reached = cross_entropy(counts, np.log(np.maximum(shares, 1e-30)), used, smoothing)
    assert reached == pytest.approx(best, rel=1e-6, abs=1e-9)


def test_class_priors() -> None:
    assert classes(0, 0, 0, 1).constant_loss("cross_entropy", {}) == pytest.approx(0.5623, abs=1e-4)
    assert classes(2, 2, 2).constant_loss("cross_entropy", {}) == pytest.approx(0.0, abs=1e-9)


def test_batches_add_up_whatever_their_classes() -> None:
    targets = classes(0, 0)
    targets.add_classes(np.bincount([3, 3]).astype(np.int64))
    targets.add_classes(np.bincount([0]).astype(np.int64))
    assert targets.samples == 5
    assert targets.counts is not None and targets.counts.tolist() == [3, 0, 0, 2]


def test_sums_count_the_elements_of_a_batch() -> None:
    per_sample = classes(0, 1, 0, 1).constant_loss("cross_entropy", {})
    assert per_sample is not None
    summed = classes(0, 1, 0, 1).constant_loss("cross_entropy", {"reduction": "sum"})
    assert summed == pytest.approx(4 * per_sample)
    real = shown([[0.0, 0.0], [2.0, 4.0]], [[0.0, 0.0], [2.0, 4.0]])
    assert real.constant_loss("mse_loss", {}) == pytest.approx(2.5)
    assert real.constant_loss("mse_loss", {"reduction": "sum"}) == pytest.approx(10.0)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.floats(-50, 50), st.floats(-5, 5)), min_size=2, max_size=30),
    st.sampled_from(["mse_loss", "l1_loss", "huber_loss", "smooth_l1_loss"]),
    st.integers(0, 10_000),
)
def test_no_constant_row_beats_the_best_constant_of_a_regression(
    rows: list[tuple[float, float]], criterion: str, seed: int
) -> None:
    values = np.asarray(rows)
    best = shown([list(row) for row in rows]).constant_loss(criterion, {})
    assert best is not None
    for guess in np.random.default_rng(seed).uniform(values.min(axis=0), values.max(axis=0), size=(200, 2)):
        distance = np.abs(values - guess)
        huber = np.where(distance < 1, 0.5 * distance**2, distance - 0.5).mean()
        loss = {"mse_loss": (distance**2).mean(), "l1_loss": distance.mean()}.get(criterion, huber)
        assert loss >= best * 0.99 - 1e-6  # huber: searched on a grid


def test_targets_far_from_zero_keep_their_spread() -> None:
    assert shown([[1e6 - 1], [1e6 + 1]]).constant_loss("mse_loss", {}) == pytest.approx(1.0, rel=1e-3)


@pytest.mark.parametrize("pos_weight", [1.0, 0.25, 7.0])
def test_yes_no_targets_with_a_weight_for_yes(pos_weight: float) -> None:
    targets = shown([[1.0], [0.0], [0.0], [0.0]])
    best = targets.constant_loss("binary_cross_entropy_with_logits", {"pos_weight": pos_weight})
    shares = np.linspace(1e-4, 1 - 1e-4, 100_001)
    losses = -(pos_weight * 0.25 * np.log(shares) + 0.75 * np.log(1 - shares))
    assert best == pytest.approx(losses.min(), rel=1e-6)


def test_constant_targets_cost_nothing() -> None:
    targets = shown([[3.0], [3.0]])
    assert targets.constant_loss("mse_loss", {}) == pytest.approx(0.0, abs=1e-9)
    assert targets.constant_loss("l1_loss", {}) == pytest.approx(0.0, abs=1e-9)
    assert shown([[1.0], [1.0]]).constant_loss("binary_cross_entropy", {}) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("criterion", ["triplet_margin_loss", "ctc_loss", "expression"])
def test_unknown_criteria_have_no_constant(criterion: str) -> None:
    assert shown([[1.0], [2.0]]).constant_loss(criterion, {}) is None
    assert Targets().constant_loss("cross_entropy", {}) is None


def test_targets_that_are_not_finite_give_none() -> None:
    assert shown([[float("nan")], [1.0]]).constant_loss("mse_loss", {}) is None


def test_sequences_of_several_lengths_share_one_constant() -> None:
    """Each batch is one sequence of its own length: its numbers are no columns, and one row of them has no spread."""
    values = np.linspace(-1, 1, 30)
    targets = shown([values.tolist()], [values[:20].tolist()], [values.tolist()])
    everything = np.concatenate([values, values[:20], values])
    assert targets.constant_loss("mse_loss", {}) == pytest.approx(everything.var())
    assert targets.samples == len(everything)


def test_what_rounding_leaves_of_equal_targets_is_no_spread() -> None:
    targets = shown([[0.7], [0.7000001], [0.7]])
    assert targets.constant_loss("mse_loss", {}) == 0.0
