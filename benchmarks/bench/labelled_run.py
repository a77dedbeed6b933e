"""Labelled programs, run: each trained and watched as `netmend run` does it, its faults judged by its label."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.labelled import FAULTY, HEALTHY, Judged, Labelled, judge
from bench.launched import launched
from bench.machine import machine, today
from bench.outcomes import SCHEMA, Told
from bench.trainings import LONGEST, Training, Trainings, recorder_state, settled
from netmend.store import read_trace
from netmend.trials.runner import Executor
from netmend.trials.trial import Outcome
from netmend.trials.workspace import relocated
from netmend.vocabulary import Fault
from netmend.watching import judge as judged_run

Tell = Callable[[str, Outcome, bool], None]


@dataclass(frozen=True)
class LabelledRun:
    """One training of one program. `expected` is empty for a program without the mistake: anything told of it is a false alarm."""

    name: str
    kind: str
    seed: int
    status: str
    seconds: float
    diagnosis_seconds: float
    expected: tuple[str, ...]
    told: tuple[Told, ...]
    judged: Judged


def run_labelled(
    programs: Sequence[Labelled], work: Path, seeds: int, executor: Executor, tell: Tell
) -> list[LabelledRun]:
    """In the order of the programs, seeds of one together."""
    known = {(program.name, program.kind): program for program in programs}
    entries = {key: settled(program.put, work / key[0] / key[1]) for key, program in known.items()}

    def answer(training: Training, outcome: Outcome) -> LabelledRun:
        name, kind = training.name.rsplit(" ", 1)
        return _judged(known[name, kind], training.seed, outcome)

    def told(training: Training, outcome: Outcome, cached: bool) -> None:
        tell(training.name, outcome, cached)

    plan = [
        Training(f"{name} {kind}", entries[name, kind], _trials(work, name, kind), seed)
        for (name, kind), program in known.items()
        for seed in range(seeds)
        if program.processes == 1
    ]
    found = Trainings(executor, answer, told).run(plan)
    for (name, kind), program in known.items():
        for seed in range(seeds) if program.processes > 1 else ():
            place = _trials(work, name, kind)
            outcome, cached = launched(entries[name, kind], place, seed, program.processes, LONGEST)
            tell(f"{name} {kind}", outcome, cached)
            found.append(_judged(program, seed, outcome))
    order = {key: index for index, key in enumerate(known)}
    return sorted(found, key=lambda run: (order[run.name, run.kind], run.seed))


def _trials(work: Path, name: str, kind: str) -> Path:
    return work / name / f"{kind}-trials-{recorder_state()}"


def _judged(program: Labelled, seed: int, outcome: Outcome) -> LabelledRun:
    started = time.perf_counter()
    faults = _faults(Path(outcome.run), outcome) if outcome.run else ()
    seconds = time.perf_counter() - started
    told = tuple(
        Told(fault.cause, fault.confidence, fault.component, fault.site.line if fault.site else None)
        for fault in faults
    )
    return LabelledRun(
        program.name,
        program.kind,
        seed,
        outcome.status,
        round(outcome.seconds, 3),
        round(seconds, 3),
        tuple(cause.code for cause in program.causes),
        told,
        judge(program.causes, faults),
    )


def _faults(run: Path, outcome: Outcome) -> tuple[Fault, ...]:
    """As `netmend diagnose` tells them: the processes of a distributed run are compared with each other."""
    return judged_run(run, relocated(read_trace(run), outcome)).faults


def counts(runs: Sequence[LabelledRun]) -> dict[str, int]:
    """Totals over all trainings."""
    faulty = [run for run in runs if run.kind == FAULTY]
    healthy = [run for run in runs if run.kind == HEALTHY]
    return {
        "faulty": len(faulty),
        "detected": sum(run.judged.detected for run in faulty),
        "first": sum(run.judged.first for run in faulty),
        "third": sum(run.judged.third for run in faulty),
        "line": sum(run.judged.line for run in faulty),
        "healthy": len(healthy),
        "alarms": sum(run.judged.detected for run in healthy),
    }


def as_json(
    benchmark: str, runs: Sequence[LabelledRun], seeds: int, jobs: int, published: Mapping[str, Any]
) -> str:
    """Schema 1: every training's answer; `summary` and the tables are made from them."""
    data = {
        "schema": SCHEMA,
        "benchmark": benchmark,
        "date": today(),
        "machine": machine(jobs),
        "seeds": seeds,
        "runs": [asdict(run) for run in runs],
        "summary": counts(runs),
        "published": dict(published),
    }
    return json.dumps(data, indent=1) + "\n"
