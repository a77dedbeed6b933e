"""Files that a program opens and folders that it lists: do their names, and the columns of small tables of text, stand in one order?

Python tells of each file as it is opened, whichever library asks (`sys.addaudithook`); nothing is read before the program has ended.
"""

from __future__ import annotations

import csv
import os
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from pathlib import Path
from time import perf_counter
from typing import Any

from netmend.adapters.preparation.keys import partners
from netmend.adapters.preparation.watch import Preparation
from netmend.vocabulary import PreparationFact

PLACES = "places"  # facts about two orders of the same rows
KEYS = "keys"  # facts about keys of two tables that only spelling keeps apart
_TABLES = (".csv", ".tsv", ".txt", ".dat")
_LISTED = ("os.listdir", "os.scandir")
_MOST_PATHS = 400
_MOST_BYTES = 8_000_000  # of a table that is read again
_MOST_ROWS = 50_000
_MOST_FILES = 50_000
_LEAST = 20  # rows whose order is compared
_SECONDS = 0.4
_NUMBER = re.compile(r"(\d+)(?=\D*$)")


class Paths:
    """Which tables of text were opened and which folders listed, until the run ends."""

    def __init__(self) -> None:
        self.files: dict[str, None] = {}
        self.folders: dict[str, None] = {}
        self._root = Path.cwd()

    def hear(self, event: str, args: tuple[Any, ...]) -> None:
        if event != "open" and event not in _LISTED:
            return
        path = args[0] if args else None
        path = os.fspath(path) if isinstance(path, os.PathLike) else path
        kept = self.files if event == "open" else self.folders
        if not isinstance(path, str) or len(kept) >= _MOST_PATHS:
            return
        if event != "open" or (path.endswith(_TABLES) and "w" not in str(args[1])):
            kept[str(self._root / path)] = None


class _Hook:
    """The one hook of a process: it cannot be taken away, so that it is deaf while nobody listens."""

    listener: Paths | None = None
    is_there = False

    @classmethod
    def listen(cls, paths: Paths | None) -> None:
        cls.listener = paths
        if not cls.is_there and paths is not None:
            sys.addaudithook(cls.hear)
            cls.is_there = True

    @classmethod
    def hear(cls, event: str, args: tuple[Any, ...]) -> None:
        if cls.listener is not None:
            cls.listener.hear(event, args)


def watch(preparation: Preparation) -> None:
    paths = Paths()
    _Hook.listen(paths)
    preparation.at_end("os.places", lambda preparation: _compare(preparation, paths))


@dataclass(frozen=True)
class Column:
    """A column of a table of text, as it stands in the file."""

    file: str
    name: str
    place: int
    values: tuple[str, ...]

    @property
    def is_key(self) -> bool:
        return len(set(self.values)) == len(self.values)


def _compare(preparation: Preparation, paths: Paths) -> None:
    _Hook.listen(None)
    started = perf_counter()
    columns: list[Column] = []
    told = [
        file
        for fact in preparation.facts.values()
        for file in fact.seen.get("files", ())
        if fact.kind == "read"
    ]
    for path in dict.fromkeys(
        (*paths.files, *(str(Path.cwd() / file) for file in told if str(file).endswith(_TABLES)))
    ):
        if perf_counter() - started < _SECONDS / 2:
            columns += columns_of(path)
    for folder in paths.folders:
        if perf_counter() - started > _SECONDS:
            return
        for pattern, names in groups_of(folder):
            counted = beside_numbers(names)
            if counted:
                preparation.add(
                    PreparationFact(f"places@{pattern}", "files", PLACES, seen={"one": pattern, **counted})
                )
            for column in columns:
                seen = beside_files(names, column)
                if seen:
                    _tell(preparation, pattern, column, seen)
    for one, other in combinations(columns, 2):
        if perf_counter() - started > _SECONDS:
            return
        if one.file != other.file:
            for first, second in ((one, other), (other, one)):
                seen = beside_table(first, second)
                if seen:
                    _tell(preparation, Path(first.file).name, second, seen | {"key": first.name})
                elif second.is_key and (apart := partners(first.values, second.values)).get(
                    "alone_by_spelling"
                ):
                    places = {"places": [first.place, second.place]}
                    _tell(
                        preparation, Path(first.file).name, second, apart | places | {"key": first.name}, KEYS
                    )


def _tell(
    preparation: Preparation, one: str, column: Column, seen: dict[str, Any], kind: str = PLACES
) -> None:
    file = Path(column.file).name
    name = f"{kind}@{one}|{file}:{column.name}"
    preparation.add(
        PreparationFact(
            name, "tables of text", kind, seen={"one": one, "other": file, "column": column.name, **seen}
        )
    )


def columns_of(path: str) -> list[Column]:
    """The columns that could name rows: whole numbers or texts, most of them different."""
    try:
        if Path(path).stat().st_size > _MOST_BYTES:
            return []
        with Path(path).open(encoding="utf-8-sig", errors="replace", newline="") as file:
            head = file.readline()
            delimiter = max(",;\t|", key=head.count)
            if delimiter not in head:
                return []
            file.seek(0)
            rows = list(islice(csv.reader(file, delimiter=delimiter), _MOST_ROWS + 1))
    except (OSError, csv.Error):
        return []
    if len(rows) <= _LEAST:
        return []
    width = len(rows[0])
    body = [row for row in rows[1:] if len(row) == width]
    found = []
    for place, name in enumerate(rows[0]):
        values = tuple(row[place].strip() for row in body)
        sample = values[:200]
        if len(set(values)) >= _LEAST and not all(_is_measure(value) for value in sample):
            found.append(Column(path, name.strip(), place, values))
    return found


def _is_measure(value: str) -> bool:
    return not value or ("." in value and value.replace(".", "", 1).lstrip("-").isdigit())


def groups_of(folder: str) -> list[tuple[str, list[str]]]:
    """The files of a folder by their endings, where there are many of a kind."""
    try:
        names = [entry.name for entry in islice(os.scandir(folder), _MOST_FILES) if entry.is_file()]
    except OSError:
        return []
    kinds: dict[str, list[str]] = {}
    for name in names:
        kinds.setdefault(Path(name).suffix, []).append(name)
    return [
        (f"{Path(folder).name}/*{ending}", sorted(group))
        for ending, group in kinds.items()
        if len(group) >= _LEAST
    ]


def beside_files(names: list[str], column: Column) -> dict[str, Any]:
    """How much of the order of files by name, laid beside a column that names them, agrees; empty where it names others."""
    if not column.is_key or len(column.values) != len(names):
        return {}
    counts = all(value.isdigit() for value in column.values)
    for name_of in (str, _stem, _number if counts else _numbered):
        known = [name_of(name) for name in names]
        wanted = (
            list(column.values) if name_of in (str, _stem) else [name_of(value) for value in column.values]
        )
        if len(set(known)) == len(names) and set(known) == set(wanted):
            return {
                "rows": len(names),
                "text_read": _agree(known, wanted),
                "text_sorted": _agree(known, [wanted[place] for place in _order(column.values)]),
            }
    return {}


def beside_numbers(names: list[str]) -> dict[str, Any]:
    """How much of the order of files by name agrees with their order by number, where they count from 0 or 1 on."""
    stems = [_NUMBER.split(Path(name).stem) for name in names]
    numbers = [int(parts[1]) for parts in stems if len(parts) == 3 and parts[1] == str(int(parts[1]))]
    if len(numbers) < len(names) or len({parts[0] for parts in stems}) > 1:
        return {}
    if sorted(numbers) != list(range(min(numbers), min(numbers) + len(numbers))) or min(numbers) > 1:
        return {}
    return {"rows": len(names), "text_numbers": _agree([*map(str, numbers)], [*map(str, sorted(numbers))])}


def beside_table(one: Column, other: Column) -> dict[str, Any]:
    """How much of the order of two columns of the same keys agrees, as they stand and sorted."""
    if not other.is_key or set(one.values) != set(other.values):
        return {}
    seen: dict[str, Any] = {
        "rows": len(other.values),
        "sorted_read": _agree(_sorted(set(one.values)), list(other.values)),
    }
    if one.is_key:
        seen["read_read"] = _agree(list(one.values), list(other.values))
    return seen


def _stem(name: str) -> str:
    return Path(name).stem


def _number(name: str) -> str:
    found = _NUMBER.search(Path(name).stem)
    return str(int(found[1])) if found is not None else name


def _numbered(name: str) -> str:
    """The name with its last number as a number: `Sample_007.txt` and `sample_7`."""
    stem = Path(name).stem
    return _NUMBER.sub(lambda found: str(int(found[1])), stem).casefold()


def _order(values: Sequence[str]) -> list[int]:
    """The places in the order of the values: of numbers by size."""
    counts = all(value.isdigit() for value in values)
    return sorted(
        range(len(values)), key=(lambda place: int(values[place])) if counts else values.__getitem__
    )


def _sorted(values: Iterable[str]) -> list[str]:
    listed = list(values)
    return [listed[place] for place in _order(listed)]


def _agree(one: list[str], other: list[str]) -> float:
    """The share of places at which the same stands."""
    return sum(left == right for left, right in zip(one, other, strict=False)) / max(len(one), len(other), 1)
