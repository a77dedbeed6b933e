"""The repair study once more, with netmend: how much of the known fix's gain a search finds with 10, 20 and 50 trainings.

No fault of this benchmark was used for any rule, threshold or weight. What differs from the study: 22 of its 30 faults, as PyTorch programs, some of
them on stand-in data; the budget is counted in steps of the faulty program, not in seconds, and is the search's (the proof takes 10 to 20 trainings
more); values are taken on fresh seeds, and on other data than the search saw only where a program has both validation and test data.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import netmend
from bench.faults22.facts import BenchFault
from bench.faults22.programs import Written, write
from bench.improvement import average
from bench.repair_answer import RepairAnswer, answer_from
from bench.repairs22 import Method, repaired, with_netmend
from bench.trainings import settled
from netmend.repair.options import Budget
from netmend.trials import workspace
from netmend.trials.runner import Executor, versions
from netmend.vocabulary.verification import PROVEN


@dataclass(frozen=True)
class Search:
    """One search of the study and what came of it."""

    fault: str
    budget: int
    repetition: int
    answer: RepairAnswer


@dataclass(frozen=True)
class Work:
    """The searches that a study consists of, in the order in which they run: a larger budget finds the trials of the smaller one."""

    faults: tuple[BenchFault, ...]
    budgets: tuple[int, ...]
    repetitions: int

    def __iter__(self) -> Iterator[tuple[BenchFault, int, int]]:
        for fault in self.faults:
            for repetition in range(self.repetitions):
                for budget in sorted(self.budgets):
                    yield fault, budget, repetition

    def __len__(self) -> int:
        return len(self.faults) * self.repetitions * len(self.budgets)


def searched(
    work: Work,
    folder: Path,
    executor: Executor,
    told: Callable[[Search], None] = lambda search: None,
    beginning: Callable[[BenchFault, int, int], None] = lambda fault, budget, repetition: None,
    method: Method = with_netmend,
    name: str = "netmend",
) -> Iterator[Search]:
    """Carry the searches out, one after the other; each is kept in the folder and read from there the next time."""
    sides: dict[str, tuple[Written, Written]] = {}
    for fault, budget, repetition in work:
        beginning(fault, budget, repetition)
        place = folder / fault.id
        if fault.id not in sides:
            sides[fault.id] = _settled(fault, "buggy", place), _settled(fault, "fixed", place)
        buggy, fixed = sides[fault.id]
        kept = place / f"repair-{name}-{budget}x-{repetition}.json"
        answer = _read(kept, _stamp(buggy, fixed))
        if answer is None:
            answer = repaired(
                fault, buggy, fixed, place / "repair", executor, Budget(float(budget)), repetition, method
            )
            _keep(kept, _stamp(buggy, fixed), answer)
        made = Search(fault.id, budget, repetition, answer)
        told(made)
        yield made


def _settled(fault: BenchFault, side: str, place: Path) -> Written:
    made: list[Written] = []

    def put(folder: Path) -> Path:
        made.append(write(fault, side, folder))
        return made[0].entry

    entry = settled(put, place / side)
    return replace(made[0], entry=entry)


def rate_of(searches: Sequence[Search], fault: str, budget: int, proven_only: bool = False) -> float | None:
    """A fault's rate: the mean over repetitions; None when it was not searched so, or the known fix brings nothing."""
    answers = [s.answer for s in searches if s.fault == fault and s.budget == budget]
    if not answers or any(answer.improvement_rate is None for answer in answers):
        return None
    return average([a.improvement_rate if a.verdict == PROVEN or not proven_only else 0.0 for a in answers])


def comparable(searches: Sequence[Search]) -> tuple[str, ...]:
    """Faults that have a rate at every budget that was searched: over these all averages are taken, the published ones too."""
    budgets = {s.budget for s in searches}
    names = dict.fromkeys(s.fault for s in searches)
    return tuple(name for name in names if all(rate_of(searches, name, b) is not None for b in budgets))


def mean_rate(
    searches: Sequence[Search], budget: int, only: Sequence[str], proven_only: bool = False
) -> float | None:
    rates = [rate_of(searches, name, budget, proven_only) for name in only]
    return average(rates) if rates else None


# -- searches on disk ----------------------------------------------------------------------------------------------


def as_data(search: Search) -> dict[str, Any]:
    """For JSON; `from_data` reads it."""
    where = {"fault": search.fault, "budget": search.budget, "repetition": search.repetition}
    return where | search.answer.as_data()


def from_data(data: Mapping[str, Any]) -> Search:
    return Search(data["fault"], data["budget"], data["repetition"], answer_from(data))


def _keep(file: Path, stamp: str, answer: RepairAnswer) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_suffix(".new")
    temporary.write_text(json.dumps({"stamp": stamp, **answer.as_data()}), encoding="utf-8")
    temporary.replace(file)


def _read(file: Path, stamp: str) -> RepairAnswer | None:
    """What was kept, if it was made of the same programs by the same netmend."""
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        return answer_from(data) if data["stamp"] == stamp else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _stamp(buggy: Written, fixed: Written) -> str:
    digest = hashlib.sha256(f"{versions()} {_own_code()}".encode())
    for written in (buggy, fixed):
        digest.update(f"{workspace.fingerprint(written.entry.parent)} {written.pattern}".encode())
    return digest.hexdigest()[:24]


@cache
def _own_code() -> str:
    """Changes when netmend itself does: an answer of another state of it is not to be mixed with these."""
    digest = hashlib.sha256()
    for root in (Path(netmend.__file__).parent, Path(__file__).parent):
        for file in sorted(root.rglob("*.py")):
            if "programs" not in file.relative_to(root).parts:  # of other benchmarks
                digest.update(file.read_bytes())
    return digest.hexdigest()
