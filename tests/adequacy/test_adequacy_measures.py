"""Every measure against its examples, and what holds for all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from measure_examples import MEASURES, Example

from netmend.adequacy.collected import nearest
from netmend.adequacy.measures.label_orders import core_set
from netmend.adequacy.measures.surprises import (
    distance_surprise,
    layer_spread,
    likelihood_surprise,
    mahalanobis_surprise,
    shrunk_covariance,
)

EXAMPLES = [
    pytest.param(measure, example, id=f"{measure.__name__}: {example.title}")
    for measure, examples in MEASURES.items()
    for example in examples
]


def as_arrays(given: Any) -> dict[str, Any]:
    return {key: np.array(value) if isinstance(value, list) else value for key, value in given.items()}


@pytest.mark.parametrize(("measure", "example"), EXAMPLES)
def test_a_measure_answers_its_examples(measure: Callable[..., Any], example: Example) -> None:
    answer = measure(**as_arrays(example.given))
    np.testing.assert_allclose(answer, example.expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("measure", MEASURES)
def test_a_measure_explains_itself_and_has_examples(measure: Callable[..., Any]) -> None:
    assert measure.__doc__ and len(MEASURES[measure]) >= 3


def test_spread_is_that_of_the_covariance_in_any_order() -> None:
    rows = np.random.default_rng(0).normal(3.0, 2.0, (97, 6))
    whole = layer_spread(rows)
    assert whole == pytest.approx(np.abs(np.cov(rows.T, bias=True)).mean())
    assert layer_spread(rows[::-1]) == pytest.approx(whole)


def test_likelihood_is_that_of_a_gaussian_kernel_density() -> None:
    from scipy.stats import gaussian_kde

    random = np.random.default_rng(1)
    known = random.normal(size=(80, 3)) @ random.normal(size=(3, 3))
    traces = random.normal(size=(20, 3))
    zeros = np.zeros(80, dtype=np.int64)
    expected = -gaussian_kde(known.T).logpdf(traces.T)
    np.testing.assert_allclose(likelihood_surprise(known, zeros, traces, zeros[:20]), expected, rtol=1e-9)


def test_shrinkage_is_that_of_ledoit_and_wolf() -> None:
    sklearn = pytest.importorskip("sklearn.covariance")
    rows = np.random.default_rng(2).normal(size=(30, 8)) * np.arange(1, 9)
    np.testing.assert_allclose(shrunk_covariance(rows), sklearn.ledoit_wolf(rows)[0], rtol=1e-9)


def test_nearest_agrees_with_all_distances_also_far_from_the_origin() -> None:
    random = np.random.default_rng(3)
    points, targets = random.normal(1e6, 1.0, (40, 5)), random.normal(1e6, 1.0, (60, 5))
    table = np.sqrt(((points[:, None] - targets) ** 2).sum(axis=2))
    at, away = nearest(points, targets)
    np.testing.assert_array_equal(at, table.argmin(axis=1))
    np.testing.assert_allclose(away, table.min(axis=1))


@pytest.mark.parametrize("measure", [distance_surprise, likelihood_surprise, mahalanobis_surprise])
def test_what_lies_farther_out_is_more_surprising(measure: Any) -> None:
    random = np.random.default_rng(4)
    known = np.concatenate([random.normal(0, 1, (200, 4)), random.normal(8, 1, (200, 4))])
    classes = np.repeat([0, 1], 200)
    traces = np.outer([0.0, 2.0, 5.0, 9.0], [-1.0, 0.0, 0.0, 0.0])
    surprise = measure(known, classes, traces, np.zeros(4, dtype=np.int64))
    assert (np.diff(surprise) > 0).all()


def test_core_set_orders_everything_once() -> None:
    traces = np.random.default_rng(5).normal(size=(50, 3))
    order = core_set(traces, traces[:0], 50)
    assert sorted(order.tolist()) == list(range(50))
    assert core_set(traces, traces[:0], 7).tolist() == order[:7].tolist()
