"""The t-tests behind verdicts: as scipy's where scores are fine-grained, cautious where they are coarse, and of the level they claim."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

from netmend.mutate.comparison import groups, paired, resolution

Draw = Callable[[np.random.Generator, int], np.ndarray]


@pytest.mark.parametrize("count", [3, 4, 5, 6])
def test_paired_as_scipy_but_for_the_resolution(count: int) -> None:
    random = np.random.default_rng(count)
    for shift in (-1.0, 0.0, 1.0, 2.0):
        old, new = random.normal(0, 1, count), random.normal(shift, 1, count)
        variance = np.var(new - old, ddof=1) + resolution(old, new) ** 2 / 12
        statistic = (new - old).mean() / np.sqrt(variance / count)
        expected = max(stats.t.sf(statistic, count - 1), 0.25**count)
        assert paired(old, new).worse == pytest.approx(expected)
        assert paired(old, new).freedom == count - 1


def test_fine_scores_hardly_feel_the_resolution() -> None:
    random = np.random.default_rng(3)
    old, new = random.normal(0, 1, 6), random.normal(1, 1, 6)
    expected = stats.ttest_rel(new, old, alternative="greater")
    assert paired(old, new).worse == pytest.approx(expected.pvalue, rel=0.02)
    assert paired(old, new).statistic == pytest.approx(expected.statistic, rel=0.02)


def test_groups_as_welch_where_the_guard_cannot_speak() -> None:
    random = np.random.default_rng(4)
    old, new = random.normal(0, 1, 4), random.normal(1.5, 3, 4)
    expected = stats.ttest_ind(new, old, equal_var=False, alternative="greater")
    assert groups(old, new).worse == pytest.approx(expected.pvalue, rel=0.02)
    assert groups(old, new).freedom == pytest.approx(expected.df, rel=0.02)


def test_the_guard_of_pairs_counts_every_exchange() -> None:
    # Seven differences of one size with one against: t alone would reject at 0.05, counting gives 8 of 128.
    old = np.zeros(7)
    new = np.array([1.0, 1, 1, 1, 1, 1, -1])
    counted = [np.dot(signs, new) >= new.sum() for signs in product((1, -1), repeat=7)]
    assert np.mean(counted) == 8 / 128
    assert paired(old, new).worse == pytest.approx(8 / 128)
    assert paired(new, old).better == pytest.approx(8 / 128)


def test_the_guard_of_groups_counts_every_regrouping() -> None:
    old, new = np.array([1.0, 2, 3, 4, 9]), np.array([5.0, 6, 7, 8, 10])
    both = np.concatenate([old, new])
    sums = [both[list(chosen)].sum() for chosen in combinations(range(10), 5)]
    expected = np.mean([total >= new.sum() for total in sums])
    found = groups(old, new)
    by_t = stats.ttest_ind(new, old, equal_var=False, alternative="greater").pvalue
    assert found.worse == pytest.approx(max(expected, by_t), rel=0.1)
    assert found.worse >= expected


@pytest.mark.parametrize("compare", [paired, groups])
def test_many_runs_draw_exchanges_the_same_ones_each_time(compare: Callable[..., object]) -> None:
    random = np.random.default_rng(5)
    old, new = random.normal(0, 1, 20), random.normal(0.4, 1, 20)
    first, again = compare(old, new), compare(old, new)
    assert first == again
    exact = stats.ttest_rel if compare is paired else stats.ttest_ind
    assert first.worse == pytest.approx(exact(new, old, alternative="greater").pvalue, rel=0.15)  # type: ignore[attr-defined]


def test_no_p_value_below_what_so_few_runs_can_show() -> None:
    old, new = np.array([0.1, 0.1, 0.1]), np.array([0.9, 0.9, 0.9])
    assert paired(old, new).worse == 1 / 64
    assert groups(old, new).worse == 1 / 64
    assert paired(old[:2], new[:2]).worse == pytest.approx(1 / 16, rel=0.1)
    # 2 and 3 runs: at most (2/5)^2 (3/5)^3, whatever the chance of the first value
    assert groups(old[:2], new).worse >= (2 / 5) ** 2 * (3 / 5) ** 3


def test_equal_differences_of_coarse_scores_are_not_taken_for_certain() -> None:
    old, new = np.array([0.1, 0.2, 0.3]), np.array([0.2, 0.3, 0.4])
    assert 0.005 < paired(old, new).worse < 0.05  # scipy says 0: no spread at all
    assert resolution(old, new) == pytest.approx(0.1)


def test_equal_scores() -> None:
    same = np.full(4, 0.7)
    assert paired(same, same).worse == groups(same, same).worse == 1.0
    assert resolution(same, same + 1e-13) == 0.0
    varying = np.array([0.1, 0.5, 0.7])
    assert paired(varying, varying).worse == paired(varying, varying).better == 1.0


def binomial(inputs: int, chance: float) -> Draw:
    return lambda random, count: random.binomial(inputs, chance, count) / inputs


SCORES: dict[str, Draw] = {
    "normal": lambda random, count: random.normal(0, 1, count),
    "5 inputs": binomial(5, 0.8),
    "20 inputs": binomial(20, 0.95),
    "skewed": lambda random, count: -np.exp(random.normal(0, 1, count)),
    "half of the trainings collapse": lambda random, count: (
        np.where(random.random(count) < 0.5, 0.1, 0.95) + 0.01 * random.normal(0, 1, count)
    ),
}


@pytest.mark.parametrize(("compare", "counts"), [(paired, (3, 5, 8)), (groups, (3, 5))])
@pytest.mark.parametrize("name", SCORES)
def test_the_level_is_kept(name: str, compare: Callable[..., object], counts: tuple[int, ...]) -> None:
    """Original and mutant alike: at most 5 % killed, within three standard errors of 1,000 repetitions."""
    random = np.random.default_rng(11)
    for count in counts:
        wrong = sum(
            compare(SCORES[name](random, count), SCORES[name](random, count)).worse <= 0.05  # type: ignore[attr-defined]
            for _ in range(1_000)
        )
        assert wrong <= 50 + 3 * np.sqrt(1_000 * 0.05 * 0.95), count
