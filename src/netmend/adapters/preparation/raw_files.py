"""Pictures and recordings with their labels, as they lie beside a program: for questions at the end of a run, never stored."""

from __future__ import annotations

import os
import re
import sys
import wave
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from netmend.adapters.preparation.records import is_spread_alike, readings, tables_beside

PICTURES = {".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".pgm", ".ppm"}
RECORDINGS = {".wav"}
_MOST_FOUND = 6000
_MOST_ENTRIES = 20_000  # of folders that are walked through
_NOT_DATA = ("node_modules", "site-packages", "__pycache__", "venv")
_MOST_READ = 160
_FEWEST = 100
_LETTERS = re.compile(r"[A-Za-z]+")
_LARGEST = 1_500_000  # numbers of one file
_MOST_ARCHIVES = 4
_LARGEST_ARCHIVE = 60_000_000  # bytes


@dataclass(frozen=True)
class Raw:
    """Files of one kind or rows of an archive, some of them, with what could be their classes."""

    contents: Sequence[Path | Any]  # files, or arrays of an archive
    classes: Any
    is_sound: bool


def labelled_files(folder: Path, before: float, targets: Any) -> Iterator[Raw]:
    """Files below a folder whose labels (folder, name, or a table beside them) are spread like the targets of the training."""
    for endings, is_sound in ((PICTURES, False), (RECORDINGS, True)):
        files = sorted(islice(_below(folder, endings, before), _MOST_FOUND))
        if len(files) < _FEWEST:
            continue
        for known, labels in _labellings(folder, before, files):
            for classes in readings(labels):
                if is_spread_alike(classes, targets):
                    yield _some(known, classes, is_sound)


def labelled_rows(folder: Path, before: float, targets: Any) -> Iterator[Raw]:
    """Pictures and series in the archives of NumPy, with the classes beside them."""
    for file in sorted(_below(folder, {".npz"}, before))[:_MOST_ARCHIVES]:
        if file.stat().st_size > _LARGEST_ARCHIVE:
            continue
        with np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files if archive[name].dtype.kind in "iufbU"}
        for values in arrays.values():
            if values.ndim < 2 or len(values) < _FEWEST or values.dtype.kind == "U" or values[0].size < 64:
                continue
            for labels in arrays.values():
                if labels.ndim == 1 and len(labels) == len(values):
                    for classes in readings(labels.tolist()):
                        if is_spread_alike(classes, targets):
                            yield _some(values, classes, is_sound=values.ndim == 2)


def _below(folder: Path, endings: set[str], before: float) -> Iterator[Path]:
    """Files that lay there before the program began; a bounded number of entries is looked at, hidden folders are not."""
    looked = 0
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name[:1] != "." and name not in _NOT_DATA)
        for name in files:
            looked += 1
            if looked > _MOST_ENTRIES:
                return
            file = Path(place, name)
            if file.suffix.lower() in endings and file.stat().st_mtime <= before:
                yield file


def _labellings(folder: Path, before: float, files: list[Path]) -> Iterator[tuple[list[Path], list[Any]]]:
    depth = max(len(file.relative_to(folder).parts) for file in files) - 1
    deep = [file for file in files if len(file.relative_to(folder).parts) - 1 == depth]
    for level in range(depth):
        yield deep, [file.relative_to(folder).parts[level] for file in deep]
    yield files, [found.group() if (found := _LETTERS.match(file.stem)) else "" for file in files]
    by_name = {name: file for file in files for name in (file.name, file.stem)}
    for records in tables_beside(folder, before):
        for column in records[0] if len(records) >= _FEWEST else ():
            matched = [by_name.get(Path(str(record.get(column))).name) for record in records]
            if sum(file is not None for file in matched) < _FEWEST:
                continue
            kept = [(file, record) for file, record in zip(matched, records, strict=True) if file is not None]
            for other in records[0]:
                if other != column:
                    yield [file for file, _ in kept], [record.get(other) for _, record in kept]
            break


def _some(contents: Sequence[Any], classes: Sequence[Any], is_sound: bool) -> Raw:
    """A bounded number, of each class a share of its own."""
    names = np.array([str(name) for name in classes])
    order = np.argsort(names, kind="stable")
    some = np.sort(order[np.linspace(0, len(order) - 1, min(_MOST_READ, len(order))).astype(int)])
    return Raw(tuple(contents[place] for place in some), names[some], is_sound)


def read(file: Path | Any, is_sound: bool) -> tuple[Any, int] | None:
    """The numbers of a file as it is, and its rate; None where the program had nothing to read it with."""
    if not isinstance(file, Path):
        return _rows_first(file.astype(np.float32)), 0
    if is_sound:
        return _read_sound(file)
    for name, reader in (("PIL.Image", _read_by_pil), ("cv2", _read_by_cv2)):
        if name in sys.modules:
            pixels = reader(sys.modules[name], file)
            return None if pixels is None or pixels.size > _LARGEST else (pixels.astype(np.float32), 0)
    return None


def _rows_first(pixels: Any) -> Any:
    return pixels.transpose(1, 2, 0) if pixels.ndim == 3 and pixels.shape[0] <= 4 else pixels


def _read_by_pil(image: Any, file: Path) -> Any:
    with image.open(file) as picture:
        return np.asarray(picture.convert("RGB") if picture.mode in ("P", "CMYK", "RGBA", "LA") else picture)


def _read_by_cv2(cv2: Any, file: Path) -> Any:
    return cv2.imread(str(file), cv2.IMREAD_UNCHANGED)


def _read_sound(file: Path) -> tuple[Any, int] | None:
    try:
        with wave.open(str(file), "rb") as opened:
            if opened.getsampwidth() != 2 or opened.getnframes() > _LARGEST:
                return None
            samples = np.frombuffer(opened.readframes(opened.getnframes()), dtype="<i2")
            rate, channels = opened.getframerate(), opened.getnchannels()
    except (OSError, wave.Error, EOFError):
        return None
    return samples.reshape(-1, channels).mean(1).astype(np.float32) / 32768, rate
