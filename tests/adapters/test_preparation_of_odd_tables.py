"""Tables that are easily mishandled: looking at what is done to them fails nowhere and changes nothing."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from netmend.adapters.preparation.watch import Preparation
from netmend.observe.sites import Sites

pd = pytest.importorskip("pandas")
np = pytest.importorskip("numpy")


def twice_named() -> Any:
    return pd.DataFrame([[1, 2.0, "a"], [3, None, "b"], [3, 4.0, "b"]], columns=["x", "x", "y"])


def of_two_indices() -> Any:
    index = pd.MultiIndex.from_product([["a", "b"], [1, 2]], names=["letter", "number"])
    columns = pd.MultiIndex.from_tuples([("in", "x"), ("in", "y"), ("out", "z")])
    return pd.DataFrame(np.arange(12.0).reshape(4, 3), index=index, columns=columns)


def of_objects() -> Any:
    return pd.DataFrame(
        {
            "lists": [[1], [2, 3], []],
            "arrays": [np.ones(2), np.zeros(3), None],
            "mixed": [1, "1", None],
            "sets": [{1}, {2}, {1, 2}],
            "tables": [pd.Series([1]), pd.DataFrame(), object],
        }
    )


def of_categories() -> Any:
    ordered = pd.Categorical(["low", "high", None], categories=["low", "middle", "high"], ordered=True)
    return pd.DataFrame({"level": ordered, "city": pd.Categorical(["b", "a", "b"]), "sum": [1, 2, 3]})


def of_dates() -> Any:
    days = pd.to_datetime(["2020-01-02", "2020-03-29", "2019-12-31"])
    return pd.DataFrame(
        {
            "day": days,
            "there": days.tz_localize("Europe/Berlin"),
            "month": days.to_period("M"),
            "span": days - days[0],
        }
    )


def of_newer_types() -> Any:
    return pd.DataFrame(
        {
            "whole": pd.array([1, None, 3], dtype="Int64"),
            "yes": pd.array([True, None, False], dtype="boolean"),
            "text": pd.array(["a", None, "c"], dtype="string"),
            "between": pd.interval_range(0, 3),
            "few": pd.arrays.SparseArray([0, 0, 1]),
        }
    )


def names_twice(table: Any) -> Any:
    joined = table.merge(table, on="y", how="left", suffixes=("_1", "_2"))
    doubled = pd.concat([table, table])
    return [joined, doubled, table.dropna(), table["x"], table.drop_duplicates(), table.iloc[:0], table.T]


def two_indices(table: Any) -> Any:
    table = table.copy()
    table[("out", "sum")] = table["in"].sum(axis=1)
    flat = table.reset_index()
    return [
        table.groupby(level="letter").mean(),
        table.xs("a"),
        table.unstack(),
        table.loc[("a", 1)],
        flat.sort_values(("in", "x")),
        table.join(table["in"].rename(columns=str.upper), how="inner"),
        pd.concat({"one": table, "two": table}),
        table.stack(),
        table.rolling(2).mean(),
    ]


def objects(table: Any) -> Any:
    wide = table.assign(number=range(len(table)))
    return [
        wide.explode("lists"),
        wide.drop(columns="tables").fillna(0),
        wide["lists"].map(len),
        wide.apply(lambda row: row["mixed"], axis=1),
        wide.sample(frac=1.0, random_state=0),
        wide["mixed"].astype(str),
        pd.to_numeric(wide["mixed"], errors="coerce"),
        wide.sort_values("number", ascending=False).reset_index(drop=True),
        wide[["mixed", "number"]].merge(wide[["mixed", "number"]], on="number"),
    ]


def categories(table: Any) -> Any:
    return [
        pd.get_dummies(table),
        pd.get_dummies(table, dummy_na=True, drop_first=True),
        table["level"].cat.codes,
        table.groupby("city", observed=False)["sum"].mean(),
        table["city"].map({"a": 0}),
        table["city"].replace({"a": "b"}) if table["city"].dtype == object else table["city"].astype(str),
        table.merge(table, on="city"),
        pd.concat([table, table.assign(city=pd.Categorical(["c", "c", "d"]))]),
        pd.factorize(table["city"]),
    ]


def dates(table: Any) -> Any:
    return [
        table.set_index("day").sort_index().asfreq("30D"),
        table.set_index("day").resample("MS").size(),
        table["there"].dt.tz_convert("UTC"),
        table["day"].dt.dayofweek,
        table.sort_values("day").shift(1),
        pd.merge_asof(table.sort_values("day"), table.sort_values("day"), on="day"),
        pd.to_datetime(pd.Series(["31.12.2020", "x"]), format="%d.%m.%Y", errors="coerce"),
        table["span"].dt.total_seconds().cumsum(),
    ]


def newer_types(table: Any) -> Any:
    return [
        table["whole"].fillna(0),
        table["whole"].astype("Float64").interpolate(),
        table["yes"].astype("boolean") & True,
        table["text"].str.upper(),
        table.dropna(),
        table.convert_dtypes(),
        table[["whole", "yes", "text"]].groupby("text", dropna=False).first(),
        table["few"].rolling(2).sum(),
    ]


def nothing_in_it(table: Any) -> Any:
    return [
        table.merge(table, on="a"),
        pd.concat([table, table]),
        table.dropna(),
        table.fillna(0),
        table.sort_values("a"),
        table.groupby("a")["b"].transform("mean"),
        table.sample(frac=1.0),
        pd.get_dummies(table["a"]),
        table["b"].shift(1),
        table["b"].rolling(3).mean(),
        pd.to_numeric(table["a"], errors="coerce"),
        table.drop_duplicates(),
        table.assign(c=table["a"]),
        table.apply(lambda row: row, axis=1),
        table.pivot_table(index="a", values="b"),
        table.query("b > 0"),
    ]


CASES: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "two columns of one name": (twice_named, names_twice),
    "several levels": (of_two_indices, two_indices),
    "objects in cells": (of_objects, objects),
    "categories": (of_categories, categories),
    "dates and zones": (of_dates, dates),
    "types that know a missing value": (of_newer_types, newer_types),
    "no rows": (
        lambda: pd.DataFrame({"a": pd.Series(dtype=object), "b": pd.Series(dtype=float)}),
        nothing_in_it,
    ),
}


def outcome(work: Callable[[], Any]) -> tuple[list[str], list[tuple[str, str]]]:
    """What comes of it, or how it fails; and what was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            results = [f"{type(one).__name__} {one!r}" for one in work()]
        except Exception as problem:  # noqa: BLE001 - some versions of pandas refuse: then they refuse with the same words
            results = [f"{type(problem).__name__} {problem}"]
    return results, [(str(warning.message), warning.filename) for warning in caught]


@pytest.mark.parametrize("case", CASES)
def test_odd_tables_stay_as_they_are(case: str) -> None:
    make, work = CASES[case]
    bare = outcome(lambda: work(make()))
    preparation = Preparation(Sites())
    preparation.install()
    try:
        watched = outcome(lambda: work(make()))
        preparation.finish()
    finally:
        preparation.remove()
    assert watched == bare
    assert not preparation.off, f"looking failed: {dict(preparation.off)}"


def test_a_generator_of_pieces_is_not_consumed(tmp_path: Any) -> None:
    (tmp_path / "long.csv").write_text("x,y\n" + "".join(f"{n},{n % 3}\n" for n in range(1000)))
    preparation = Preparation(Sites())
    preparation.install()
    try:
        pieces = pd.read_csv(tmp_path / "long.csv", chunksize=300)
        sizes = [len(piece) for piece in pieces]
        whole = pd.concat(piece for piece in pd.read_csv(tmp_path / "long.csv", chunksize=300))
        frame = pd.DataFrame((n, n * n) for n in range(5))
    finally:
        preparation.remove()
    assert sizes == [300, 300, 300, 100]
    assert len(whole) == 1000
    assert len(frame) == 5
    assert not preparation.off


def test_files_that_cannot_be_read_fail_as_they_do(tmp_path: Any) -> None:
    (tmp_path / "torn.csv").write_text('a,b\n1,2\n3,4,5\n"never closed')
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "letters.csv").write_bytes(b"a,b\n\xff\xfe,1\n")

    def work() -> list[str]:
        said = []
        for name in ("torn.csv", "empty.csv", "letters.csv", "absent.csv"):
            try:
                pd.read_csv(tmp_path / name)
            except Exception as problem:  # noqa: BLE001 - which one it is is the question
                said.append(f"{type(problem).__name__} {problem}")
        return said

    bare = work()
    preparation = Preparation(Sites())
    preparation.install()
    try:
        assert work() == bare
    finally:
        preparation.remove()


def test_ten_million_rows_are_looked_at_in_a_moment() -> None:
    table = pd.DataFrame({"x": np.arange(10_000_000), "y": np.zeros(10_000_000, np.int8)})
    preparation = Preparation(Sites())
    preparation.install()
    started = time.perf_counter()
    try:
        table["z"] = table["x"].shift(1)
        half = table[table["x"] % 2 == 0]
        half.dropna().sort_values("x", ascending=False).reset_index(drop=True)
        table.merge(table.iloc[:100], on="x", how="left")
    finally:
        preparation.remove()
    assert not preparation.off
    assert preparation.own < max(0.5, 0.1 * (time.perf_counter() - started))
