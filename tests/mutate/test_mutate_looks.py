"""Looks at growing data: boundaries against tables, the level over all looks, early stops."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from netmend.errors import UsageError
from netmend.mutate.interim_analyses import KILLED, MORE, SURVIVED, Looks, boundaries, spent
from netmend.mutate.verdicts import NO_DIFFERENCE


def test_boundaries_as_in_the_tables() -> None:
    """Five equal looks at a one-sided 0.025: Jennison and Turnbull's z-values for this spending function."""
    limits = norm.isf(boundaries((0.2, 0.4, 0.6, 0.8, 1.0), 0.025))
    assert limits == pytest.approx([2.438, 2.427, 2.410, 2.397, 2.386], abs=0.001)


def test_one_look_is_the_plain_test() -> None:
    assert boundaries((1.0,), 0.05) == pytest.approx((0.05,))
    assert Looks((7,)).alpha_at(7) == pytest.approx(0.05)


def test_all_of_alpha_is_spent_in_the_end() -> None:
    assert spent(1.0, 0.05) == pytest.approx(0.05)
    assert spent(0.0, 0.05) == 0.0


@pytest.mark.parametrize("shares", [(0.3, 0.5, 0.8, 1.0), (0.1, 0.9, 1.0)])
def test_normal_sums_cross_as_often_as_promised(shares: tuple[float, ...]) -> None:
    random = np.random.default_rng(1)
    steps = np.diff([0.0, *shares])
    sums = (random.normal(size=(100_000, len(shares))) * np.sqrt(steps)).cumsum(axis=1)
    crossed = sums / np.sqrt(shares) >= norm.isf(boundaries(shares, 0.05))
    for look, share in enumerate(shares):
        expected = spent(share, 0.05)
        error = 3 * np.sqrt(expected / 100_000)
        assert crossed[:, : look + 1].any(axis=1).mean() == pytest.approx(expected, abs=error)


def play(looks: Looks, original: np.ndarray, mutant: np.ndarray) -> tuple[str, int]:
    for pairs in looks.pairs:
        decided = looks.decide(list(original[:pairs]), list(mutant[:pairs]), higher_is_better=True)
        if decided != MORE:
            return decided, pairs
    raise AssertionError("the last look must decide")


def test_level_over_all_looks_and_saving() -> None:
    """Original and mutant alike, coarse and fine scores: at most 5 % killed within three standard errors, at about half the runs."""
    random = np.random.default_rng(2)
    looks, repetitions = Looks(), 700
    for draw in (
        lambda: random.normal(size=10),
        lambda: random.binomial(20, 0.8, 10) / 20,
        lambda: np.where(random.random(10) < 0.5, 0.1, 0.95) + 0.01 * random.normal(size=10),
    ):
        outcomes = [play(looks, draw(), draw()) for _ in range(repetitions)]
        killed = sum(outcome == KILLED for outcome, _ in outcomes)
        assert killed <= 0.05 * repetitions + 3 * np.sqrt(repetitions * 0.05 * 0.95)
        assert np.mean([runs for _, runs in outcomes]) < 6


def test_a_plain_kill_needs_three_pairs() -> None:
    original, mutant = np.array([0.95, 0.96, 0.94] * 4), np.array([0.5, 0.52, 0.47] * 4)
    assert play(Looks(), original, mutant) == (KILLED, 3)


def test_the_same_scores_are_given_up_at_once() -> None:
    original = np.array([0.95, 0.96, 0.94] * 4)
    assert play(Looks(), original, original) == (SURVIVED, 3)
    assert play(Looks(futility=0.0), original, original) == (SURVIVED, 10)
    constant = np.ones(12)
    assert play(Looks(futility=0.0), constant, constant) == (SURVIVED, 3)


def test_between_more_runs_are_asked_for() -> None:
    looks = Looks()
    original, mutant = [0.95, 0.96, 0.94], [0.94, 0.93, 0.935]
    assert looks.decide(original, mutant, higher_is_better=True) == MORE
    verdict = looks.verdict(original, mutant, higher_is_better=True)
    assert looks.alpha_at(3) < verdict.p_value <= 0.1
    assert not verdict.killed and verdict.reason == NO_DIFFERENCE


def test_an_unstable_kill_waits_for_more_runs() -> None:
    original, mutant = [0.95, 0.96, 0.94, 0.95, 0.955], [0.91, 0.95, 0.93, 0.925, 0.94]
    strict, plain = Looks(), Looks(least_power=0.0)
    verdict = strict.verdict(original, mutant, higher_is_better=True)
    assert verdict.killed and verdict.power > 0.5
    assert plain.decision(verdict) == KILLED
    assert (strict.decision(verdict) == KILLED) == verdict.stable
    weak = Looks(least_power=0.999)
    assert weak.decision(verdict) == MORE
    assert Looks((3, 5), least_power=0.999).decide(original, mutant, higher_is_better=True) == KILLED


def test_a_better_mutant_survives_early() -> None:
    original, mutant = np.array([0.5, 0.52, 0.47] * 4), np.array([0.95, 0.96, 0.94] * 4)
    assert play(Looks(), original, mutant) == (SURVIVED, 3)


def test_predicted_chance_of_a_kill() -> None:
    looks = Looks()
    chances = []
    for drop in (-0.02, 0.0, 0.01, 0.02, 0.05):
        mutant = [0.95 - drop, 0.965 - drop, 0.935 - drop]
        verdict = looks.verdict([0.95, 0.96, 0.94], mutant, higher_is_better=True)
        chances.append(looks.predicted(verdict))
    assert chances == sorted(chances)
    assert chances[0] < 0.05 and chances[-1] > 0.8


def test_bad_input() -> None:
    for pairs in ((), (1, 3), (5, 3), (3, 3)):
        with pytest.raises(UsageError, match="rising numbers of pairs"):
            Looks(pairs)
    with pytest.raises(UsageError, match="futility"):
        Looks(futility=0.7)
    with pytest.raises(UsageError, match="no look at 4 pairs; looks are at 3, 5, 8, 10"):
        Looks().alpha_at(4)


def test_a_look_too_early_to_kill_spends_nothing() -> None:
    """Three pairs cannot give less than 1/64; of at most 20 pairs a first look would have to ask for 0.0115."""
    looks = Looks((3, 5, 10, 20))
    assert looks.alpha_at(3) == 0.0
    assert [looks.alpha_at(n) for n in (5, 10, 20)] == [Looks((5, 10, 20)).alpha_at(n) for n in (5, 10, 20)]
    apart = np.array([0.95, 0.96, 0.94] * 7), np.array([0.5, 0.52, 0.47] * 7)
    assert play(looks, *apart) == (KILLED, 5)
    assert play(looks, apart[0], apart[0]) == (SURVIVED, 3)
    assert Looks((2,)).alpha_at(2) == pytest.approx(0.05)
