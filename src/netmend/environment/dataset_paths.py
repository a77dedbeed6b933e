"""Paths of data: is there anything, can it be read, do links lead anywhere, is there room."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from netmend.environment.facts import Problem

MOST_ENTRIES = 200_000  # a data set on a network drive may hold millions of files; a look must end
LITTLE_ROOM = 1024**3


@dataclass(frozen=True)
class DataPath:
    """What lies at a path."""

    path: str
    kind: str  # missing, file, folder
    files: int
    size: int  # bytes of the files seen
    broken: int  # links that lead nowhere
    empty: int  # files of 0 bytes
    unreadable: int
    free: int | None  # bytes free on its file system
    cut: bool  # whether there was more than was looked at


def look_at(path: Path, most: int = MOST_ENTRIES) -> DataPath:
    """Count what lies at a path, without following links to folders (a link may lead round in a circle)."""
    free = _free(path)
    if not path.exists():
        return DataPath(str(path), "missing", 0, 0, int(path.is_symlink()), 0, 0, free, False)
    if path.is_file():
        size = path.stat().st_size
        readable = os.access(path, os.R_OK)
        return DataPath(str(path), "file", 1, size, 0, int(size == 0), int(not readable), free, False)
    files = size = broken = empty = unreadable = seen = 0
    failed: list[OSError] = []
    for folder, names, entries in os.walk(path, onerror=failed.append):
        names.sort()
        for name in (*entries, *(one for one in names if (Path(folder) / one).is_symlink())):
            seen += 1
            file = Path(folder) / name
            try:
                state = file.stat()
            except OSError:
                broken += int(file.is_symlink())
                continue
            if not file.is_file():
                continue
            files, size, empty = files + 1, size + state.st_size, empty + int(state.st_size == 0)
            unreadable += int(not os.access(file, os.R_OK))
        if seen >= most:
            break
    unreadable += len(failed)
    return DataPath(str(path), "folder", files, size, broken, empty, unreadable, free, seen >= most)


def problems_with(found: DataPath) -> Iterator[Problem]:
    """What is wrong with a path that a program is to read its data from."""
    path, few = Path(found.path), f"of {found.files} files in {found.path}"
    if found.kind == "missing":
        yield _bad(found, *_missing(found, path))
        return
    if found.files == 0:
        do = "Download or unpack the data, or check whether the disk is mounted."
        yield _bad(found, f"{path} holds no files.", do)
    if found.unreadable:
        do = "Change owner or permissions (chmod -R a+rX)."
        yield _bad(found, f"{found.unreadable} {few} cannot be read by this user.", do)
    if found.broken:
        do = "Copy the data itself, or mount what the links lead to."
        yield _bad(found, f"{found.broken} links in {path} lead nowhere.", do)
    if found.empty:
        do = "A download may have been cut off: fetch them again."
        yield Problem("warning", found.path, f"{found.empty} {few} are empty.", do, "stat")
    if found.free is not None and found.free < LITTLE_ROOM:
        what = f"The file system of {path} has {found.free // 1024**2} MB free."
        yield Problem("warning", found.path, what, "Caches and checkpoints need room.", "statvfs")


def _missing(found: DataPath, path: Path) -> tuple[str, str]:
    """What is wrong, and what to do."""
    if found.broken:
        what = f"{path} is a link to {path.readlink()}, which does not exist."
        return what, "Mend the link, or mount the disk it leads to."
    if (twin := _twin(path)) is not None:
        what = f"{path} does not exist, but {twin} does: names differ in upper and lower case."
        return what, "Write the name as it is on disk; it matters on Linux."
    parent = next((one for one in path.parents if one.exists()), None)
    nearest = f"; the nearest folder that does is {parent}." if parent else "."
    do = "Check the path, the working directory and whether the disk is mounted."
    return f"{path} does not exist{nearest}", do


def _bad(found: DataPath, what: str, do: str) -> Problem:
    return Problem("bad", found.path, what, do, "the file system")


def _twin(path: Path) -> Path | None:
    """An existing path that differs only in upper and lower case."""
    here = Path(path.anchor) if path.is_absolute() else Path()
    for part in path.parts[1:] if path.is_absolute() else path.parts:
        direct = here / part
        if direct.exists() or part in (".", ".."):
            here = direct
            continue
        try:
            same = [one for one in here.iterdir() if one.name.lower() == part.lower()]
        except OSError:
            return None
        if not same:
            return None
        here = same[0]
    return here


def _free(path: Path) -> int | None:
    for one in (path, *path.absolute().parents):
        try:
            return shutil.disk_usage(one).free
        except OSError:
            continue
    return None
