"""A whole repair: train the program as it is, search, prove."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from netmend.errors import UsageError
from netmend.repair.budget import Budget
from netmend.repair.problem import Measure, Problem
from netmend.repair.result import Result
from netmend.repair.search import Search
from netmend.repair.version import Version
from netmend.trials.local import LocalExecutor
from netmend.trials.options import TrialOptions
from netmend.trials.runner import Executor, Runner, memory_limit
from netmend.trials.trial import Limits, Outcome, Target, Trial
from netmend.vocabulary.verification import Verification

Told = Callable[[str, Problem, Outcome | None], None]  # what is being done, how far it is, what just ended


@dataclass(frozen=True)
class RepairOptions(TrialOptions):
    budget: Budget = field(default_factory=Budget)
    measure: Measure = field(default_factory=Measure)
    strict: bool = False


def target_of(script: str, arguments: tuple[str, ...], is_module: bool) -> Target:
    """The program as it is started here; trials get a copy of the working directory, or of the script's when it lies elsewhere."""
    here = Path.cwd()
    if is_module:
        return Target(script, arguments, True, str(here))
    path = Path(script)
    if not path.is_file():
        raise UsageError(f"there is no file {script}; give the path of the script that trains")
    full = path.resolve()
    root = here.resolve()
    if not full.is_relative_to(root):
        root = full.parent
    return Target(str(full.relative_to(root)), arguments, False, str(root))


def make_executor(options: TrialOptions) -> Executor:
    if options.executor == "ray":
        from netmend.trials.on_ray import RayExecutor

        return RayExecutor(options.address, options.jobs)
    if options.executor != "local":
        raise UsageError(f"--executor must be local or ray, got {options.executor!r}")
    return LocalExecutor(options.jobs or os.cpu_count() or 1, options.threads)


def repair(
    target: Target,
    options: RepairOptions,
    prove: Callable[[Problem, Version, bool, bool], tuple[Verification, list[Outcome], list[Outcome]]],
    told: Told | None = None,
    executor: Executor | None = None,
) -> Result:
    """Find what to change so that the program learns, and prove it. `prove` is the next stage's work (verify/)."""
    folder = (options.directory or Path(target.directory) / ".netmend") / "trials"
    executor = executor or make_executor(options)
    # The nodes of a cluster know their own memory; this machine's says nothing about them.
    memory = None if options.executor == "ray" else memory_limit(executor.jobs)
    limits = Limits(options.seconds, options.megabytes or memory, options.network, options.threads)
    tell: Told = told or (lambda text, problem, outcome: None)
    doing = ["training the original program"]

    def ended(trial: Trial, outcome: Outcome) -> None:
        tell(doing[0], problem, outcome)

    runner = Runner(target, folder, executor, limits, ended, options.results)
    problem = Problem(runner, options.budget, options.measure)
    try:
        tell(doing[0], problem, None)
        baseline = problem.start()
        doing[0] = "searching"
        tell(doing[0], problem, None)
        search = Search(problem)
        version, best = search.run()
        verification: Verification | None = None
        before: list[Outcome] = []
        after: list[Outcome] = []
        healthy = search.diagnosis is not None and not search.diagnosis.faults
        if version.parts:
            doing[0] = "proving"
            tell(doing[0], problem, None)
            verification, before, after = prove(problem, version, options.strict, healthy)
    finally:
        runner.close()
    return Result(
        script=target.script,
        directory=target.directory,
        arguments=target.arguments,
        version=version,
        objective=problem.objective,
        baseline=baseline,
        best=best,
        diagnosis=search.diagnosis,
        attempts=tuple(search.attempts),
        verification=verification,
        trainings=problem.spent,
        seconds=runner.used.seconds,
        budget=str(options.budget),
        stopped=search.stopped,
        problems=tuple(search.problems),
        before=tuple(before),
        after=tuple(after),
    )
