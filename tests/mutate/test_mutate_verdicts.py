"""Verdicts on scores: direction, effect, runs without spread, values that are not numbers, bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netmend.errors import UsageError
from netmend.mutate import verdicts
from netmend.mutate.verdicts import MOST_EFFECT, Verdict, crash_verdict, scores_verdict

GOOD = [0.95, 0.96, 0.94, 0.955, 0.945]
BAD = [0.80, 0.78, 0.83, 0.79, 0.81]


def accuracies(original: list[float], mutant: list[float], **options: object) -> Verdict:
    return scores_verdict(original, mutant, higher_is_better=True, **options)  # type: ignore[arg-type]


def test_a_clearly_worse_mutant_is_killed() -> None:
    verdict = accuracies(GOOD, BAD)
    assert verdict.killed and not verdict.better and verdict.stable
    assert (verdict.reason, verdict.runs) == (verdicts.WORSE, 5)
    assert verdict.p_value < 0.01
    assert verdict.effect_size > 5


def test_three_pairs_are_enough_for_a_clear_one() -> None:
    assert accuracies(GOOD[:3], BAD[:3]).killed


@pytest.mark.parametrize(
    ("mutant", "killed", "clear"),
    [
        (BAD, True, True),
        ([0.935, 0.93, 0.94, 0.925, 0.94], True, False),  # just significant: power 0.68
        ([0.95, 0.90, 0.96, 0.92, 0.94], False, False),  # p 0.1, an effect of 1: more runs might kill it
        (GOOD[::-1], False, True),
        ([0.97, 0.97, 0.96, 0.98, 0.97], False, True),
    ],
)
def test_what_other_seeds_might_judge_otherwise_is_not_clear(
    mutant: list[float], killed: bool, clear: bool
) -> None:
    verdict = accuracies(GOOD, mutant)
    assert (verdict.killed, verdict.is_clear) == (killed, clear)


def test_one_error_that_diverges_does_not_hide_the_others() -> None:
    original = [0.02, 0.03, 0.025, 0.02, 0.03]
    for diverging in ([5.0, 0.4, 3e30, 2e4, 0.9], [0.4, 0.5, math.inf, 0.6, math.nan]):
        assert scores_verdict(original, diverging, higher_is_better=False).killed
    some = scores_verdict(original, [0.0, 0.03, 3e30, 0.02, 0.03], higher_is_better=False)
    assert not some.killed  # one training in five went wrong
    same = [_scaled(unit) for unit in (1.0, 1e-9, 1e9)]
    assert same[0] == pytest.approx(same[1]) == pytest.approx(same[2])


def test_equal_errors_are_killed_at_most_at_the_level() -> None:
    draw = np.random.default_rng(0)
    for runs in (3, 5):
        killed = 0
        for _ in range(1500):
            old, new = np.exp(2 * draw.normal(size=(2, runs)))
            killed += scores_verdict(list(old), list(new), higher_is_better=False).killed
        assert killed / 1500 <= 0.05 + 2 * (0.05 * 0.95 / 1500) ** 0.5


def _scaled(unit: float) -> float:
    old, new = [unit * x for x in (2.0, 3.0, 2.5)], [unit * x for x in (3.1, 3.9, 3.4)]
    return scores_verdict(old, new, higher_is_better=False).p_value


def test_direction_is_part_of_the_verdict() -> None:
    swapped = accuracies(BAD, GOOD)
    assert not swapped.killed and swapped.better
    assert swapped.reason == verdicts.BETTER
    assert swapped.effect_size == pytest.approx(-accuracies(GOOD, BAD).effect_size)
    as_errors = scores_verdict(BAD, GOOD, higher_is_better=False)
    assert as_errors.killed


def test_a_small_effect_is_no_kill_however_sure() -> None:
    original = [0.1 * i for i in range(10)]
    mutant = [score - 0.01 - 0.0001 * (i % 3) for i, score in enumerate(original)]
    verdict = accuracies(original, mutant)
    assert verdict.p_value < 0.01 and verdict.effect_size < 0.1
    assert not verdict.killed
    assert verdict.reason == verdicts.SMALL
    assert accuracies(original, mutant, least_effect=0.01).killed


def test_pairs_find_what_groups_do_not() -> None:
    original = [0.1, 0.3, 0.5, 0.7, 0.9]
    mutant = [0.05, 0.26, 0.44, 0.65, 0.84]
    assert accuracies(original, mutant).p_value < 0.001
    assert accuracies(original, mutant, paired=False).p_value > 0.2


def test_no_spread() -> None:
    apart = accuracies([0.9] * 3, [0.8] * 3)
    assert apart.killed and apart.effect_size == MOST_EFFECT
    assert apart.p_value == 1 / 64
    assert accuracies([0.8] * 3, [0.9] * 3).effect_size == -MOST_EFFECT
    two = accuracies([0.9] * 2, [0.8] * 2)
    assert not two.killed  # of two pairs that look so, one in 16 may do by chance


@pytest.mark.parametrize("paired", [True, False])
def test_a_constant_measure_says_so(paired: bool) -> None:
    verdict = accuracies([1.0] * 5, [1.0] * 5, paired=paired)
    assert not verdict.killed
    assert (verdict.reason, verdict.p_value, verdict.effect_size) == (verdicts.CONSTANT, 1.0, 0.0)


def test_equal_scores_that_vary_are_no_difference() -> None:
    verdict = accuracies(GOOD, GOOD)
    assert (verdict.killed, verdict.reason, verdict.effect_size) == (False, verdicts.NO_DIFFERENCE, 0.0)


@pytest.mark.parametrize("broken", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("higher", [True, False])
def test_mutants_without_a_score_are_killed(broken: float, higher: bool) -> None:
    verdict = scores_verdict(GOOD, [broken] * 5, higher_is_better=higher)
    assert verdict.killed and verdict.reason == verdicts.NOT_A_NUMBER
    constant = scores_verdict([0.5] * 3, [broken] * 3, higher_is_better=higher)
    assert constant.killed


def test_one_training_without_a_score_is_no_kill() -> None:
    verdict = accuracies(GOOD, [*GOOD[:4], math.nan])
    assert not verdict.killed and verdict.reason == verdicts.NO_DIFFERENCE
    assert verdict.effect_size > 0
    mostly = accuracies(GOOD, [GOOD[0], *[math.nan] * 4])
    assert mostly.killed and mostly.reason == verdicts.WORSE


def test_originals_may_fail_too_but_not_all() -> None:
    verdict = accuracies([math.nan, *GOOD[1:]], [math.nan, *GOOD[1:]])
    assert not verdict.killed
    with pytest.raises(UsageError, match="None of the 3 scores of the original"):
        accuracies([math.nan] * 3, [0.5] * 3)


def test_too_few_runs() -> None:
    for runs in (0, 1):
        verdict = accuracies(GOOD[:runs], BAD[:runs])
        assert (verdict.killed, verdict.reason, verdict.runs) == (False, verdicts.TOO_FEW, runs)
    assert accuracies(GOOD, BAD[:1], paired=False).reason == verdicts.TOO_FEW


def test_bad_input() -> None:
    with pytest.raises(UsageError, match="5 of the original and 3 of the mutant"):
        accuracies(GOOD, BAD[:3])
    with pytest.raises(UsageError, match="alpha"):
        accuracies(GOOD, BAD, alpha=0.0)


def test_groups_may_differ_in_size() -> None:
    verdict = accuracies(GOOD, BAD[:3], paired=False)
    assert verdict.killed and verdict.runs == 3


def test_a_crash_is_a_kill_of_its_own() -> None:
    verdict = crash_verdict(4)
    assert verdict.killed and verdict.reason == verdicts.CRASH and verdict.runs == 4


SCORES = st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.3, 1.0, math.nan, math.inf]), min_size=2, max_size=9)


@given(SCORES, st.data(), st.booleans(), st.booleans())
@settings(max_examples=150, deadline=None)
def test_always_defined(original: list[float], data: st.DataObject, paired: bool, higher: bool) -> None:
    size = len(original)
    mutant = data.draw(
        st.lists(st.sampled_from([0.0, 0.1, 0.2, 1.0, math.nan]), min_size=size, max_size=size)
    )
    original[0] = 0.5  # at least one number
    verdict = scores_verdict(original, mutant, higher_is_better=higher, paired=paired)
    assert 0 < verdict.p_value <= 1
    assert 0 <= verdict.power <= 1
    assert abs(verdict.effect_size) <= MOST_EFFECT
    assert not (verdict.killed and verdict.better)
    assert verdict.killed == (verdict.p_value <= 0.05 and verdict.effect_size >= 0.5)
