"""`netmend repair` on a program of the 22 faults, and what its patch is worth beside the known fix on fresh seeds."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import netmend
from bench.codes import answer_of
from bench.faults22.facts import BenchFault
from bench.faults22.programs import Written
from bench.improvement import (
    SEEDS,
    Side,
    changed_lines,
    helps,
    improvement_rate,
    reaches,
    side,
    unlearned,
)
from bench.patch_atoms import faults_of_changes
from bench.repair_answer import OTHER_DATA, SAME_DATA, RepairAnswer
from bench.trainings import recorder_state
from netmend.repair.objective import Objective
from netmend.repair.options import Budget, RepairOptions
from netmend.repair.result import Result
from netmend.repair.session import repair
from netmend.trials.runner import Executor, Runner
from netmend.trials.trial import Outcome, Target, Trial
from netmend.vocabulary.verification import PROVEN

_SHIFT = 100_000  # between the seeds of one repetition of a search and those of the next
_VALIDATION = {"val", "valid", "validation", "dev"}

Method = Callable[[Target, Path, Executor, Budget], Result]


class Shifted:
    """An executor whose trials have other seeds: the same search once more, with other luck. Stays open for the next search."""

    def __init__(self, executor: Executor, by: int = 0) -> None:
        self.jobs = executor.jobs
        self._executor = executor
        self._by = by

    def run(
        self, folder: Path, trial: Trial, protected: tuple[str, ...], stopping: Callable[[], bool]
    ) -> Outcome:
        return self._executor.run(folder, replace(trial, seed=trial.seed + self._by), protected, stopping)

    def close(self) -> None:
        """Left to who made the executor: starting it again takes longer than many a training."""


def with_netmend(target: Target, folder: Path, executor: Executor, budget: Budget) -> Result:
    """As `netmend repair train.py` does it, told nothing about the program."""
    from netmend.verify.verify import verify

    return repair(target, RepairOptions(budget=budget, directory=folder), verify, executor=executor)


def repaired(
    fault: BenchFault,
    buggy: Written,
    fixed: Written,
    folder: Path,
    executor: Executor,
    budget: Budget,
    repetition: int = 0,
    method: Method = with_netmend,
) -> RepairAnswer:
    """Repair the buggy program, then train it, its patched version and the known fix on seeds that nothing has used.

    Trials lie in the folder: the same call again reads them. Other repetitions of the search have seeds and folders of their own.
    """
    target = Target(buggy.entry.name, (), False, str(buggy.entry.parent))
    folder = folder / _judging_state()
    place = folder if repetition == 0 else folder / f"repetition-{repetition}"
    found = method(target, place, Shifted(executor, _SHIFT * repetition), budget)
    objective = Objective("pattern", buggy.higher_is_better, True)
    runner = Runner(target, folder / "trials", Shifted(executor))
    version = found.version
    patched = replace(target, arguments=version.current_arguments)
    texts = tuple(sorted(version.texts.items()))
    trials = [Trial(target, (), seed, pattern=buggy.pattern) for seed in SEEDS]
    if version.parts:
        trials += [Trial(patched, texts, seed, pattern=buggy.pattern) for seed in SEEDS]
    outcomes = runner.run(trials)
    known = Target(fixed.entry.name, (), False, str(fixed.entry.parent))
    best = Runner(known, folder / "fixed-trials", Shifted(executor)).run(
        [Trial(known, (), seed, pattern=fixed.pattern) for seed in SEEDS]
    )
    sides = {
        "buggy": side(objective, outcomes[: len(SEEDS)]),
        "patched": side(objective, outcomes[-len(SEEDS) :]),
        "fixed": side(objective, best),
    }
    return _answer(fault, buggy, found, sides, unlearned(objective, best[0]))


def _answer(
    fault: BenchFault, buggy: Written, found: Result, sides: dict[str, Side], start: float | None
) -> RepairAnswer:
    version = found.version
    told = found.diagnosis.faults if found.diagnosis is not None else ()
    proven = found.verdict == PROVEN
    causes = faults_of_changes(version, buggy) if proven else ()
    before, after = sides["buggy"].mean, sides["patched"].mean
    base = start if before is None else before
    gains = helps(buggy.higher_is_better, base, sides["fixed"])
    rate = improvement_rate(base, sides["fixed"].mean, after) if version.parts else 0.0
    return RepairAnswer(
        atoms=answer_of((*told, *causes), buggy),
        verdict=found.verdict,
        titles=found.titles,
        value_patched=after,
        value_buggy=before,
        value_fixed=sides["fixed"].mean,
        improvement_rate=rate if gains else None,
        trainings=round(found.trainings, 2),
        seconds=round(found.seconds, 1),
        proof_trainings=found.verification.trainings if found.verification else 0,
        verified=proven and reaches(buggy.higher_is_better, base, sides["fixed"], after),
        changes=len(version.parts),
        lines=sum(changed_lines(version.originals[f], text) for f, text in version.texts.items()),
        known_changes=sum(max(1, len(atom.layers)) for atom in fault.truth),
        hold_out=_hold_out(found.objective, buggy.pattern),
        values={name: one.values for name, one in sides.items()},
    )


@functools.cache
def _judging_state() -> str:
    """Changes with what an outcome says about a training: what was seen of it, and the faults that were told."""
    root = Path(netmend.__file__).parent
    digest = hashlib.sha256(recorder_state().encode())
    for folder in ("diagnose", "localise"):
        for file in sorted((root / folder).rglob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:8]


def _hold_out(objective: Objective | None, pattern: str) -> str:
    """Whether the search looked at other data than what the score is taken on."""
    words = set(objective.series.replace(":", " ").split()) if objective is not None else set()
    return OTHER_DATA if words & _VALIDATION and "test" in pattern else SAME_DATA
