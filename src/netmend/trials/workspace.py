"""A copy of the program's folder for one trial, so that nothing of the user's is touched.

Sources and small files are copied. Of large data the copy holds links, which trials may read and not write (`guards.py`).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from netmend.trials.trial import Outcome
from netmend.vocabulary import Trace

SKIPPED = frozenset([
    ".git", ".hg", ".svn", ".netmend", "node_modules", "__pycache__", ".mypy_cache", ".pytest_cache",
    ".ruff_cache", ".tox", ".nox", ".idea", ".vscode", ".ipynb_checkpoints", "wandb", "mlruns",
    "lightning_logs",
])  # fmt: skip
MARK = "netmend-trials"  # a file of this name says that a folder holds trials, wherever the user wants them
_MARKS = (
    "pyvenv.cfg",
    "conda-meta",
    MARK,
)  # by content: `env` and `venv` may well be packages of the program
SOURCES = (".py", ".yaml", ".yml", ".json", ".toml", ".ini", ".cfg", ".txt")
_SOURCE_BYTES = 1_000_000
_COPIED_BYTES = 32_000_000  # a larger file is linked
_TOTAL_BYTES = 512_000_000  # beyond this, whatever is no source is linked
_UP = re.compile(r"""\.\./|["']\.\.["']|\.parent\.parent\b|\.parents\[|\bpardir\b|dirname\([^()]*dirname\(""")
_MOST_NEIGHBOURS = 1_000
_MOST_FILES = 20_000  # a folder with which there would be more is linked as a whole


@dataclass(frozen=True)
class Entry:
    relative: str
    size: int
    modified: int
    folder: str = ""  # set for a folder that is linked as a whole: where it really lies

    @property
    def is_source(self) -> bool:
        return not self.folder and self.relative.endswith(SOURCES) and self.size <= _SOURCE_BYTES


def entries(directory: Path) -> Iterator[Entry]:
    """The files of a program's folder, shallow ones first."""
    waiting, count = deque([directory]), 0
    while waiting:
        folder = waiting.popleft()
        try:
            with os.scandir(folder) as items:
                found = sorted(items, key=lambda item: item.name)
        except OSError:
            continue
        if count + len(found) > _MOST_FILES and folder != directory:
            yield _linked(folder, directory)
            continue
        for item in found:
            with contextlib.suppress(OSError):  # gone meanwhile
                if item.is_dir():
                    if item.name in SKIPPED or _is_marked(item.path):
                        continue
                    if item.is_symlink():  # not followed: it may lead anywhere, and in circles
                        yield _linked(Path(item.path), directory)
                    else:
                        waiting.append(Path(item.path))
                elif item.is_file():
                    count += 1
                    state = item.stat()
                    yield Entry(os.path.relpath(item.path, directory), state.st_size, state.st_mtime_ns)


def _is_marked(folder: str) -> bool:
    return any(os.path.lexists(os.path.join(folder, mark)) for mark in _MARKS)  # noqa: PTH118 - for every folder


def _linked(folder: Path, directory: Path) -> Entry:
    place, modified = os.path.realpath(folder), 0
    with contextlib.suppress(OSError):
        modified = Path(place).stat().st_mtime_ns
    return Entry(os.path.relpath(folder, directory), 0, modified, place)


def fingerprint(directory: Path, without: Collection[Path] = ()) -> str:
    """Changes when a source of the program does, or the size or date of another file; `without`: results, which are no part of it."""
    digest = hashlib.sha256()
    results = {path.resolve() for path in without}
    for entry in entries(directory):
        if results and (directory / entry.relative).resolve() in results:
            continue
        digest.update(entry.relative.encode(errors="surrogateescape") + b"\0")
        content = f"{entry.size} {entry.modified}".encode()
        if entry.is_source:
            with contextlib.suppress(OSError):  # what cannot be read is known by its size and date
                content = (directory / entry.relative).read_bytes()
        digest.update(hashlib.sha256(content).digest())
    return digest.hexdigest()[:24]


def make(
    directory: Path, copy: Path, texts: tuple[tuple[str, str], ...], sources_only: bool = False
) -> tuple[str, ...]:
    """Make the copy and put the trial's texts into it; tells what is not in it but linked from it."""
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir(parents=True, exist_ok=True)
    total, linked = 0, []
    for entry in entries(directory):
        if sources_only and not entry.is_source:
            continue
        source, target = directory / entry.relative, copy / entry.relative
        target.parent.mkdir(parents=True, exist_ok=True)
        total += entry.size
        if not entry.folder and (entry.is_source or (entry.size <= _COPIED_BYTES and total <= _TOTAL_BYTES)):
            with contextlib.suppress(
                OSError
            ):  # what cannot be read is linked: the program will see the same error
                shutil.copy2(source, target)
                continue
        place = Path(os.path.realpath(source))
        inside = place.is_relative_to(os.path.realpath(directory)) and source.is_symlink()
        if inside:  # to the same place in the copy, so that what is written there stays there
            place = copy / place.relative_to(os.path.realpath(directory))
        else:
            linked.append(str(place))
        target.unlink(missing_ok=True)
        target.symlink_to(place)
    for relative, text in texts:
        _write(copy, relative, text)
    return tuple(linked)


def link_neighbours(directory: Path, folder: Path, taken: frozenset[str]) -> tuple[str, ...]:
    """For programs that reach beside their folder ("../data"): links to what lies there, in the folder that holds the copy."""
    if not any(_looks_up(directory / entry.relative) for entry in entries(directory) if entry.is_source):
        return ()
    linked = []
    with contextlib.suppress(OSError):
        for place in sorted(directory.resolve().parent.iterdir())[:_MOST_NEIGHBOURS]:
            link = folder / place.name
            if place != directory.resolve() and place.name not in taken and place.name not in SKIPPED:
                link.unlink(missing_ok=True)
                link.symlink_to(place)
                linked.append(str(place.resolve()))
    return tuple(linked)


def _looks_up(path: Path) -> bool:
    if path.suffix not in (".py", ".yaml", ".yml", ".json", ".toml"):
        return False
    with contextlib.suppress(OSError):
        return _UP.search(path.read_text(encoding="utf-8", errors="replace")) is not None
    return False


def _write(copy: Path, relative: str, text: str) -> None:
    """A text into the copy, never through a link out of it."""
    folder = copy
    for name in Path(relative).parent.parts:
        folder = folder / name
        if folder.is_symlink() and not folder.resolve().is_relative_to(copy.resolve()):
            place = folder.resolve()
            folder.unlink()
            folder.mkdir()
            for item in place.iterdir():
                (folder / item.name).symlink_to(item)
        folder.mkdir(exist_ok=True)
    target = copy / relative
    if target.is_symlink():
        target.unlink()
    target.write_bytes(text.encode("utf-8", errors="surrogateescape"))


def strip(copy: Path) -> None:
    """After a trial only the sources stay: lines of its report stand in them. So do links to folders, which hold some."""
    for folder, folders, files in os.walk(copy, topdown=False):
        for name in files:
            path = Path(folder) / name
            with contextlib.suppress(OSError):
                if path.is_symlink() or not (name.endswith(SOURCES) and path.stat().st_size <= _SOURCE_BYTES):
                    path.unlink()
        for name in folders:
            path = Path(folder) / name
            with contextlib.suppress(OSError):  # not empty
                if not path.is_symlink():
                    path.rmdir()


# A trace that was recorded elsewhere, with the places of this machine in it.

Value = TypeVar("Value")


def relocated(trace: Trace, outcome: Outcome) -> Trace:
    """Sites in the folder that the outcome names, wherever the trial really ran."""
    there = trace.run.working_directory
    if not there or not outcome.root or there == outcome.root:
        return trace
    return moved(trace, there, outcome.root)


def moved(value: Value, old: str, new: str) -> Value:
    """The same data with one folder's name exchanged, in file names and nowhere else."""
    result: Any = value
    if isinstance(value, str):
        result = new + value[len(old) :] if value == old or value.startswith(f"{old}/") else value
    elif is_dataclass(value) and not isinstance(value, type):
        changes = {}
        for item in fields(value):
            before = getattr(value, item.name)
            after = moved(before, old, new)
            if after is not before:
                changes[item.name] = after
        result = replace(value, **changes) if changes else value
    elif isinstance(value, tuple):
        items = [moved(item, old, new) for item in value]
        if any(a is not b for a, b in zip(items, value, strict=True)):
            result = tuple(items)
    elif isinstance(value, dict):
        pairs = {key: moved(item, old, new) for key, item in value.items()}
        if any(pairs[key] is not value[key] for key in value):
            result = pairs
    return result  # type: ignore[no-any-return]
