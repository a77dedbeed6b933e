"""A trial as bytes, on its way to another machine and back."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from netmend.errors import UsageError
from netmend.trials import workspace
from netmend.trials.trial import Trial

MOST_BYTES = 512_000_000

Files = dict[
    str, tuple[int, int, Any]
]  # relative name → mode, date, content as an array: arrays are sent without copies


@dataclass(frozen=True)
class Parcel:
    """What a node needs to know of a trial besides the program's data, which all trials share."""

    trial: Trial
    sources: Files
    protected: tuple[str, ...]
    environment: dict[str, str]
    version: str
    given: Files = field(default_factory=dict)  # what an examination needs, beside the program


@dataclass(frozen=True)
class Answer:
    """What comes back: the outcome's text, where the trial ran, the files of its record."""

    outcome: str
    folder: str
    files: Files


def pack(folder: Path, names: Iterator[tuple[str, Path]] | None = None) -> Files:
    """Files of a folder, or those that are named; links are followed."""
    files: Files = {}
    total = 0
    for name, path in names if names is not None else _below(folder):
        with contextlib.suppress(OSError):  # what cannot be read here, the program would not have read either
            state = path.stat()
            total += state.st_size
            if total > MOST_BYTES:
                raise UsageError(
                    f"the files in {folder} are more than {MOST_BYTES / 1e6:.0f} MB, too much to send with every trial; "
                    "move the data to a place that all machines share, and let the program read it by its full path"
                )
            files[name] = (state.st_mode & 0o777, state.st_mtime_ns, np.fromfile(path, dtype=np.uint8))
    return files


def data_of(directory: Path) -> Files:
    """Everything in the program's folder that is no source: the same for all of its trials."""
    return pack(directory, _data(directory))


def _data(directory: Path) -> Iterator[tuple[str, Path]]:
    for entry in workspace.entries(directory):
        place = directory / entry.relative
        if entry.folder:
            yield from ((f"{entry.relative}/{name}", path) for name, path in _below(place))
        elif not entry.is_source:
            yield entry.relative, place


def _below(folder: Path) -> Iterator[tuple[str, Path]]:
    seen = set()
    for place, folders, files in os.walk(folder, followlinks=True):
        if os.path.realpath(place) in seen:  # links can lead in circles
            folders.clear()
            continue
        seen.add(os.path.realpath(place))
        for name in files:
            path = Path(place) / name
            if path.is_file():
                yield str(path.relative_to(folder)), path


def unpack(files: Files, folder: Path) -> None:
    for name, (mode, modified, content) in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            file.write(memoryview(content))
        path.chmod(mode | 0o200)
        os.utime(path, ns=(modified, modified))


def variables(directory: Path) -> dict[str, str]:
    """Environment variables that the program's sources name. The others are this machine's business."""
    names: set[str] = set()
    for entry in workspace.entries(directory):
        if entry.is_source and entry.relative.endswith(".py"):
            with contextlib.suppress(OSError):
                text = (directory / entry.relative).read_text(encoding="utf-8", errors="replace")
                names.update(re.findall(r"""["']([A-Za-z_]\w*)["']""", text))
    return {name: os.environ[name] for name in sorted(names & os.environ.keys()) if name not in _OF_MACHINE}


_OF_MACHINE = frozenset(
    ["PATH", "HOME", "USER", "LOGNAME", "HOSTNAME", "PWD", "SHELL", "TMPDIR", "PYTHONPATH"]
)
