"""Programs with a label each: what is wrong with them and on which lines a person would point to it.

`labels.json` lies beside the programs: name → {"entry": file, "causes": [{"code": leaf, "accept": [other right leaves], "places":
[[file, piece of the line], …]}, …], "launch": {"torchrun": processes}}. Programs without the mistake are in the folder `healthy`, or are
made by the edits of `references.json`.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from netmend.errors import UsageError
from netmend.vocabulary import Fault

FAULTY, HEALTHY = "faulty", "healthy"
_NEAR = 1  # lines beside the right one that still count


@dataclass(frozen=True)
class Expected:
    """One true cause: its leaf, all leaves that are right, and the lines (by file name) that are."""

    code: str
    accept: frozenset[str]
    places: tuple[tuple[str, int], ...]

    def is_at(self, fault: Fault) -> bool:
        if fault.site is None:
            return False
        file = Path(fault.site.file).name
        return any(name == file and abs(line - fault.site.line) <= _NEAR for name, line in self.places)


@dataclass(frozen=True)
class Labelled:
    """A program of a benchmark; `edits` are (file, old, new) and make the version without the mistake."""

    name: str
    kind: str
    entry: Path
    causes: tuple[Expected, ...] = ()
    processes: int = 1  # more than one: started by torchrun
    edits: tuple[tuple[str, str, str], ...] = ()

    def put(self, folder: Path) -> Path:
        """A copy in a folder of its own; its entry."""
        if self.entry.parent.name == self.name:
            shutil.copytree(
                self.entry.parent, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__")
            )
        else:
            shutil.copy2(self.entry, folder / self.entry.name)
        for name, old, new in self.edits:
            file = folder / name
            text = file.read_text(encoding="utf-8")
            if text.count(old) != 1:
                raise UsageError(
                    f"{self.name}: {old!r} stands {text.count(old)} times in {name}; once is needed"
                )
            file.write_text(text.replace(old, new), encoding="utf-8")
        return folder / self.entry.name


@dataclass(frozen=True)
class Judged:
    """What a diagnosis is worth beside the label."""

    detected: bool
    first: bool  # a true cause is told first
    third: bool  # … or among the first three
    line: bool  # a true cause among the first three is told at a right line


def judge(causes: Sequence[Expected], faults: Sequence[Fault]) -> Judged:
    right = [
        (rank, cause.is_at(fault))
        for rank, fault in enumerate(faults)
        for cause in causes
        if fault.cause in cause.accept
    ]
    return Judged(
        bool(faults),
        any(rank == 0 for rank, _ in right),
        any(rank < 3 for rank, _ in right),
        any(rank < 3 and at for rank, at in right),
    )


def programs_folder(benchmark: str) -> Path:
    folder = Path(str(files("bench") / "programs" / benchmark))
    if not (folder / "labels.json").is_file():
        raise UsageError(
            f"the programs of {benchmark} are not in this checkout ({folder} has no labels.json); restore them with git"
        )
    return folder


def programs(folder: Path) -> Iterator[Labelled]:
    """All programs of a folder in the order of their names, each followed by its version without the mistake if there is one."""
    labels = _read(folder / "labels.json")
    references = _read(folder / "references.json")
    for name, label in sorted(labels.items()):
        yield _labelled(folder, FAULTY, name, label)
        twin = folder / HEALTHY / label["entry"]
        if twin.is_file():
            yield Labelled(name, HEALTHY, twin, processes=_processes(label))
        elif name in references:
            edits = tuple((edit["file"], edit["old"], edit["new"]) for edit in references[name]["edits"])
            yield Labelled(name, HEALTHY, folder / label["entry"], (), _processes(label), edits)


def _labelled(folder: Path, kind: str, name: str, label: Mapping[str, Any]) -> Labelled:
    entry = folder / label["entry"]
    causes = tuple(
        Expected(
            cause["code"],
            frozenset(cause.get("accept", ())) | {cause["code"]},
            tuple((file, _line(entry.parent / file, name, text)) for file, text in cause.get("places", ())),
        )
        for cause in label.get("causes", ())
    )
    return Labelled(name, kind, entry, causes, _processes(label))


def _processes(label: Mapping[str, Any]) -> int:
    launch = label.get("launch") or {}
    return int(launch.get("torchrun", 1)) if isinstance(launch, Mapping) else 2


def _line(file: Path, name: str, text: str) -> int:
    numbers = [n for n, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1) if text in line]
    if len(numbers) != 1:
        raise UsageError(f"{name}: {text!r} is on {len(numbers)} lines of {file.name}; it must be on one")
    return numbers[0]


def _read(file: Path) -> dict[str, Any]:
    return dict(json.loads(file.read_text(encoding="utf-8"))) if file.is_file() else {}
