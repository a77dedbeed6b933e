"""The 22 faults, run: every program trained over seeds, watched as `netmend run` watches, and its faults told as codes.

These programs are for measuring. No rule, threshold, weight or table of netmend may be chosen by what comes out here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.codes import answer_of
from bench.faults22.facts import BenchFault
from bench.faults22.programs import Written, write
from bench.machine import machine, today
from bench.outcomes import BUGGY, FIXED, Fault22, Result22, Run22, Told
from bench.repair_study import Work, searched
from bench.trainings import Training, Trainings, recorder_state, settled
from netmend.store import read_trace
from netmend.trials.runner import Executor
from netmend.trials.trial import Outcome
from netmend.trials.workspace import relocated
from netmend.watching import judge as judge_run

Tell = Callable[[str, Outcome | None, bool], None]  # what has ended, how, whether it was known before
Begin = Callable[[str, int], None]  # a stage, and how many pieces of work it has


@dataclass(frozen=True)
class Options22:
    """How much to run, and where it is kept."""

    work: Path
    seeds: int = 5
    stability: int = 20  # trainings of the buggy side; 0: as many as there are seeds
    repair: bool = True
    trainings: int = 20  # that a repair may cost

    @property
    def buggy(self) -> int:
        return max(self.seeds, self.stability)


def localise(
    faults: Sequence[BenchFault], options: Options22, executor: Executor, tell: Tell, begin: Begin
) -> Result22:
    """Train, diagnose and repair. What was trained before is read; an interrupted call goes on where it was."""
    written = {
        (fault.id, side): _written(fault, side, options) for fault in faults for side in (BUGGY, FIXED)
    }

    def judge(training: Training, outcome: Outcome) -> Run22:
        name, side = training.name.split()
        return judged(written[name, side], side, training.seed, outcome)

    def told(training: Training, outcome: Outcome, known: bool) -> None:
        tell(training.name, outcome, known)

    plan = [training for fault in faults for training in _plan(fault, written, options)]
    begin("training", len(plan))
    runs = Trainings(executor, judge, told).run(plan)
    if options.repair:
        begin("repairing", len(faults))
    found = []
    for fault in faults:
        own = tuple(
            run for training, run in zip(plan, runs, strict=True) if training.name.split()[0] == fault.id
        )
        repair = _repair(fault, options, executor) if options.repair else None
        if repair is not None:
            tell(f"{fault.id} repair", None, False)
        found.append(Fault22(fault.id, fault.data, fault.stand_in, fault.reductions, own, repair))
    return Result22(today(), machine(executor.jobs), options.seeds, options.stability, tuple(found))


def judged(written: Written, side: str, seed: int, outcome: Outcome) -> Run22:
    """The answer that `netmend run` gives after one training; none where nothing was recorded."""
    started = time.perf_counter()
    run = Path(outcome.run)
    faults = judge_run(run, relocated(read_trace(run), outcome)).faults if outcome.run else ()
    seconds = time.perf_counter() - started
    told = tuple(
        Told(fault.cause, fault.confidence, fault.component, fault.site.line if fault.site else None)
        for fault in faults
    )
    return Run22(
        side,
        seed,
        outcome.status,
        outcome.last("pattern"),
        round(outcome.seconds, 3),
        round(seconds, 3),
        told,
        answer_of(faults, written),
    )


def _written(fault: BenchFault, side: str, options: Options22) -> Written:
    """The program in its folder. Paths in it are the same on every call, and so are the files."""
    made: list[Written] = []

    def put(folder: Path) -> Path:
        made.append(write(fault, side, folder))
        return made[0].entry

    entry = settled(put, options.work / "faults22" / fault.id / side)
    return replace(made[0], entry=entry)


def _plan(
    fault: BenchFault, written: dict[tuple[str, str], Written], options: Options22
) -> Iterator[Training]:
    for side, count in ((BUGGY, options.buggy), (FIXED, options.seeds)):
        program = written[fault.id, side]
        trials = options.work / "faults22" / fault.id / f"{side}-trials-{recorder_state()}"
        for seed in range(count):
            yield Training(f"{fault.id} {side}", program.entry, trials, seed, program.pattern)


def _repair(fault: BenchFault, options: Options22, executor: Executor) -> dict[str, Any]:
    """One search, kept where the repair study (`netmend bench repair`) keeps its own: what either has found, both have."""
    work = Work((fault,), (options.trainings,), 1)
    (search,) = searched(work, options.work / "faults22", executor)
    return search.answer.as_data() | {"is_small": search.answer.is_small}
