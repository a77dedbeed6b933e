"""What every search of trainings begins with: the program that is meant, where its trials run, what is being done now."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from netmend.errors import UsageError
from netmend.trials.local import LocalExecutor
from netmend.trials.options import TrialOptions
from netmend.trials.runner import Executor, Runner, memory_limit
from netmend.trials.trial import Limits, Outcome, Target, Trial

FIRST_SEEDS = (
    0,
    101,
)  # the program's own, then the second of repairs: what they trained is not trained again


def seeds_of(count: int) -> tuple[int, ...]:
    return (*FIRST_SEEDS, *range(102, 102 + count))[:count]


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


def executor_of(options: TrialOptions) -> Executor:
    if options.executor == "ray":
        from netmend.trials.on_ray import RayExecutor

        return RayExecutor(options.address, options.jobs)
    if options.executor != "local":
        raise UsageError(f"--executor must be local or ray, got {options.executor!r}")
    return LocalExecutor(options.jobs or os.cpu_count() or 1, options.threads)


def runner_of(
    target: Target,
    options: TrialOptions,
    ended: Callable[[Trial, Outcome], None],
    executor: Executor | None = None,
) -> Runner:
    """Runs the trials of one program as the options say; `ended` is called after each."""
    folder = (options.directory or Path(target.directory) / ".netmend") / "trials"
    executor = executor or executor_of(options)
    # The nodes of a cluster know their own memory; this machine's says nothing about them.
    memory = None if options.executor == "ray" else memory_limit(executor.jobs)
    limits = Limits(options.seconds, options.megabytes or memory, options.network, options.threads)
    return Runner(target, folder, executor, limits, ended, options.results)


class Stages:
    """Says what is being done: when a stage begins, and whenever a trial has ended."""

    def __init__(self, tell: Callable[[str, Outcome | None], None], first: str = "") -> None:
        self._tell, self.doing = tell, first

    def begin(self, doing: str) -> None:
        self.doing = doing
        self._tell(doing, None)

    def ended(self, trial: Trial, outcome: Outcome) -> None:
        self._tell(self.doing, outcome)
