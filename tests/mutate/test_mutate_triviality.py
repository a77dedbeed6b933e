"""Triviality, redundancy, and the class-wise score of mutated models, on results written out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from mutation_measures import Redundancy, class_score, killed_classes, redundancies, triviality_among_all

from netmend.errors import UsageError
from netmend.mutate.scoring import triviality, triviality_of_errors

ORIGINAL = np.array([[1, 1, 1, 1, 0], [1, 1, 0, 0, 0]], dtype=bool)
MUTANT = np.array([[0, 0, 0, 1, 1], [0, 1, 1, 0, 0]], dtype=bool)


def test_of_the_inputs_that_the_original_handles() -> None:
    assert triviality(ORIGINAL, MUTANT) == pytest.approx((3 / 4 + 1 / 2) / 2)  # each pair weighs the same
    assert triviality_among_all(ORIGINAL, MUTANT) == pytest.approx((3 / 5 + 1 / 5) / 2)


def test_a_mutant_that_is_always_wrong() -> None:
    wrong = np.zeros_like(ORIGINAL)
    assert triviality(ORIGINAL, wrong) == 1.0
    assert triviality_among_all(ORIGINAL, wrong) == pytest.approx(ORIGINAL.mean())
    assert triviality(ORIGINAL, ORIGINAL) == 0.0


def test_runs_may_have_inputs_of_their_own() -> None:
    assert triviality([[True, True], [True] * 4], [[False, True], [False] * 4]) == pytest.approx(0.75)


def test_an_original_that_handles_nothing() -> None:
    nothing = np.zeros((2, 3), dtype=bool)
    assert triviality(nothing, nothing) == 0.0
    assert triviality([ORIGINAL[0], nothing[0]], [MUTANT[0], nothing[0]]) == pytest.approx(3 / 4)
    assert triviality(np.zeros((2, 0)), np.zeros((2, 0))) == 0.0
    assert triviality_among_all(np.zeros((2, 0)), np.zeros((2, 0))) == 0.0


def test_bad_input() -> None:
    with pytest.raises(UsageError, match="2 of the original and 1 of the mutant"):
        triviality(ORIGINAL, MUTANT[:1])
    with pytest.raises(UsageError, match="same inputs"):
        triviality(ORIGINAL, MUTANT[:, :3])


def test_errors_are_measured_by_the_originals_own() -> None:
    own = [[0.1 * i for i in range(1, 21)]]
    assert triviality_of_errors(own, own) == 0.0
    assert triviality_of_errors(own, [[100.0] * 20]) == 1.0
    assert triviality_of_errors(own, [[math.nan] * 20]) == 1.0
    assert triviality_of_errors([[math.nan] * 20], own) == 0.0
    assert triviality_of_errors(own, [[0.0] * 10 + [9.0] * 10]) == pytest.approx(9 / 19)


def right(*wrong: int, runs: int = 12, inputs: int = 6) -> np.ndarray:
    results = np.ones((runs, inputs), dtype=bool)
    results[:, list(wrong)] = False
    return results


def test_whatever_kills_one_kills_the_other() -> None:
    found = redundancies(right(), {"narrow": right(1), "wide": right(1, 2, 3), "other": right(4)})
    assert found == [Redundancy("wide", given="narrow")]


def test_of_two_alike_one_is_kept() -> None:
    assert redundancies(right(), {"first": right(1), "second": right(1)}) == [Redundancy("second", "first")]


def test_a_mutant_never_killed_makes_none_redundant() -> None:
    assert redundancies(right(), {"never": right(), "one": right(1)}) == []


def test_inputs_that_the_original_fails_kill_nothing() -> None:
    assert redundancies(right(1), {"first": right(1), "second": right(1, 2)}) == []


def test_redundancy_needs_runs() -> None:
    with pytest.raises(UsageError, match="at least 10 runs, got 3"):
        redundancies(right(runs=3), {"first": right(1, runs=3)})


LABELS = np.array([0, 0, 1, 1, 2])


def test_classes_are_killed_by_inputs_that_only_the_original_handles() -> None:
    assert killed_classes([1, 1, 1, 0, 1], [1, 0, 1, 0, 0], LABELS) == {0, 2}
    assert killed_classes([0, 0, 0, 0, 0], [0, 0, 0, 0, 0], LABELS) == frozenset()


def test_the_class_score() -> None:
    original = np.ones(5, dtype=bool)
    mutants = [[1, 0, 1, 1, 0], [1, 1, 1, 1, 1], [0, 0, 0, 0, 0]]  # the last one is trivial
    assert class_score(original, mutants, LABELS, classes=4) == pytest.approx(2 / (2 * 4))
    assert class_score(original, mutants[2:], LABELS, classes=4) is None


def test_class_score_bad_input() -> None:
    with pytest.raises(UsageError, match="at least one class"):
        class_score([True], [[True]], [0], classes=0)
    with pytest.raises(UsageError, match="same inputs"):
        killed_classes([1, 1], [1, 1], LABELS)
