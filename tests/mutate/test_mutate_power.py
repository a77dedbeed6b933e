"""Power by the noncentral t distribution: against tables, against simulation, and at its ends."""

from __future__ import annotations

import math

import numpy as np
import pytest
from mutation_measures import pairs_needed

from netmend.errors import UsageError
from netmend.mutate.comparison import groups_power, paired_power, t_power
from netmend.mutate.verdicts import scores_verdict


@pytest.mark.parametrize(
    ("effect", "group", "expected"),
    # one-sided at 0.05 for two groups; Cohen (1988), tables 2.3.2
    [(0.5, 20, 0.46), (0.8, 20, 0.80), (1.0, 10, 0.70), (0.5, 50, 0.80), (0.2, 10, 0.11)],
)
def test_as_in_cohens_tables(effect: float, group: int, expected: float) -> None:
    assert groups_power(effect, group, group) == pytest.approx(expected, abs=0.01)


def test_without_effect_power_is_the_level() -> None:
    for alpha in (0.01, 0.05, 0.2):
        assert paired_power(0.0, 5, alpha) == pytest.approx(alpha)
        assert groups_power(0.0, 4, 7, alpha) == pytest.approx(alpha)


def test_ends() -> None:
    assert t_power(1e6, 2) == t_power(math.inf, 2) == 1.0
    assert t_power(-1e6, 2) == 0.0
    assert t_power(math.nan, 2) == 0.0
    assert t_power(36.0, 1) > 0.99  # one degree of freedom: the critical value at 0.05 is 6.3
    assert t_power(36.0, 1, 0.001) < 0.2  # and 318 at 0.001
    assert paired_power(1.0, 1) == groups_power(1.0, 1, 5) == 0.0
    with pytest.raises(UsageError, match="alpha"):
        t_power(1.0, 2, 1.5)


def test_power_grows_with_effect_and_runs() -> None:
    by_effect = [paired_power(effect, 5) for effect in np.linspace(-3, 20, 60)]
    by_pairs = [paired_power(0.7, pairs) for pairs in range(2, 60)]
    assert by_effect == sorted(by_effect)
    assert by_pairs == sorted(by_pairs)


@pytest.mark.parametrize("effect", [0.5, 1.0, 2.0, 4.0])
def test_pairs_needed_are_the_fewest(effect: float) -> None:
    needed = pairs_needed(effect)
    assert needed is not None
    assert paired_power(effect, needed) >= 0.8 > paired_power(effect, needed - 1)


def test_pairs_needed_may_be_too_many() -> None:
    assert pairs_needed(0.001) is None
    assert pairs_needed(-1.0) is None
    with pytest.raises(UsageError, match="power"):
        pairs_needed(1.0, power=1.0)


@pytest.mark.parametrize(("runs", "effect", "together"), [(3, 2.0, True), (5, 1.2, True), (5, 1.5, False)])
def test_verdicts_have_the_power_computed(runs: int, effect: float, together: bool) -> None:
    """Drawn runs with a known effect: as many are found worse as the formula says. Pairs share half of their variance."""
    random = np.random.default_rng(runs)
    found, repetitions = 0, 1_500
    for _ in range(repetitions):
        common = random.normal(0, math.sqrt(0.5), runs) if together else np.zeros(runs)
        own = math.sqrt(0.5) if together else 1.0
        old, new = common + random.normal(0, own, runs), common + random.normal(effect, own, runs)
        verdict = scores_verdict(list(old), list(new), higher_is_better=False, paired=together)
        found += verdict.p_value <= 0.05
    expected = paired_power(effect, runs) if together else groups_power(effect, runs, runs)
    # Welch's degrees of freedom are estimated, and the guard costs a little
    assert found / repetitions == pytest.approx(expected, abs=0.04 if together else 0.06)
