"""What running the 22 faults gives, kept as data: every answer of every training, so that all tables can be made again without running.

Schema 1 of the result file (`netmend bench faults22 --json FILE`)::

    {"schema": 1, "benchmark": "faults22", "date": …, "machine": {…}, "seeds": 5, "stability": 20,
     "faults": [{"id": "D1", "data": …, "stand_in": …, "reductions": […],
                 "runs": [{"side": "buggy", "seed": 0, "status": "finished", "value": 0.52, "seconds": 2.1,
                           "diagnosis_seconds": 0.1, "told": [{"cause": "ACT-OUT-WRONG", "confidence": 0.9,
                           "component": "model.7", "line": 31}], "answer": ["ACH(7)"]}, …],
                 "repair": {…} or null}, …],
     "summary": {…}}                       what the tables show; made from the rest
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from bench.faults22.facts import Atom
from netmend.errors import UsageError

SCHEMA = 1
BUGGY, FIXED = "buggy", "fixed"
_ATOM = re.compile(r"([A-Z][A-Z0-9-]*)(?:\(([0-9]+(?:,[0-9]+)*)\))?")


@dataclass(frozen=True)
class Told:
    """A fault that the diagnosis of one training told."""

    cause: str
    confidence: float
    component: str = ""
    line: int | None = None


@dataclass(frozen=True)
class Run22:
    """One training of one side of a fault."""

    side: str
    seed: int
    status: str
    value: float | None  # of the printed final metric
    seconds: float  # of the training, watched
    diagnosis_seconds: float  # from its end to the answer
    told: tuple[Told, ...] = ()
    answer: tuple[Atom, ...] = ()


@dataclass(frozen=True)
class Fault22:
    """All trainings of one fault, and its repair when one was asked for."""

    id: str
    data: str
    stand_in: str = ""  # what is used in place of the true data; "": the true data
    reductions: tuple[str, ...] = ()  # what is smaller than in the study
    runs: tuple[Run22, ...] = ()
    repair: Mapping[str, Any] | None = None  # of bench/repairs22.py, its atoms as text

    def of(self, side: str, most: int | None = None) -> tuple[Run22, ...]:
        """The trainings of a side in the order of their seeds, the first ones only if asked so."""
        found = sorted((run for run in self.runs if run.side == side), key=lambda run: run.seed)
        return tuple(found[:most])


@dataclass(frozen=True)
class Result22:
    """One run of the benchmark."""

    date: str
    machine: Mapping[str, Any]
    seeds: int
    stability: int
    faults: tuple[Fault22, ...] = field(default_factory=tuple)


def spelled(atom: Atom) -> str:
    """As `parsed` reads it."""
    return str(atom)


def parsed(text: str) -> Atom:
    """An atom as it is spelled; unlike one of the study's it may be a cause that has none of the fourteen codes."""
    found = _ATOM.fullmatch(text)
    if found is None:
        raise UsageError(f"{text!r} is no fault code; they look like HLR or ACH(0,2)")
    return Atom(found[1], tuple(int(layer) for layer in (found[2] or "").split(",") if layer))


def as_json(result: Result22, summary: Mapping[str, Any] | None = None) -> str:
    data = {
        "schema": SCHEMA,
        "benchmark": "faults22",
        "date": result.date,
        "machine": dict(result.machine),
        "seeds": result.seeds,
        "stability": result.stability,
        "faults": [_fault(fault) for fault in result.faults],
        "summary": dict(summary or {}),
    }
    return json.dumps(data, indent=1) + "\n"


def read(file: Path) -> Result22:
    """A result file; UsageError says what is wrong with one that cannot be read."""
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        if data.get("schema") != SCHEMA or data.get("benchmark") != "faults22":
            raise UsageError(
                f"{file} is no result of this version's faults22 (schema {data.get('schema')!r}, benchmark "
                f"{data.get('benchmark')!r}); make it again with: netmend bench faults22 --json {file}"
            )
        faults = tuple(_read_fault(item) for item in data["faults"])
        return Result22(data["date"], data["machine"], data["seeds"], data["stability"], faults)
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as problem:
        raise UsageError(
            f"{file} cannot be read as a result of faults22 ({type(problem).__name__}: {problem}); "
            f"make it again with: netmend bench faults22 --json {file}"
        ) from None


def _fault(fault: Fault22) -> dict[str, Any]:
    runs = [asdict(run) | {"answer": [spelled(atom) for atom in run.answer]} for run in fault.runs]
    return asdict(fault) | {"runs": runs, "repair": None if fault.repair is None else dict(fault.repair)}


def _read_fault(data: dict[str, Any]) -> Fault22:
    known = {item.name for item in fields(Fault22)}
    kept = {name: value for name, value in data.items() if name in known}
    runs = tuple(_read_run(run) for run in data["runs"])
    return Fault22(**kept | {"runs": runs, "reductions": tuple(data.get("reductions", ()))})


def _read_run(data: dict[str, Any]) -> Run22:
    told = tuple(Told(**item) for item in data["told"])
    return Run22(**data | {"told": told, "answer": atoms(data["answer"])})


def atoms(texts: Iterable[str]) -> tuple[Atom, ...]:
    return tuple(parsed(text) for text in texts)
