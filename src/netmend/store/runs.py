"""Runs: where runs are kept, how they are named and found again, what they were judged to be."""

from __future__ import annotations

import contextlib
import difflib
import os
import re
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from netmend.errors import RunNotFound, RunUnreadable
from netmend.store.codec import from_json, to_json
from netmend.store.places import home, spare
from netmend.store.reader import read_run
from netmend.store.schema import trace_file
from netmend.vocabulary.facts import RunFact

FILE = "judged.json"


@dataclass(frozen=True)
class KeptFault:
    """A fault that was told, in a line."""

    cause: str
    title: str
    confidence: float
    place: str = ""  # file:line


@dataclass(frozen=True)
class Judged:
    """The verdict, the faults that were told, most likely first, and what the run came to."""

    verdict: str
    reason: str = ""
    faults: tuple[KeptFault, ...] = ()
    loss: float | None = None  # of training, at the end
    metric: float | None = None  # of the last evaluation, else of training
    metric_name: str = ""  # accuracy, R²
    netmend_version: str = ""


def write_judged(run: Path, judged: Judged) -> None:
    """Whole or not at all; a run on a read-only medium goes without."""
    with contextlib.suppress(OSError):
        handle, name = tempfile.mkstemp(dir=run, prefix=".judged")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(to_json(judged))
        Path(name).replace(run / FILE)


def read_judged(run: Path) -> Judged | None:
    """None where the run was not judged, or what is there cannot be read."""
    try:
        return from_json(Judged, (run / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


LETTERS = "23456789abcdefghjkmnpqrstuvwxyz"  # nothing that is mistaken for something else
NEWEST = ("last", "latest")


@dataclass(frozen=True)
class RunInfo:
    """One line of a list of runs; `problem` says why the run cannot be read."""

    id: str
    path: Path
    run: RunFact | None
    problem: str | None
    judged: Judged | None = None  # None: it was not judged yet


def runs_root(start: Path | None = None) -> Path:
    """The directory that holds runs: below $NETMEND_DIR, or below `.netmend` in the working directory."""
    return home(start=start) / "runs"


def new_run_id(now: float) -> str:
    """A name that sorts by time. Its end is drawn from the system, not from `random`: that state is the user's."""
    tail = "".join(LETTERS[byte % len(LETTERS)] for byte in os.urandom(3))
    return f"{time.strftime('%Y-%m-%d-%H%M%S', time.localtime(now))}-{tail}"


def list_runs(root: Path) -> list[RunInfo]:
    """All runs, the newest first; unreadable ones carry their problem."""
    infos = [describe(path) for path in run_directories(root)]
    return sorted(infos, key=lambda info: (age_key(info), info.id), reverse=True)


def run_directories(root: Path) -> list[Path]:
    """The runs of a root, and those that are kept elsewhere because it could not be written."""
    found: list[Path] = []
    for folder in (root, spare(root)):
        with contextlib.suppress(OSError):
            found += [path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")]
    return sorted(found, key=lambda path: path.name)


def recorded_ranks(path: Path) -> list[int]:
    """The ranks whose traces a run directory holds."""
    found = [re.fullmatch(r"trace(?:-rank(\d+))?\.sqlite", file.name) for file in path.glob("trace*.sqlite")]
    return sorted(int(match[1] or 0) for match in found if match)


def describe(path: Path) -> RunInfo:
    try:
        run = read_run(path)
    except RunUnreadable as error:
        return RunInfo(path.name, path, None, str(error))
    problem = None if run is not None else f"{path} holds a trace without a fact about the run"
    return RunInfo(path.name, path, run, problem, read_judged(path))


def age_key(info: RunInfo) -> float:
    if info.run is not None and info.run.started > 0:
        return info.run.started
    try:
        return info.path.stat().st_mtime
    except OSError:
        return 0.0


def find_run(root: Path, name: str) -> Path:
    """The directory of a run: by id, by the beginning of its id, "last", or by path."""
    directories = {path.name: path for path in run_directories(root)}
    if name in directories:
        return directories[name]
    given = Path(name).expanduser() if name else root / "."
    if name and trace_file(given).is_file():
        return given
    if name and given.is_file() and given.suffix == ".sqlite":
        return given.parent
    if not directories:
        raise RunNotFound(f"no runs yet under {root}; record one with: netmend run train.py")
    if name in NEWEST:
        return list_runs(root)[0].path
    starting = [directory for directory in directories if name and directory.startswith(name)]
    if len(starting) == 1:
        return directories[starting[0]]
    if starting:
        shown = ", ".join(starting[-3:]) + (", …" if len(starting) > 3 else "")
        raise RunNotFound(f"{name!r} fits {len(starting)} runs ({shown}); give more of the name")
    near = difflib.get_close_matches(name, [*directories, *NEWEST], n=1, cutoff=0.5)
    advice = f"did you mean {near[0]}?" if near else "see the runs there are with: netmend runs"
    raise RunNotFound(f"no run {name!r} under {root}; {advice}")
