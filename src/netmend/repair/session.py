"""A whole repair: train the program as it is, search, prove."""

from __future__ import annotations

from collections.abc import Callable

from netmend.repair.options import RepairOptions
from netmend.repair.problem import Problem
from netmend.repair.result import Result
from netmend.repair.search import Search
from netmend.repair.version import Version
from netmend.trials.opening import Stages, runner_of
from netmend.trials.runner import Executor
from netmend.trials.trial import Outcome, Target
from netmend.vocabulary.verification import Verification

Told = Callable[[str, Problem, Outcome | None], None]  # what is being done, how far it is, what just ended


def repair(
    target: Target,
    options: RepairOptions,
    prove: Callable[[Problem, Version, bool, bool], tuple[Verification, list[Outcome], list[Outcome]]],
    told: Told | None = None,
    executor: Executor | None = None,
) -> Result:
    """Find what to change so that the program learns, and prove it. `prove` is the next stage's work (verify/)."""
    stages = Stages(lambda doing, outcome: told(doing, problem, outcome) if told else None)
    runner = runner_of(target, options, stages.ended, executor)
    problem = Problem(runner, options.budget, options.measure)
    try:
        stages.begin("training the original program")
        baseline = problem.start()
        stages.begin("searching")
        search = Search(problem)
        version, best = search.run()
        verification: Verification | None = None
        before: list[Outcome] = []
        after: list[Outcome] = []
        healthy = search.diagnosis is not None and not search.diagnosis.faults
        if version.parts:
            stages.begin("proving")
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
