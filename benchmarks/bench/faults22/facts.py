"""The published facts of the 22 faults: what is wrong, what else repairs it, what other tools answered."""

from __future__ import annotations

import difflib
import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from bench.datasets.catalog import STAND_INS
from bench.faults22.configuration import Configuration, parse
from bench.faults22.sizes import PORTS
from netmend.errors import UsageError

FILE = "faults22.json"  # collected from the study and the repositories named in its field "sources"
_ATOM = re.compile(r"([A-Z]{3})(?:\((\d+(?:,\d+)*)\))?$")


@dataclass(frozen=True)
class Atom:
    """A fault code and the layers it is said of; a code about the whole program has none."""

    code: str
    layers: tuple[int, ...] = ()

    def __str__(self) -> str:
        return self.code + (f"({','.join(map(str, self.layers))})" if self.layers else "")


@dataclass(frozen=True)
class Published:
    """What another tool answered, and its scores (recall, precision, F3) as printed."""

    output: tuple[Atom, ...] | None  # None: it could not run, or (GPT4) only its scores were kept
    applicable: bool
    before: tuple[float, float, float]
    after: tuple[float, float, float]
    seconds: float | None


@dataclass(frozen=True)
class BenchFault:
    """One of the 22 faults."""

    id: str
    kind: str  # "real" or "artificial"
    title: str
    task: str
    truth: tuple[Atom, ...]
    alternatives: tuple[tuple[Atom, ...], ...]  # sets of changes that also reach the known fix
    published: Mapping[str, Published]  # DFD, DD, NL, UM, GPT4
    data: str
    stand_in: str  # "" where the program runs on the data of the study
    buggy: Configuration
    fixed: Configuration
    reductions: tuple[str, ...] = ()  # what the port makes smaller than published, and why
    study_buggy: float | None = None  # mean metric of the buggy program in the study
    study_repaired: tuple[float, float] | None = None  # metrics of the repairs that the study accepted
    notes: tuple[str, ...] = ()


@functools.cache
def raw() -> Mapping[str, Any]:
    text = (files("bench") / "data" / FILE).read_text(encoding="utf-8")
    content: Mapping[str, Any] = json.loads(text)
    return content


def codes() -> Mapping[str, str]:
    """The fourteen fault codes and what they mean."""
    known: Mapping[str, str] = raw()["fault_codes"]
    return known


@functools.cache
def faults() -> tuple[BenchFault, ...]:
    return tuple(_fault(item) for item in raw()["faults"])


def fault(id: str) -> BenchFault:
    known = {item.id: item for item in faults()}
    if id.upper() in known:
        return known[id.upper()]
    close = difflib.get_close_matches(id.upper(), known, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(close)}?" if close else f"known are {', '.join(known)}"
    raise UsageError(f"the benchmark has no fault {id!r}; {hint}")


def atom(text: str) -> Atom:
    """'ACH(0,2)' as data."""
    found = _ATOM.match(text)
    if found is None or found.group(1) not in codes():
        raise UsageError(f"{text!r} is not a fault code: write a code, or a code with layers, as in ACH(0,2)")
    layers = tuple(int(number) for number in (found.group(2) or "").split(",") if number)
    return Atom(found.group(1), layers)


def _fault(item: Mapping[str, Any]) -> BenchFault:
    neutrality = item["neutrality"]
    least, most = neutrality["metric_alternatives_min"], neutrality["metric_alternatives_max"]
    return BenchFault(
        id=item["id"],
        kind=item["kind"],
        title=item["title"],
        task=item["task"],
        truth=_atoms(item["ground_truth"]),
        alternatives=tuple(tuple(atom(text) for text in one) for one in neutrality["unique_code_sets"]),
        published={tool: _published(answer) for tool, answer in item["published"].items()},
        data=item["data"]["name"],
        stand_in=STAND_INS.get(PORTS[item["id"]].data, ""),
        buggy=parse(item["buggy"]),
        fixed=parse(item["fixed"]),
        reductions=PORTS[item["id"]].reductions,
        study_buggy=neutrality["metric_buggy_mean"],
        study_repaired=None if least is None else (least, most),
        notes=tuple(item["notes"]),
    )


def _atoms(items: list[Mapping[str, Any]]) -> tuple[Atom, ...]:
    return tuple(Atom(item["code"], tuple(item["layers"])) for item in items)


def _published(answer: Mapping[str, Any]) -> Published:
    output = answer["output"]
    return Published(
        output=None if output is None else _atoms(output),
        applicable=answer.get("applicable", True),
        before=_scores(answer["before"]),
        after=_scores(answer["after"]),
        seconds=answer["seconds"],
    )


def _scores(item: Mapping[str, float]) -> tuple[float, float, float]:
    return float(item["RC"]), float(item["PR"]), float(item["F3"])
