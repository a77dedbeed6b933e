"""Orders of files and tables of text, compared after a run."""

from __future__ import annotations

from pathlib import Path

from netmend.adapters.preparation.order_of_rows import (
    beside_files,
    beside_numbers,
    beside_table,
    columns_of,
    groups_of,
)


def _written(folder: Path, name: str, head: str, rows: list[str]) -> str:
    path = folder / name
    path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return str(path)


def test_names_in_the_order_of_letters_and_a_table_that_counts(tmp_path: Path) -> None:
    (tmp_path / "spectra").mkdir()
    for number in range(1, 41):
        (tmp_path / "spectra" / f"sample_{number}.txt").touch()
    table = _written(tmp_path, "y.csv", "sample,moisture", [f"{n},{n / 7:.3f}" for n in range(1, 41)])
    ((pattern, names),) = groups_of(str(tmp_path / "spectra"))
    (column,) = columns_of(table)
    assert (pattern, column.name) == ("spectra/*.txt", "sample")
    seen = beside_files(names, column)
    assert seen["text_read"] < 0.2 and seen["text_sorted"] < 0.2


def test_padded_numbers_stand_in_order(tmp_path: Path) -> None:
    names = [f"{number:04}.png" for number in range(40)]
    table = _written(tmp_path, "y.csv", "image;class", [f"{number:04}.png;cat" for number in range(40)])
    (column,) = columns_of(table)
    assert beside_files(names, column)["text_read"] == 1.0


def test_a_table_that_names_other_files_says_nothing(tmp_path: Path) -> None:
    table = _written(tmp_path, "y.csv", "image,class", [f"a{number},cat" for number in range(40)])
    (column,) = columns_of(table)
    assert beside_files([f"b{number}.png" for number in range(40)], column) == {}


def test_two_tables_of_the_same_keys(tmp_path: Path) -> None:
    one = _written(tmp_path, "a.csv", "user,x", [f"u{number},1.5" for number in range(40)])
    other = _written(tmp_path, "b.csv", "user,y", [f"u{number},2.5" for number in reversed(range(40))])
    (first,), (second,) = columns_of(one), columns_of(other)
    seen = beside_table(first, second)
    assert seen["read_read"] == 0.0
    assert beside_table(first, first)["read_read"] == 1.0


def test_what_is_no_table_is_passed_over(tmp_path: Path) -> None:
    text = _written(tmp_path, "notes.txt", "no table", ["just words"] * 50)
    assert columns_of(text) == []
    assert columns_of(str(tmp_path / "missing.csv")) == []


def test_files_that_count_without_leading_zeros() -> None:
    assert (
        beside_numbers([f"img_{number}.png" for number in sorted(range(1, 41), key=str)])["text_numbers"]
        < 0.2
    )
    assert beside_numbers([f"img_{number:03}.png" for number in range(1, 41)]) == {}  # padded: one order
    assert beside_numbers([f"scan_{number * 7}.png" for number in range(1, 41)]) == {}  # ids, not places
