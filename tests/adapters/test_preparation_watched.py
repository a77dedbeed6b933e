"""What the recorder of preparation sees of a program's own calls, and that it changes nothing."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from netmend.adapters.preparation.watch import Preparation
from netmend.observe.sites import Sites
from netmend.vocabulary import PreparationFact

pandas = pytest.importorskip("pandas")


@pytest.fixture
def preparation() -> Iterator[Preparation]:
    watched = Preparation(Sites())
    watched.install()
    yield watched
    watched.remove()


def only(preparation: Preparation, call: str) -> PreparationFact:
    return next(fact for fact in preparation.facts.values() if fact.call.endswith(call))


def test_a_join_tells_its_partners(preparation: Preparation) -> None:
    orders = pandas.DataFrame({"shop": ["0042", "0043", "1001"], "sum": [1, 2, 3]})
    shops = pandas.DataFrame({"shop": ["42", "43", "1001"], "size": [10, 20, 30]})
    orders.merge(shops, on="shop", how="left")
    seen = only(preparation, "merge").seen
    assert (seen["rows"], seen["rows_after"]) == (3, 3)
    assert seen["alone"] == pytest.approx(2 / 3)
    assert seen["alone_by_spelling"] == pytest.approx(2 / 3)


def test_a_line_knows_what_its_data_come_from(preparation: Preparation, tmp_path: Any) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,2\n,4\n")
    table = pandas.read_csv(tmp_path / "a.csv")
    table.dropna()
    read, dropped = only(preparation, "read_csv"), only(preparation, "dropna")
    assert dropped.takes == (read.name,)
    assert (dropped.seen["rows"], dropped.seen["rows_after"]) == (2, 1)
    assert read.site is not None and read.site.file == __file__


def test_a_column_aligned_by_other_labels(preparation: Preparation) -> None:
    table = pandas.DataFrame({"x": [1, 2, 3]}, index=[3, 4, 5])
    table["y"] = pandas.Series([1.0, 2.0, 3.0], index=[0, 1, 3])
    assert only(preparation, "[]=").seen["made_missing"] == pytest.approx(2 / 3)


def test_parts_put_side_by_side_by_other_labels(preparation: Preparation) -> None:
    one, other = pandas.Series([1, 2], index=[0, 1], name="a"), pandas.Series([1, 2], index=[1, 2], name="b")
    pandas.concat([one, other], axis=1)
    assert list(only(preparation, "concat").seen["orders"]) == ["new"]


def test_warnings_and_errors_are_the_programs_own(preparation: Preparation) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pandas.to_datetime(pandas.Series(["31.12.2020"]), dayfirst=False)
    assert [warning.filename for warning in caught] == [__file__]
    with pytest.raises(KeyError):
        pandas.DataFrame({"x": [1]}).merge(pandas.DataFrame({"y": [1]}), on="z")


def test_chained_assignment_is_still_warned_of(preparation: Preparation) -> None:
    if not hasattr(pandas.errors, "ChainedAssignmentError"):
        pytest.skip("this pandas does not warn")
    table = pandas.DataFrame({"x": [1, 2, 3]})
    with warnings.catch_warnings(record=True) as watched:
        warnings.simplefilter("always")
        table[table["x"] > 1]["x"] = 0
    preparation.remove()
    with warnings.catch_warnings(record=True) as bare:
        warnings.simplefilter("always")
        table[table["x"] > 1]["x"] = 0
    assert [warning.category for warning in watched] == [warning.category for warning in bare]


def test_functions_can_be_pickled_and_come_back_as_they_were(preparation: Preparation) -> None:
    watched = pandas.DataFrame.merge
    assert pickle.loads(pickle.dumps(watched)) is watched
    preparation.remove()
    assert pandas.DataFrame.merge is not watched
    assert pandas.DataFrame.merge is watched.__wrapped__


def test_a_failing_look_is_told_once_and_leaves_the_call_alone(preparation: Preparation) -> None:
    def fail(*_: Any) -> None:
        raise ValueError("never mind")

    preparation.wrap(pandas, "isna", "select", fail, label="pandas.isna")
    for value in (1, 2, 3):
        pandas.isna(value)
    preparation.note("end")
    assert [problem.partition(":")[0] for problem in preparation._problems] == [
        "what pandas.isna does to the data could not be seen",
        "end",
    ]


def test_lines_that_run_often_are_looked_at_ever_less(preparation: Preparation) -> None:
    table = pandas.DataFrame({"x": [1.0, 2.0]})
    for _ in range(100):
        table.sort_values("x")
    assert only(preparation, "sort_values").calls == 96


def test_classes_stay_classes(preparation: Preparation) -> None:
    import numpy

    preparation.wrap(numpy, "memmap", "read", lambda *_: None, label="numpy.memmap")
    assert not isinstance(numpy.zeros(3), numpy.memmap)


def test_indicator_columns_of_one_line_are_told_apart_by_their_names(preparation: Preparation) -> None:
    for cities in (["a", "b"], ["b", "a"]):
        pandas.get_dummies(pandas.DataFrame({"city": cities, "sum": [1, 2]}))
    for cities in (["a", "b"], ["a", "c"]):
        pandas.get_dummies(pandas.Series(cities))
    same, other = (
        fact.seen["indicators"] for fact in preparation.facts.values() if "indicators" in fact.seen
    )
    assert len(same) == 1
    assert len(other) == 2


def test_a_function_of_the_programs_own_is_no_conversion(preparation: Preparation) -> None:
    column = pandas.Series([0, 1, 2, 8, 16] * 20)
    column.apply(lambda count: 5.0 * count if count > 1 else 0)
    column.map(lambda count: -count)
    column.astype("float64").apply(lambda count: count // 2).astype("int64")
    table = pandas.DataFrame({"docks": [16, 20, 24, 36] * 20})
    table["docks"] = (table["docks"] - 16) / 4
    table["docks"] = pandas.Series([0, 1] * 40, dtype="int8")
    assert not [fact for fact in preparation.facts.values() if "losses" in fact.seen]
    (column * 100).astype("uint8")
    (lost,) = (fact for fact in preparation.facts.values() if "losses" in fact.seen)
    assert lost.call.endswith(".astype")
