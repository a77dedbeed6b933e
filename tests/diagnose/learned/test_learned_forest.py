"""The forest: class shares by hand, against scikit-learn, and contributions that add up."""

from __future__ import annotations

import numpy as np
import pytest

from netmend.diagnose.learned.forest import LEAF, Forest

NAN = float("nan")


def forest() -> Forest:
    """Tree 1: a ≤ 1 → 3 of A; else b ≤ 0 → 1 of A and 1 of B, else 2 of B. Tree 2: b ≤ 5 → 2 of A, else 4 of B."""
    return Forest(
        features=("a", "b"),
        classes=("A", "B"),
        starts=np.array([0, 5, 8]),
        feature=np.array([0, LEAF, 1, LEAF, LEAF, 1, LEAF, LEAF], dtype=np.int16),
        threshold=np.array([1, 0, 0, 0, 0, 5, 0, 0], dtype=np.float32),
        right=np.array([2, 0, 4, 0, 0, 7, 0, 0]),
        missing_left=np.array([False, False, True, False, False, True, False, False]),
        offsets=np.array([0, 1, 3, 4, 5, 6]),
        members=np.array([0, 0, 1, 1, 0, 1]),
        weights=np.array([3.0, 1.0, 1.0, 2.0, 2.0, 4.0]),
    )


@pytest.mark.parametrize(
    ("row", "share_of_a"),
    [
        ([1.0, 9.0], (1.0 + 0.0) / 2),  # a value at the threshold goes left
        ([1.5, 0.0], (0.5 + 1.0) / 2),
        ([2.0, 3.0], (0.0 + 1.0) / 2),
        ([NAN, NAN], (0.5 + 1.0) / 2),  # missing: right at the first node, left at the others
    ],
)
def test_shares_by_hand(row: list[float], share_of_a: float) -> None:
    shares = forest().shares(np.array(row))
    assert shares == pytest.approx([share_of_a, 1 - share_of_a])


@pytest.mark.parametrize("row", [[1.0, 9.0], [1.5, 0.0], [2.0, 3.0], [NAN, NAN]])
@pytest.mark.parametrize("name", ["A", "B"])
def test_contributions_add_up_to_what_the_run_has_beyond_all_runs(row: list[float], name: str) -> None:
    made = forest()
    among_all = {"A": (4 / 7 + 2 / 6) / 2, "B": (3 / 7 + 4 / 6) / 2}[name]
    share = made.shares(np.array(row))[made.classes.index(name)]
    assert sum(made.contributions(np.array(row), name).values()) == pytest.approx(share - among_all)


def test_a_contribution_belongs_to_the_feature_that_was_asked_for() -> None:
    moved = forest().contributions(np.array([2.0, 3.0]), "B")
    first = 3 / 4 - 3 / 7  # a > 1: among those, 3 of 4 are of B
    second = (1 - 3 / 4) + (0 - 4 / 6)
    assert moved == pytest.approx({"a": first / 2, "b": second / 2})


def test_the_same_as_scikit_learn() -> None:
    ensemble = pytest.importorskip("sklearn.ensemble")
    import sys
    from pathlib import Path

    sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks" / "learned"))
    try:
        from fitting import exported
    finally:
        sys.path.pop(0)
    random = np.random.default_rng(0)
    table = random.normal(size=(300, 6)) * 10.0 ** random.integers(-6, 6, size=6)
    table[random.random(table.shape) < 0.2] = np.nan
    classes = np.where(np.nan_to_num(table[:, 0]) > 0, "A", np.where(table[:, 1] > 0, "B", "C"))
    made = ensemble.ExtraTreesClassifier(15, random_state=0).fit(
        table, classes, sample_weight=random.random(300)
    )
    ours = exported(made, [str(index) for index in range(6)])
    theirs = made.predict_proba(table)
    assert np.array([ours.shares(row) for row in table]) == pytest.approx(theirs, abs=1e-6)
