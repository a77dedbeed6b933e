"""`netmend neutral`: which other changes of a program do as well as a known fix, or as the best that is found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import typer

from netmend.cli.options import (
    Directory,
    OutputOptions,
    Program,
    Quiet,
    ResultFile,
    expanded,
    refuse_what_cannot_start,
    work_folder,
)
from netmend.cli.slips import started_program
from netmend.repair.options import Measure
from netmend.trials.options import TrialOptions, option


@expanded
def neutral(
    context: typer.Context,
    *,
    program: Program = None,
    module: str | None = option(None, "Analyse a module, run as python -m does.", "-m", metavar="MODULE"),
    fix: Path | None = option(None, "A version of the script known to be good.", metavar="FILE"),
    like: float | None = option(None, "The value to reach (default: the best one found).", metavar="VALUE"),
    budget: str = option("60x", "What the search may cost: trainings, or time.", metavar="60x|30m"),
    seeds: int = option(3, "Trainings per configuration.", least=1),
    width: int = option(5, "Configurations expanded at each depth.", least=1),
    depth: int = option(3, "Largest number of changes to the original program.", least=1),
    measure: Measure,
    json: ResultFile = None,
    html: Path | None = option(None, "Write the result as a page with the graph.", metavar="FILE"),
    trials: TrialOptions,
    quiet: Quiet = False,
    directory: Directory = None,
) -> int:
    """Find which other changes do as well as a known fix, or as the best one found, by training them.

    Exit code 0: alternatives were found; 1: none. No file changes.
    """
    from netmend.cli.progress import NeutralProgress
    from netmend.neutral.options import NeutralOptions
    from netmend.neutral.session import INTERRUPTED
    from netmend.neutral.session import neutral as run_neutral
    from netmend.repair.options import parse_budget
    from netmend.trials.opening import target_of

    script, arguments = started_program(context, module, program, quiet, "the script to analyse")
    counts, output = measure.checked(), OutputOptions(json, html, quiet)
    trials, cost = trials.checked(), parse_budget(budget)
    target = target_of(script, arguments, module is not None)
    folder = work_folder(directory, target.directory, quiet)
    trials = replace(trials, directory=folder, results=output.files)
    options = NeutralOptions(cost, counts, seeds, width, depth, fix, like, **vars(trials))
    with NeutralProgress(quiet) as progress:
        analysis = run_neutral(target, options, progress.show)
    if len(analysis.nodes) == 1:
        refuse_what_cannot_start(analysis.original.note)
    output.show(analysis)
    if analysis.stopped == INTERRUPTED:
        return 130
    return 0 if analysis.alternatives else 1
