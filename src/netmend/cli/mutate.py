"""`netmend mutate`: which faults of training a test set, or the tests of an agent, would notice, and what to add."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from netmend.cli.options import (
    Directory,
    OutputOptions,
    PageFile,
    Program,
    Quiet,
    ResultFile,
    expanded,
    refuse_bad_file,
    work_folder,
)
from netmend.cli.slips import started_program
from netmend.errors import UsageError
from netmend.trials.options import TrialOptions, option

if TYPE_CHECKING:
    from netmend.mutate.agents.result import RlStudy
    from netmend.mutate.options import MutateOptions
    from netmend.mutate.result import MutationResult


@dataclass(frozen=True)
class MutateOutput(OutputOptions):
    additions: Path | None = None
    least: float | None = None  # a score below which the exit code is 1

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_bad_file("--additions", self.additions)
        if self.least is not None and not 0 <= self.least <= 1:
            raise UsageError(f"--least must lie between 0 and 1, got {self.least:g}")

    @property
    def files(self) -> tuple[Path, ...]:
        return super().files if self.additions is None else (*super().files, self.additions)


@expanded
def mutate(
    context: typer.Context,
    *,
    program: Program = None,
    module: str | None = option(None, "Test a module, run as python -m does.", "-m", metavar="MODULE"),
    test: list[str] | None = option(
        None,
        "A DataLoader or Dataset of the script, X_test,y_test, a .npz file or file.py:function (default: what the "
        "program itself evaluates last); repeatable.",
        metavar="[NAME=]SET",
    ),
    subset: list[str] | None = option(
        None, "A part of a set: classes=0,1,2, first=50 or random=50.", metavar="NAME=SET:RULE"
    ),
    profile: str = option(
        "quick", "How many mutants, and how often each is trained.", metavar="quick|standard|full"
    ),
    operators: str = option("", "Only these operators (codes or their beginnings).", metavar="M101,M3"),
    weights: bool = option(True, "Also mutate the trained weights.", "--weights/--no-weights"),
    estimate: bool = option(False, "Train the program once, estimate the cost of the rest, and stop."),
    least: float | None = option(None, "End with exit code 1 below this score (for CI).", metavar="SCORE"),
    fails: str = option("", "For agents: when an episode counts as failed.", metavar="'return < 200'"),
    additions: Path | None = option(
        None, "Write inputs that the test set should add, as .npz.", metavar="FILE"
    ),
    json: ResultFile = None,
    html: PageFile = None,
    trials: TrialOptions,
    quiet: Quiet = False,
    directory: Directory = None,
) -> int:
    """Seed faults into a training script and see which of them its test data detects.

    Exit code 0: done; 1: the score is below --least. No file changes.
    """
    from netmend.mutate.agents import is_rl
    from netmend.mutate.options import MutateOptions

    script, arguments = started_program(context, module, program, quiet, "the script whose tests are tested")
    output = MutateOutput(json, html, quiet, additions, least)
    options = MutateOptions(
        tests=tuple(test or ()),
        subsets=tuple(subset or ()),
        profile=profile,
        operators=tuple(code.strip() for code in operators.split(",") if code.strip()),
        weights=weights,
        estimate_only=estimate,
        **vars(replace(trials, results=output.files)),
    ).checked()
    if module is None and is_rl(script):
        folder = work_folder(directory and directory.resolve(), quiet=quiet)
        return _of_agent(script, arguments, replace(options, directory=folder), output, fails)
    if fails:
        raise UsageError(f"--fails {fails!r} is for agents; a test set fails by its labels")
    return _of_test_sets(script, arguments, module is not None, options, output, directory)


def _of_test_sets(
    script: str,
    arguments: tuple[str, ...],
    is_module: bool,
    options: MutateOptions,
    output: MutateOutput,
    directory: Path | None,
) -> int:
    """The exit code: 0 done, 1 the score is below `--least`, 130 interrupted."""
    from netmend.cli.progress import MutateProgress
    from netmend.mutate.additions import write_added
    from netmend.mutate.session import INTERRUPTED
    from netmend.mutate.session import mutate as run_mutate
    from netmend.trials.opening import target_of

    target = target_of(script, arguments, is_module)
    folder = work_folder(directory and directory.resolve(), target.directory, output.quiet)
    with MutateProgress(output.quiet) as progress:
        result = run_mutate(target, replace(options, directory=folder), progress.show)
    if output.additions is not None:
        write_added(result, output.additions)
    output.show(result)
    if result.stopped == INTERRUPTED:
        return 130
    return _judged(result, output.least)


def _judged(result: MutationResult, least: float | None) -> int:
    from netmend.mutate.session import ESTIMATED

    if least is None or result.stopped == ESTIMATED or not result.sets:
        return 0
    score = result.sets[0].source.score
    return 0 if score is not None and score >= least else 1


def _of_agent(
    script: str, arguments: tuple[str, ...], options: MutateOptions, output: MutateOutput, fails: str
) -> int:
    """0 done, 1 no mutant could be scored or the score is below `--least`, 130 interrupted.

    `--test NAME=FILE.py:FUNCTION` names a generator of the user's own; the weak, strong and edge ones are always there.
    """
    from netmend.cli.progress import AgentProgress
    from netmend.mutate.agents.generators import parse_own
    from netmend.mutate.agents.options import RlOptions
    from netmend.mutate.agents.result import WEAK
    from netmend.mutate.agents.session import INTERRUPTED, options_of, study, target_of

    if options.subsets:
        raise UsageError(
            f"--subset {options.subsets[0]}: agents are tested from starts, not on a test set; give a generator with --test"
        )
    chosen = RlOptions(
        profile=options.profile,
        operators=options.operators,
        fails=fails,
        generators=options.tests,
        estimate_only=options.estimate_only,
        **options.of_trials(),
    )
    chosen = options_of(script, chosen)
    target = target_of(script, arguments, options.directory)
    with AgentProgress(output.quiet) as progress:
        result = study(target, chosen, progress.show)
    if output.additions is not None:
        write_starts(result, output.additions)
    output.show(result)
    if result.stopped == INTERRUPTED:
        return 130
    if options.estimate_only:
        return 0
    judged = parse_own(chosen.generators[0]).name if chosen.generators else WEAK
    score = result.score(judged)
    return 0 if score is not None and score >= (output.least or 0.0) else 1


def write_starts(result: RlStudy, file: Path) -> None:
    """The starts worth keeping, as rows of numbers; see `start_grid` for what they reveal."""
    import numpy as np

    with file.open("wb") as stream:
        np.savez(stream, starts=np.array([each.start for each in result.covering], dtype=np.float64))
