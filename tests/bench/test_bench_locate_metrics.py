"""Figures of rankings, computed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from bench.locate.metrics import Ranked, difference, figures, rank
from bench.locate.published import OVERALL, Row, least_possible_mrr


def test_average_precision_counts_fixed_files_that_are_no_candidates() -> None:
    ranked = rank(np.array([0.9, 0.1, 0.5, 0.7]), ["a", "b", "c", "d"], frozenset({"c", "a", "new"}))
    assert ranked == Ranked((1, 3), 3, 4)
    assert ranked.values == pytest.approx((1.0, 1.0, 1.0, 1.0, (1 / 1 + 2 / 3) / 3))


def test_ties_are_ordered_by_path_and_what_is_no_number_comes_last() -> None:
    scores = np.array([0.5, 0.5, np.nan])
    assert rank(scores, ["z", "b", "a"], frozenset({"z"})).ranks == (2,)
    assert rank(scores, ["z", "b", "a"], frozenset({"a"})).ranks == (3,)


def test_nothing_found_gives_zeros() -> None:
    assert rank(np.array([1.0]), ["a"], frozenset({"b"})).values == (0.0, 0.0, 0.0, 0.0, 0.0)


def test_scores_must_fit_the_files() -> None:
    with pytest.raises(ValueError, match="2 scores for 1 files"):
        rank(np.zeros(2), ["a"], frozenset())


def test_means_over_reports_and_over_projects_differ() -> None:
    found = {"p#1": Ranked((1,), 1, 10), "p#2": Ranked((1,), 1, 10), "q#1": Ranked((4,), 1, 40)}
    made = figures(found, {"p#1": "p", "p#2": "p", "q#1": "q"})
    assert made.mean["rr"] == pytest.approx((1 + 1 + 0.25) / 3)
    assert made.macro["rr"] == pytest.approx((1 + 0.25) / 2)
    assert made.mean["top1"] == pytest.approx(2 / 3)
    assert made.mean["top5"] == 1.0
    assert made.candidates == 20.0
    assert made.low["rr"] < made.mean["rr"] < made.high["rr"]


def test_difference_is_taken_report_by_report() -> None:
    ours = {"a": Ranked((1,), 1, 9), "b": Ranked((2,), 1, 9), "c": Ranked((1,), 1, 9)}
    theirs = {"a": Ranked((2,), 1, 9), "b": Ranked((4,), 1, 9)}
    mean, low, high = difference(ours, theirs)
    assert mean == pytest.approx((0.5 + 0.25) / 2)
    assert low <= mean <= high


def test_published_rows_contradict_themselves_but_one() -> None:
    impossible = [row.method for row in OVERALL if row.values[3] < least_possible_mrr(row) - 1e-9]
    assert impossible == ["BugLocator", "BLIA", "DNNLOC", "bjXnet"]
    assert least_possible_mrr(Row("x", (0.5, 0.7, 0.8, 0.0, 0.0))) == pytest.approx(0.55)
