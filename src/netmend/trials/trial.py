"""Trial and Outcome: one training of one variant of a program, and what came of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from netmend.version import VERSION

FINISHED = "finished"  # ran to its end
FAILED = "failed"  # raised, or left with an exit code
STOPPED = "stopped"  # given up early: behind the program as it was
TIMED_OUT = "timed out"
OUT_OF_MEMORY = "out of memory"
LOST = "lost"  # its process went away without a word: killed, crashed, a node that is gone

FORMAT = 5  # of the outcomes; older ones are not read


@dataclass(frozen=True)
class Target:
    """The program that is tried, as the user starts it."""

    script: str  # path of the script, relative to the directory; or the name of a module
    arguments: tuple[str, ...] = ()
    is_module: bool = False
    directory: str = ""  # where the user starts it; its files are what trials get a copy of


@dataclass(frozen=True)
class Rule:
    """When to give a trial up: at or after a step, its measure is no better than the limit for that step."""

    series: str  # name of the series in the outcome
    higher_is_better: bool
    limits: tuple[tuple[int, float], ...]  # from this step on, this limit holds


@dataclass(frozen=True)
class Limits:
    """What a trial may use."""

    seconds: float | None = None
    megabytes: int | None = None
    network: bool = False
    threads: int = 1


@dataclass(frozen=True)
class Trial:
    """Program, what is different in it, seed, budget."""

    target: Target
    texts: tuple[tuple[str, str], ...] = ()  # relative names of files and their texts in this trial
    seed: int = 0  # 0: the program's own seeds; others move every seed that it sets
    rule: Rule | None = None
    limits: Limits = Limits()
    pattern: str = ""  # the user's own measure: a regular expression over the output
    measure_file: str = ""  # or a file that the program writes a number to
    overhead: float = 0.05  # share of the time that watching may cost; 0: not watched
    examination: tuple[str, str] = (
        "",
        "",
    )  # a module that looks at the trained model, and its options; see examination.py
    keeps_data: bool = False  # seeds are moved from the first model on only; see seeds.py

    def key(self, fingerprint: str) -> str:
        """Names the trial by its content: the same trial of the same files has the same key."""
        what = asdict(self)
        what["target"].pop("directory")
        if not self.examination[0]:
            what.pop("examination")
        if not self.keeps_data:
            what.pop("keeps_data")
        limits = what.pop("limits")  # time and memory change whether it ends, not what it computes
        kept = {name: limits[name] for name in ("network", "threads")}
        text = json.dumps([FORMAT, VERSION, fingerprint, what, kept], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]


@dataclass(frozen=True)
class Outcome:
    """What came of a trial. Series are lists of [step, value]; their names say where they come from."""

    status: str
    steps: int = 0
    seconds: float = 0.0
    exit_code: int | None = None
    exception: str = ""
    series: Mapping[str, list[list[float]]] = field(default_factory=dict)
    symptoms: tuple[str, ...] = ()  # codes of the detectors that spoke
    output: str = ""  # the end of what it printed
    run: str = ""  # directory of the recorded run
    root: str = ""  # where the program's files lay
    attempts: int = 1
    notes: tuple[str, ...] = ()  # what the trial was refused: network, writing elsewhere
    faults: tuple[str, ...] = ()  # causes that its diagnosis tells

    @property
    def ran(self) -> bool:
        return self.status == FINISHED

    def last(self, name: str) -> float | None:
        points = self.series.get(name)
        return points[-1][1] if points else None


def to_json(outcome: Outcome) -> str:
    return json.dumps({"format": FORMAT, **asdict(outcome)})


def from_json(text: str) -> Outcome | None:
    """None for a text of another version, or half a text."""
    try:
        data: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or data.pop("format", None) != FORMAT or "status" not in data:
        return None
    known = {item.name for item in fields(Outcome)}
    kept = {name: value for name, value in data.items() if name in known}
    for name in ("symptoms", "notes", "faults"):
        kept[name] = tuple(kept.get(name, ()))
    return Outcome(**kept)
