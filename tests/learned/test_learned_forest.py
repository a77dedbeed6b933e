"""The trees: shares by hand, against scikit-learn, and contributions that add up."""

from __future__ import annotations

import math

import numpy as np
import pytest
from ranking.forest import LEAF, Forest

NAN = float("nan")


def forest() -> Forest:
    """For A: a ≤ 1 → 3; else b ≤ 0 → 1, else -1 (ten runs of twelve). For B: b ≤ 5 → -2, else 2."""
    return Forest(
        features=("a", "b"),
        classes=("A", "B"),
        base=np.array([0.5, -0.5]),
        starts=np.array([0, 5, 8]),
        speaks_of=np.array([0, 1]),
        feature=np.array([0, LEAF, 1, LEAF, LEAF, 1, LEAF, LEAF], dtype=np.int16),
        threshold=np.array([1.0, 0, 0, 0, 0, 5, 0, 0]),
        right=np.array([2, 0, 4, 0, 0, 7, 0, 0]),
        missing_left=np.array([False, False, True, False, False, True, False, False]),
        value=np.array([0.4, 3, -0.6, 1, -1, 0, -2, 2]),
    )


@pytest.mark.parametrize(
    ("row", "scores"),
    [
        ([1.0, 9.0], [3.5, 1.5]),  # a value at the threshold goes left
        ([1.5, 0.0], [1.5, -2.5]),
        ([2.0, 3.0], [-0.5, -2.5]),
        ([NAN, NAN], [1.5, -2.5]),  # missing: right at the first node, left at the others
    ],
)
def test_scores_and_shares_by_hand(row: list[float], scores: list[float]) -> None:
    assert forest().scores(np.array(row)) == pytest.approx(scores)
    grown = [math.exp(score) for score in scores]
    assert forest().shares(np.array(row)) == pytest.approx([each / sum(grown) for each in grown])


@pytest.mark.parametrize("row", [[1.0, 9.0], [1.5, 0.0], [2.0, 3.0], [NAN, NAN]])
@pytest.mark.parametrize(("name", "usual"), [("A", 0.5 + 0.4), ("B", -0.5 + 0.0)])
def test_contributions_add_up_to_what_the_run_has_beyond_the_usual(
    row: list[float], name: str, usual: float
) -> None:
    made = forest()
    score = made.scores(np.array(row))[made.classes.index(name)]
    assert sum(made.contributions(np.array(row), name).values()) == pytest.approx(score - usual)


def test_a_contribution_belongs_to_the_feature_that_was_asked_for() -> None:
    moved = forest().contributions(np.array([2.0, 3.0]), "A")
    assert moved == pytest.approx({"a": -0.6 - 0.4, "b": -1 + 0.6})


def test_the_same_as_scikit_learn() -> None:
    ensemble = pytest.importorskip("sklearn.ensemble")
    from fitting import exported

    random = np.random.default_rng(0)
    table = random.normal(size=(300, 6)) * 10.0 ** random.integers(-6, 6, size=6)
    table[random.random(table.shape) < 0.2] = np.nan
    classes = np.where(np.nan_to_num(table[:, 0]) > 0, "A", np.where(table[:, 1] > 0, "B", "C"))
    made = ensemble.HistGradientBoostingClassifier(max_iter=10, max_leaf_nodes=8, random_state=0)
    made.fit(table, classes, sample_weight=random.random(300))
    ours = exported(made, [str(index) for index in range(6)])
    assert np.array([ours.shares(row) for row in table]) == pytest.approx(made.predict_proba(table), abs=1e-6)
    for index, name in enumerate(ours.classes):  # averages of nodes are those of their leaves
        roots = ours.starts[:-1][ours.speaks_of == index]
        usual = ours.base[index] + ours.value[roots].sum()
        moved = ours.contributions(table[0], name)
        assert sum(moved.values()) == pytest.approx(ours.scores(table[0])[index] - usual, abs=1e-6)
