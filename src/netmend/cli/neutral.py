"""`netmend neutral`: which other changes of a program do as well as a known fix, or as the best that is found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from netmend.cli.options import (
    Directory,
    MeasureOptions,
    OutputOptions,
    Program,
    Quiet,
    ResultFile,
    expanded,
    refuse_what_cannot_start,
    work_folder,
)
from netmend.cli.slips import started_program
from netmend.trials.options import TrialOptions


@expanded
def neutral(
    context: typer.Context,
    *,
    program: Program = None,
    module: Annotated[
        str | None, typer.Option("-m", metavar="MODULE", help="Analyse a module, run as python -m does.")
    ] = None,
    fix: Annotated[
        Path | None,
        typer.Option("--fix", metavar="FILE", help="A version of the script known to be good."),
    ] = None,
    like: Annotated[
        float | None,
        typer.Option("--like", metavar="VALUE", help="The value to reach (default: the best one found)."),
    ] = None,
    budget: Annotated[
        str, typer.Option(metavar="60x|30m", help="What the search may cost: trainings, or time.")
    ] = "60x",
    seeds: Annotated[int, typer.Option(min=1, help="Trainings per configuration.")] = 3,
    width: Annotated[int, typer.Option(min=1, help="Configurations expanded at each depth.")] = 5,
    depth: Annotated[int, typer.Option(min=1, help="Largest number of changes to the original program.")] = 3,
    measure: MeasureOptions,
    json: ResultFile = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the result as a page with the graph.")
    ] = None,
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
    from netmend.repair.budget import parse_budget
    from netmend.report.neutral.document import NEUTRALITY, neutral_document
    from netmend.report.neutral.page import neutral_page
    from netmend.report.terminal import draw
    from netmend.trials.opening import target_of

    script, arguments = started_program(context, module, program, quiet, "the script to analyse")
    counts, output = measure.measure(), OutputOptions(json, html, quiet)
    trials, cost = trials.checked(), parse_budget(budget)
    target = target_of(script, arguments, module is not None)
    folder = work_folder(directory, target.directory, quiet)
    trials = replace(trials, directory=folder, results=output.files)
    options = NeutralOptions(cost, counts, seeds, width, depth, fix, like, **vars(trials))
    with NeutralProgress(quiet) as progress:
        analysis = run_neutral(target, options, progress.show)
    if len(analysis.nodes) == 1:
        refuse_what_cannot_start(analysis.original.note)
    output.hand_over(
        lambda: draw(neutral_document(analysis)),
        lambda: NEUTRALITY.json(analysis),
        lambda: neutral_page(analysis),
    )
    if analysis.stopped == INTERRUPTED:
        return 130
    return 0 if analysis.alternatives else 1
