"""The paired comparison: Wilcoxon's test, the effect, the interval."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from netmend.verify.statistics import MOST_EFFECT, compare

INFINITE = math.inf


@pytest.mark.parametrize("count", [1, 2, 5, 6, 10, 16])
def test_exact_as_scipy_where_there_are_no_ties(count: int) -> None:
    generator = np.random.default_rng(count)
    for shift in (-1.0, 0.0, 0.5, 2.0):
        before, after = generator.normal(shift, 1, count), generator.normal(0, 1, count)
        expected = stats.wilcoxon(before, after, alternative="greater", method="exact").pvalue
        assert compare(list(before), list(after)).p_value == pytest.approx(expected, abs=1e-12)


def test_many_seeds() -> None:
    generator = np.random.default_rng(0)
    before, after = generator.normal(0.3, 1, 40), generator.normal(0, 1, 40)
    expected = stats.wilcoxon(before, after, alternative="greater").pvalue
    assert compare(list(before), list(after)).p_value == pytest.approx(expected)


def by_counting(differences: list[float]) -> float:
    """Every way of giving signs, one after the other, by the definition of the test."""
    moved = [d for d in differences if d != 0]
    ranks = stats.rankdata(np.abs(moved))
    seen = sum(rank for rank, d in zip(ranks, moved, strict=True) if d > 0)
    sums = [
        sum(rank for rank, sign in zip(ranks, signs, strict=True) if sign)
        for signs in product((False, True), repeat=len(moved))
    ]
    return sum(s >= seen for s in sums) / len(sums) if moved else 1.0


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=8))
@settings(max_examples=100, deadline=None)
def test_exact_also_with_ties_and_zeros(differences: list[int]) -> None:
    made = compare([float(10 + d) for d in differences], [10.0] * len(differences))
    assert made.p_value == pytest.approx(by_counting([float(d) for d in differences]))


def test_differences_that_are_equal_but_for_rounding_are_ties() -> None:
    before, after = [0.3, 0.4, 0.5, 0.6, 0.2], [0.2, 0.3, 0.4, 0.7, 0.1]
    assert len(set(np.abs(np.array(before) - np.array(after)))) > 1
    assert compare(before, after).p_value == pytest.approx(by_counting([1, 1, 1, -1, 1]))


@pytest.mark.parametrize(("seeds", "expected"), [(5, 1 / 32), (10, 1 / 1024)])
def test_better_with_every_seed(seeds: int, expected: float) -> None:
    before, after = [1.0 + 0.01 * i for i in range(seeds)], [0.5 - 0.02 * i for i in range(seeds)]
    assert compare(before, after).p_value == pytest.approx(expected)
    assert compare(after, before).p_value == 1.0  # one-sided: worse is no evidence at all


def test_both_directions_share_the_chances() -> None:
    generator = np.random.default_rng(3)
    before, after = list(generator.normal(0, 1, 7)), list(generator.normal(0, 1, 7))
    one, other = compare(before, after), compare(after, before)
    assert one.p_value + other.p_value > 1  # what was seen counts on both sides
    assert one.effect_size == pytest.approx(-other.effect_size)
    assert one.improvement == pytest.approx(-other.improvement)
    assert one.interval == pytest.approx((-other.interval[1], -other.interval[0]))


def test_nothing_changed() -> None:
    made = compare([0.3, 0.4, 0.5], [0.3, 0.4, 0.5])
    assert (made.p_value, made.effect_size, made.improvement) == (1.0, 0.0, 0.0)
    assert made.interval == (0.0, 0.0)


def test_effect_size_and_interval() -> None:
    before, after = [3.0, 4.0, 5.0, 6.0, 7.0], [1.0, 2.5, 2.0, 4.0, 3.0]
    made = compare(before, after)
    pooled = math.sqrt((np.var(before, ddof=1) + np.var(after, ddof=1)) / 2)
    assert made.effect_size == pytest.approx((5.0 - 2.5) / pooled)
    assert made.improvement == pytest.approx(2.5)
    expected = stats.ttest_rel(before, after).confidence_interval(0.95)
    assert made.interval == pytest.approx((expected.low, expected.high))


def test_no_spread_at_all() -> None:
    better, worse = compare([0.5] * 5, [0.1] * 5), compare([0.1] * 5, [0.5] * 5)
    assert (better.effect_size, worse.effect_size) == (MOST_EFFECT, -MOST_EFFECT)
    assert better.p_value == pytest.approx(1 / 32) and worse.p_value == 1.0
    assert better.interval == pytest.approx((0.4, 0.4))


def test_hardly_any_spread_gives_no_endless_effect() -> None:
    made = compare([0.5, 0.5 + 1e-9], [0.1, 0.1 + 1e-9])
    assert made.effect_size == MOST_EFFECT


def test_one_pair_says_nothing_of_spread() -> None:
    made = compare([1.0], [0.5])
    assert made.p_value == 0.5 and made.effect_size == 0.0 and made.interval == (0.5, 0.5)


def test_trainings_that_failed_are_worse_than_all_others() -> None:
    cured = compare([INFINITE] * 5, [0.1, 0.2, 0.15, 0.12, 0.3])
    assert cured.p_value == pytest.approx(1 / 32)
    assert cured.improvement > 0 and math.isfinite(cured.improvement) and cured.effect_size > 0.5
    broken = compare([0.1, 0.2, 0.15, 0.12, 0.3], [INFINITE] * 5)
    assert broken.p_value == 1.0 and broken.improvement < 0 and broken.effect_size < -0.5


def test_one_failure_outweighs_small_gains() -> None:
    made = compare([0.50, 0.51, 0.52, 0.53, 0.54], [0.49, 0.50, 0.51, 0.52, INFINITE])
    assert made.improvement < 0 and made.p_value > 0.05


def test_failures_on_both_sides_cancel() -> None:
    made = compare([INFINITE, 0.5, 0.6], [INFINITE, 0.4, 0.45])
    assert made.p_value == pytest.approx(1 / 4)
    assert math.isfinite(made.improvement) and made.improvement > 0
    nothing = compare([INFINITE] * 3, [INFINITE] * 3)
    assert (nothing.p_value, nothing.improvement, nothing.effect_size) == (1.0, 0.0, 0.0)


@pytest.mark.parametrize("known", [0.0, 5.0, -5.0])
def test_failures_beside_a_single_known_value(known: float) -> None:
    made = compare([INFINITE], [known])
    assert made.improvement > 0 and math.isfinite(made.improvement)


@given(
    st.lists(
        st.tuples(st.floats(-1e6, 1e6) | st.just(INFINITE), st.floats(-1e6, 1e6) | st.just(INFINITE)),
        min_size=1,
        max_size=10,
    )
)
@settings(max_examples=100, deadline=None)
def test_numbers_stay_numbers(pairs: list[tuple[float, float]]) -> None:
    made = compare([a for a, _ in pairs], [b for _, b in pairs])
    assert 0 < made.p_value <= 1
    assert all(math.isfinite(x) for x in (made.effect_size, made.improvement, *made.interval))
    assert abs(made.effect_size) <= MOST_EFFECT
    slack = 1e-6 * (1 + abs(made.improvement))
    assert made.interval[0] - slack <= made.improvement <= made.interval[1] + slack
