"""What is seen of joins: keys apart by spelling, and copies of one row in both parts."""

from __future__ import annotations

import numpy as np
import pytest

from netmend.adapters.preparation.copies import met_again
from netmend.adapters.preparation.keys import by_spelling, partners


@pytest.mark.parametrize(
    ("left", "right", "spelling"),
    [
        (["0042", "0147", "1003"], ["42", "147", "1003"], "zeros"),
        (["Berlin ", " Rome", "Oslo"], ["Berlin", "Rome", "Oslo"], "spaces"),
        (["AB1", "Cd2", "ef3"], ["ab1", "cd2", "ef3"], "case"),
        (["7.0", "8.0", "12.0"], ["7", "8", "12"], "decimals"),
        (["DE-12", "DE-13", "FR-1"], ["de12", "DE 13", "fr1"], "signs"),
        ([7, 8, 12], ["7", "8", "12"], "type"),
    ],
)
def test_the_smallest_change_that_brings_keys_together(
    left: list[object], right: list[object], spelling: str
) -> None:
    seen = partners(left, right)
    assert seen["spelling"] == spelling
    assert seen["alone_by_spelling"] == seen["alone"] > 0


def test_keys_that_differ_in_truth_are_left_alone() -> None:
    assert by_spelling(["x1", "x2"], {"y1", "y2"}) == {}
    # where "a" and "A" are two keys, capitals mean something
    assert by_spelling(["A ", "c"], {"a", "A", "b", "B"}).get("spelling") == "spaces"
    assert "spelling" not in by_spelling(["AA", "BB"], {"aa", "Aa", "aA", "bb", "Bb"})


def test_missing_keys_are_not_spelled_otherwise() -> None:
    assert by_spelling(["", None, float("nan")], {"nan", "none"}) == {}


def _table(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, 6)).astype(np.float32), rng.integers(0, 2, rows).astype(np.float32)[:, None]


def test_rows_that_a_join_has_multiplied_are_met_again() -> None:
    x, y = _table(500, 0)
    copies = np.repeat(np.arange(500), 4)
    x, y = x[copies].copy(), y[copies]
    x[:, 5] = np.random.default_rng(1).normal(size=2000)  # what came from the other table
    order = np.random.default_rng(2).permutation(2000)
    train, test = order[500:], order[:500]
    share = met_again(x[train], y[train], x[test], y[test])
    assert share is not None and share > 0.9
    assert met_again(x[train], None, x[test], None) is not None


def test_different_rows_are_not_met_again() -> None:
    x, y = _table(2000, 3)
    assert met_again(x[:1500], y[:1500], x[1500:], y[1500:]) == 0.0


def test_columns_of_few_values_single_nobody_out() -> None:
    x = np.random.default_rng(4).integers(0, 4, (2000, 5)).astype(np.float32)
    assert met_again(x[:1500], None, x[1500:], None) is None


def test_keys_and_copies_of_a_join_of_polars() -> None:
    polars = pytest.importorskip("polars")
    from netmend.adapters.preparation.polars_joins import _joined

    orders = polars.DataFrame({"shop": ["0042", "0147", "1003", "1004"], "y": [1, 2, 3, 4]})
    shops = polars.DataFrame({"shop": ["42", "147", "1003", "1003"], "size": [5, 6, 7, 8]})
    table = orders.join(shops, on="shop", how="left")
    seen = _joined(None, (orders, shops), {"on": "shop", "how": "left"}, table)
    assert seen is not None
    assert (seen["rows"], seen["rows_after"], seen["spelling"]) == (4, 5, "zeros")
    assert seen["alone_by_spelling"] == 0.5 and seen["repeated_right"] == 0.25
    # keys that are expressions are not evaluated again
    assert "alone" not in (
        _joined(None, (orders, shops), {"on": polars.col("shop"), "how": "left"}, table) or {}
    )
