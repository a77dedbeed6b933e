"""Results kept between runs: a file is looked into again only when it, or a file that its findings rest on, changed.

One JSON file for each choice of rules and each version of netmend and its surroundings. Whatever is wrong with it, it
is written anew; where it cannot be written, there is none. A file counts as unchanged when size and time of change
are the same, or else its content is.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from netmend.check.reading import digest
from netmend.check.results import FileResult, from_plain, to_plain
from netmend.check.select import Selection
from netmend.version import VERSION

_FORMAT = 1
_KEPT_FILES = 8  # caches of other choices of rules that stay
_MISSING = (-1, -1, "")  # stamp of a file that is not there
# Two changes within one tick of a file system's clock look like one: content that was read so soon after a change is
# compared by content the next time.
_CLOCK_TICK = 50_000_000
Stamp = tuple[
    int, int, str
]  # size, time of change in nanoseconds (-1: not to be relied on), digest of the content


class Cache:
    """Results by file. Without a place on disk it serves one process, for --watch and --fix."""

    def __init__(self, place: Path | None) -> None:
        self._place = place
        self._stamps: dict[str, Stamp] = {}
        self._entries: dict[str, tuple[tuple[str, ...], list[Any]]] = {}
        self._current: dict[str, Stamp] = {}
        self._started = time.time_ns()
        self._dirty = False
        self.selection: Selection | None = None
        if place is not None:
            with contextlib.suppress(OSError, ValueError, TypeError, KeyError, IndexError, RecursionError):
                self._load(place)

    def begin(self) -> None:
        """Before each round: what was seen on disk in an earlier one is no longer taken for granted."""
        self._current.clear()
        self._started = time.time_ns()

    def _load(self, place: Path) -> None:
        data = json.loads(place.read_bytes())
        paths = data["paths"]
        stamps: dict[str, Stamp] = {path: (size, modified, known) for path, size, modified, known in paths}
        entries = {
            paths[index][0]: (tuple(paths[read][0] for read in reads), plain)
            for index, reads, plain in data["entries"]
        }
        self.selection = Selection.from_plain(data["selection"])
        self._stamps, self._entries = stamps, entries

    def get(self, path: str) -> FileResult | None:
        """The result of an unchanged file."""
        entry = self._entries.get(path)
        if entry is None:
            return None
        reads, plain = entry
        if not self._unchanged(path) or not all(map(self._unchanged, reads)):
            return None
        if not plain:
            return FileResult(reads=reads)
        try:
            return from_plain(plain)
        except (TypeError, ValueError, IndexError):
            return None

    def put(self, path: str, result: FileResult) -> None:
        """Keeps a result, unless something that it rests on changed while it was made."""
        self._dirty = True
        self._entries.pop(path, None)
        if not result.lasting:
            return
        own = self._sure((result.size, result.modified, result.digest))
        stamps = {read: self._stamp(read) for read in result.reads}
        if any(stamp[1] >= self._started for stamp in stamps.values()):
            return
        stamps = {read: self._sure(stamp) for read, stamp in stamps.items()}
        self._replace({path: own, **stamps})
        plain = to_plain(result)
        clean = not (result.findings or result.comments or result.problem or result.failures)
        self._entries[path] = (result.reads, [] if clean else plain)

    def _replace(self, stamps: dict[str, Stamp]) -> None:
        """New stamps; what rests on the older content of one of these files is forgotten."""
        changed = {path for path, stamp in stamps.items() if self._stamps.get(path, stamp)[2] != stamp[2]}
        if changed:
            self._entries = {
                path: entry
                for path, entry in self._entries.items()
                if path not in changed and changed.isdisjoint(entry[0])
            }
        self._stamps.update(stamps)

    def _sure(self, stamp: Stamp) -> Stamp:
        size, modified, known = stamp
        return (size, modified if modified < self._started - _CLOCK_TICK else -1, known)

    def _unchanged(self, path: str) -> bool:
        before = self._stamps.get(path)
        if before is None:
            return False
        known = self._current.get(path)
        if known is None:
            try:
                status = os.stat(path)  # noqa: PTH116 - thousands of them: speed
            except OSError:
                self._current[path] = _MISSING
                return before[0] == -1
            if status.st_size == before[0] and status.st_mtime_ns == before[1]:
                self._current[path] = before
                return True
            if status.st_size != before[0]:
                return False
            known = self._stamp(path)
            if known[2] == before[2]:
                self._stamps[path] = self._sure(known)
                self._dirty = True
        return known[2] == before[2]

    def _stamp(self, path: str) -> Stamp:
        known = self._current.get(path)
        if known is None:
            try:
                status = os.stat(path)  # noqa: PTH116
                content = Path(path).read_bytes()
                known = (status.st_size, status.st_mtime_ns, digest(content))
            except OSError:
                known = _MISSING
            self._current[path] = known
        return known

    def save(self) -> None:
        """Writes what is new; a disk that is full or read-only only means that there is no cache."""
        if self._place is None or not self._dirty or self.selection is None:
            return
        alive = {path: entry for path, entry in self._entries.items() if os.path.exists(path)}  # noqa: PTH110
        paths = list(dict.fromkeys(path for own, entry in alive.items() for path in (own, *entry[0])))
        numbers = {path: number for number, path in enumerate(paths)}
        data = {
            "selection": self.selection.plain(),
            "paths": [[path, *self._stamps[path]] for path in paths],
            "entries": [
                [numbers[path], [numbers[read] for read in reads], plain]
                for path, (reads, plain) in alive.items()
            ],
        }
        with contextlib.suppress(OSError, ValueError):
            _write(self._place, json.dumps(data, separators=(",", ":")))
            self._dirty = False


def cache_file(folder: Path, choices: Sequence[Any]) -> Path:
    """Where the results of a choice of rules are kept. The name holds everything else that they depend on."""
    surroundings = [_FORMAT, VERSION, sys.version, _own_files(), _installed(), choices]
    key = digest(json.dumps(surroundings, sort_keys=True, default=str).encode())
    return folder / f"check-{key}.json"


def _own_files() -> list[tuple[str, int, int]]:
    """The files of the analysis itself: a changed rule must not be answered from the cache."""
    here = str(Path(__file__).parent)
    found = []
    for folder, folders, names in os.walk(here):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(names):
            status = os.stat(f"{folder}/{name}")  # noqa: PTH116
            found.append((f"{folder[len(here) :]}/{name}", status.st_size, status.st_mtime_ns))
    return found


def _installed() -> list[str]:
    """Names and versions of what is installed: rules may ask for the version of a framework."""
    names = []
    for place in sys.path:
        with contextlib.suppress(OSError):
            names += [name for name in os.listdir(place) if name.endswith((".dist-info", ".egg-info"))]  # noqa: PTH208
    return sorted(names)


def _write(place: Path, text: str) -> None:
    """Whole or not at all, by a name of its own: two runs at once must not disturb each other."""
    place.parent.mkdir(parents=True, exist_ok=True)
    top = place.parent.parent
    if top.name == ".netmend" and not (top / ".gitignore").exists():
        (top / ".gitignore").write_text("*\n", encoding="utf-8")
    new = place.with_suffix(f".{os.getpid()}.new")
    try:
        new.write_text(text, encoding="utf-8")
        new.replace(place)
    except OSError:
        with contextlib.suppress(OSError):
            new.unlink()
        raise
    others = sorted(place.parent.glob("check-*.json"), key=lambda file: file.stat().st_mtime, reverse=True)
    for other in others[_KEPT_FILES:]:
        other.unlink()
