"""Inputs of a model are followed back to columns by their numbers."""

from __future__ import annotations

import numpy as np
import pytest

from netmend.adapters.preparation.columns import Columns, same_numbers

pandas = pytest.importorskip("pandas")


def amounts(seed: int, count: int = 500) -> np.ndarray:
    return np.unique(np.random.default_rng(seed).lognormal(3, 1, count))


def test_numbers_that_were_shifted_and_scaled_are_the_same() -> None:
    all_of_them = amounts(0)
    part = np.random.default_rng(1).permutation(all_of_them)[:350]
    standardised = np.unique(((part - part.mean()) / part.std()).astype(np.float32)).astype(float)
    assert same_numbers(standardised, all_of_them)
    assert same_numbers(np.sort(part), all_of_them)


def test_other_numbers_of_the_same_kind_are_not() -> None:
    assert not same_numbers(amounts(2), amounts(0))
    assert not same_numbers(np.log(amounts(0)), amounts(0))


def test_many_numbers_are_not_those_of_a_column_of_few() -> None:
    assert not same_numbers(amounts(0, 300), np.arange(10.0))
    assert same_numbers(np.arange(10.0) / 3 - 1, np.arange(10.0))


def test_each_input_is_told_with_the_first_line_that_had_it() -> None:
    table = pandas.DataFrame({"price": amounts(0)[:400], "size": amounts(3)[:400], "kind": 1})
    columns = Columns()
    columns.keep("read", table)
    table["ratio"] = table["price"] / table["size"]
    columns.keep("assign", table)
    inputs = ((table - table.mean()) / table.std())[["ratio", "price"]].to_numpy(np.float32)
    assert columns.of_inputs(inputs) == {0: ("assign", "ratio"), 1: ("read", "price")}


def test_what_two_columns_could_be_is_not_told() -> None:
    table = pandas.DataFrame({"price": amounts(0)[:400], "again": amounts(0)[:400]})
    columns = Columns()
    columns.keep("read", table)
    assert columns.of_inputs(table[["price"]].to_numpy(np.float32)) == {}
