"""The corpus of training programs: what is in it, what is wrong with each program, and its recorded runs.

Parts: calibration (thresholds are set on it), heldout (figures are reported on it), bugs21 (the 21 bugs of a published study; they are diagnosed by `netmend bench bugs21`).
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).parent / "corpus"
SHIPPED = Path(__file__).parent / "bench/programs"  # those of `netmend bench`
RUNS = Path(__file__).parent / ".corpus-runs"  # recorded traces; may be deleted at any time
PARTS = ("calibration", "heldout", "bugs21")
TIME_LIMIT = 180.0  # seconds per program; they take about five


@dataclass(frozen=True)
class Place:
    """A line that a person would point to."""

    file: Path
    line: int


@dataclass(frozen=True)
class Expected:
    """One true cause of a program: its leaf, equally right leaves, and the lines that count as right."""

    code: str
    accept: frozenset[str]
    places: tuple[Place, ...]


@dataclass(frozen=True)
class Program:
    part: str
    kind: str  # healthy | faulty
    name: str
    entry: Path
    causes: tuple[Expected, ...]
    seeds: int
    severity: str = ""
    note: str = ""

    @property
    def fingerprint(self) -> str:
        """Changes when any file of the program does."""
        files = (
            sorted(self.entry.parent.rglob("*.*")) if self.entry.parent.name == self.name else [self.entry]
        )
        digest = hashlib.sha256()
        for file in files:
            if file.is_file() and "__pycache__" not in file.parts:
                digest.update(file.read_bytes())
        return digest.hexdigest()[:16]


def programs(part: str | None = None, kind: str | None = None, match: str = "") -> Iterator[Program]:
    """Programs in the order of their names; `match` is a part of the name."""
    found = [(labels, CORPUS) for labels in CORPUS.glob("**/labels.json")]
    found += [(labels, SHIPPED) for labels in SHIPPED.glob("bugs21/labels.json")]
    for labels, root in sorted(found):
        where = labels.relative_to(root).parts
        this_part, this_kind = where[0], where[1] if len(where) > 2 else "faulty"
        if part not in (None, this_part) or kind not in (None, this_kind):
            continue
        for name, label in sorted(json.loads(labels.read_text(encoding="utf-8")).items()):
            if match in name:
                yield _program(labels.parent, this_part, this_kind, name, label)


def _program(folder: Path, part: str, kind: str, name: str, label: dict) -> Program:
    entry = folder / label["entry"]
    causes = tuple(
        Expected(
            cause["code"],
            frozenset(cause.get("accept", ())) | {cause["code"]},
            tuple(_place(entry.parent, name, file, text) for file, text in cause.get("places", ())),
        )
        for cause in label.get("causes", ())
    )
    seeds = 3 if kind == "healthy" else label.get("seeds", 1)
    return Program(part, kind, name, entry, causes, seeds, label.get("severity", ""), label.get("note", ""))


def _place(folder: Path, name: str, file: str, text: str) -> Place:
    path = folder / file
    numbers = [
        number for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1) if text in line
    ]
    if len(numbers) != 1:
        raise SystemExit(f"{name}: {text!r} is on {len(numbers)} lines of {path.name}; it must be on one")
    return Place(path.resolve(), numbers[0])


def recorded(program: Program, seed: int) -> Path:
    """Where the run of a program lies once it was recorded."""
    return RUNS / program.part / program.kind / program.name / f"{program.fingerprint}-{seed}"


def record_all(found: list[Program], seeds: int | None = None, again: bool = False, jobs: int = 2) -> None:
    """Record what is missing, `jobs` at a time, telling how far it is.

    Programs run under `netmend run` in processes forked from one that has imported the framework already: importing it would take longer
    than most of them.
    """
    work = [(p, s) for p in found for s in range(seeds or p.seeds) if again or not _run_in(recorded(p, s))]
    if not work:
        return
    os.environ |= {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", "NETMEND_LIVE": "0"}
    server = multiprocessing.get_context("forkserver")
    server.set_forkserver_preload(["torch", "torch.utils.data", "netmend.cli.run", "netmend.cli.app"])
    begun, done = time.monotonic(), 0
    with ThreadPoolExecutor(jobs) as pool:
        for name, problem in pool.map(lambda item: _record(server, *item), work):
            done += 1
            left = (time.monotonic() - begun) / done * (len(work) - done)
            sys.stderr.write(f"\rrecorded {done} of {len(work)}, about {left:.0f} s left   ")
            if problem:
                sys.stderr.write(f"\n{name}: {problem}\n")
    sys.stderr.write("\n")


def _record(server: Any, program: Program, seed: int) -> tuple[str, str]:
    folder = recorded(program, seed)
    folder.mkdir(parents=True, exist_ok=True)
    for old in sorted(folder.glob("runs/**/*"), reverse=True):
        old.rmdir() if old.is_dir() else old.unlink()
    process = server.Process(target=_run_program, args=(str(program.entry), str(folder), seed))
    process.start()
    process.join(TIME_LIMIT)
    if process.is_alive():
        process.kill()
        return program.name, f"still running after {TIME_LIMIT:.0f} s"
    return program.name, "" if _run_in(folder) else "nothing was recorded; see output.txt"


def _run_program(entry: str, folder: str, seed: int) -> None:
    """In the forked process: become `netmend run`."""
    from netmend.cli import main

    output = os.open(f"{folder}/output.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.environ["SEED"] = str(seed)
    script = Path(entry)
    os.chdir(script.parent)
    sys.path.insert(0, "")
    main(["run", "-q", "--directory", folder, script.name])


def _run_in(folder: Path) -> Path | None:
    return next(iter(sorted(folder.glob("runs/*/trace*"))), None) and next(iter(folder.glob("runs/*")))


def run_of(program: Program, seed: int) -> Path | None:
    return _run_in(recorded(program, seed))
