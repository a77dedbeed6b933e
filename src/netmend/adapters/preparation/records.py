"""Texts with their labels, as they stand in the files beside a program: for questions at the end of a run, never stored."""

from __future__ import annotations

import csv
import json
import os
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

_ENDINGS = {".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".db", ".sqlite", ".sqlite3", ".txt", ".data"}
_MOST_FILES = 24
_MOST_BYTES = 3_000_000  # read of one file
_MOST_RECORDS = 800  # of one file
_FEWEST = 120  # records with a text
_WORDS_OF_A_TEXT = 6
_LONGEST_LABEL = 40
_MOST_CLASSES = 40
_FEWEST_OF_A_CLASS = 6
_LIKE = 0.08  # difference between a class's share in a file and in training


@dataclass(frozen=True)
class Texts:
    """Texts of one file, and what could be their classes."""

    texts: tuple[str, ...]
    classes: Any


def labelled_texts(folder: Path, before: float, targets: Any) -> Iterator[Texts]:
    """Texts of the files of a folder whose labels are spread like the targets of the training."""
    if targets is None:
        return
    for records in tables_beside(folder, before):
        yield from _of_table(records, targets)


def tables_beside(folder: Path, before: float) -> Iterator[list[Mapping[str, Any]]]:
    """The records of the tables in a folder and the folders in it."""
    for file in _files(folder, before):
        yield from _tables(file)


def classes_of(targets: Sequence[Any]) -> Any:
    """The targets of some batches as one row of class numbers; None where they are none."""
    rows = [np.asarray(batch).reshape(len(batch), -1) for batch in targets if len(batch)]
    if not rows or any(row.shape[1] != 1 for row in rows):
        return None
    flat = np.concatenate([row[:, 0] for row in rows])
    names = np.unique(flat)
    is_classes = 2 <= len(names) <= _MOST_CLASSES and np.all(names == np.round(names))
    return flat if is_classes else None


def _files(folder: Path, before: float) -> list[Path]:
    found: list[Path] = []
    for place in (
        folder,
        *sorted(part for part in islice(folder.iterdir(), 400) if part.is_dir() and part.name[:1] != "."),
    ):
        for entry in islice(os.scandir(place), 400):
            is_data = Path(entry.name).suffix.lower() in _ENDINGS and entry.is_file()
            if is_data and 500 < entry.stat().st_size < 20 * _MOST_BYTES and entry.stat().st_mtime <= before:
                found.append(Path(entry.path))
    return sorted(found)[:_MOST_FILES]


def _tables(file: Path) -> Iterator[list[Mapping[str, Any]]]:
    try:
        if file.suffix.lower() in (".db", ".sqlite", ".sqlite3"):
            yield from _of_database(file)
            return
        with file.open(encoding="utf-8", errors="replace") as handle:
            text = handle.read(_MOST_BYTES)
    except (OSError, sqlite3.Error):
        return
    if text[:1] in "[{":
        yield from _of_json(text)
    else:
        yield _of_lines(text)


def _of_database(file: Path) -> Iterator[list[Mapping[str, Any]]]:
    opened = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    try:
        for (name,) in opened.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            quoted = name.replace('"', '""')
            rows = opened.execute(f'SELECT * FROM "{quoted}" LIMIT {_MOST_RECORDS}')
            columns = [column[0] for column in rows.description]
            yield [dict(zip(columns, row, strict=True)) for row in rows]
    finally:
        opened.close()


def _of_json(text: str) -> Iterator[list[Mapping[str, Any]]]:
    lines = text.splitlines()
    if text[0] == "{" and len(lines) > 1 and lines[1][:1] == "{":
        yield [record for line in _some(lines) if isinstance(record := _parsed(line), dict)]
        return
    whole = _parsed(text)
    for found in (whole, *(whole.values() if isinstance(whole, dict) else ())):
        if isinstance(found, list):
            yield [record for record in _some(found) if isinstance(record, dict)]


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _of_lines(text: str) -> list[Mapping[str, Any]]:
    head = text[: text.find("\n")]
    sign = max("\t;|,", key=head.count)
    if not head.count(sign):
        return []
    try:
        rows = list(csv.reader(text.splitlines(), delimiter=sign))
    except csv.Error:
        return []
    names = (
        rows[0]
        if all(len(name) < _LONGEST_LABEL for name in rows[0])
        else [str(i) for i in range(len(rows[0]))]
    )
    return [dict(zip(names, row, strict=False)) for row in _some(rows[1:])]


def _some(items: Sequence[Any]) -> Sequence[Any]:
    """Evenly spread over all of them."""
    places = np.linspace(0, len(items) - 1, min(len(items), _MOST_RECORDS)).astype(int)
    return [items[place] for place in places]


def _of_table(records: list[Mapping[str, Any]], targets: Any) -> Iterator[Texts]:
    if len(records) < _FEWEST:
        return
    for name in records[0]:
        texts: list[Any] = [record.get(name) for record in records]
        if not all(isinstance(text, str) for text in texts):
            continue
        if np.median([text.count(" ") for text in texts[:100]]) < _WORDS_OF_A_TEXT:
            continue
        for other in records[0]:
            labels = [record.get(other) for record in records]
            for classes in readings(labels):
                if other != name and is_spread_alike(classes, targets):
                    yield Texts(tuple(texts), np.array(classes))


def readings(labels: list[Any]) -> Iterator[list[Any]]:
    """What a column may say of classes: its values, or whether they pass one of a few marks."""
    if not all(
        isinstance(label, str | int | float) and len(str(label)) <= _LONGEST_LABEL for label in labels
    ):
        return
    names = sorted(set(labels), key=str)
    if not 2 <= len(names) <= _MOST_CLASSES:
        return
    yield [str(label) for label in labels]
    try:
        numbers = [float(label) for label in labels]
    except ValueError:
        return
    if 2 < len(names) <= 12:
        for mark in sorted(set(numbers))[1:]:
            yield [str(number >= mark) for number in numbers]


def is_spread_alike(classes: list[Any], targets: Any) -> bool:
    counts = Counter(classes)
    shares = sorted(count / len(classes) for count in counts.values())
    wanted = sorted(np.unique(targets, return_counts=True)[1] / len(targets))
    if len(shares) != len(wanted) or min(counts.values()) < _FEWEST_OF_A_CLASS:
        return False
    return bool(max(abs(one - other) for one, other in zip(shares, wanted, strict=True)) <= _LIKE)
