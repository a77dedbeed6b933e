"""`netmend repair`: find a change that makes the program learn, prove it, hand it over."""

from __future__ import annotations

import sys
from dataclasses import replace

import typer

from netmend.cli.options import (
    Directory,
    OutputOptions,
    PageFile,
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
def repair(
    context: typer.Context,
    *,
    program: Program = None,
    module: str | None = option(None, "Repair a module, run as python -m does.", "-m", metavar="MODULE"),
    budget: str = option("20x", "What the search may cost: trainings, or time.", metavar="20x|10m"),
    measure: Measure,
    strict: bool = option(False, "Prove over 10 seeds instead of 5.", "--strict"),
    apply: bool = option(False, "Apply a proven patch to the files; originals are kept as .orig.", "--apply"),
    json: ResultFile = None,
    html: PageFile = None,
    trials: TrialOptions,
    quiet: Quiet = False,
    directory: Directory = None,
) -> int:
    """Find what to change so that a training script learns, and prove it by retraining.

    Exit code 0: a fix is proven, or nothing is wrong; 1: something is wrong and no fix proven. Files change only with --apply.
    """
    from netmend.cli.progress import RepairProgress
    from netmend.repair.apply_result import apply_result
    from netmend.repair.options import RepairOptions, parse_budget
    from netmend.repair.session import repair as run_repair
    from netmend.report.repair.document import repair_json, repair_text
    from netmend.report.repair.page import repair_page
    from netmend.report.terminal import console
    from netmend.trials.opening import target_of
    from netmend.verify.verify import verify
    from netmend.vocabulary.verification import PROVEN

    script, arguments = started_program(context, module, program, quiet, "the script to repair")
    counts, output, trials = measure.checked(), OutputOptions(json, html, quiet), trials.checked()
    target = target_of(script, arguments, module is not None)
    folder = work_folder(directory, target.directory, quiet)
    trials = replace(trials, directory=folder, results=output.files)
    options = RepairOptions(parse_budget(budget), counts, strict, **vars(trials))
    try:
        with RepairProgress(quiet) as progress:
            result = run_repair(target, options, verify, progress.show)
    except KeyboardInterrupt:
        sys.stderr.write("netmend: interrupted; run the same command to continue\n")
        return 130
    if not result.baseline.run:
        refuse_what_cannot_start(result.baseline.exception)
    output.hand_over(
        lambda: repair_text(result, applied=apply), lambda: repair_json(result), lambda: repair_page(result)
    )
    for line in list(apply_result(result)) if apply else ():
        if not quiet:
            console(sys.stdout).print(line, soft_wrap=True, highlight=False, markup=False)
    healthy = result.diagnosis is not None and not result.diagnosis.faults and result.baseline.ran
    return 0 if result.verdict == PROVEN or (healthy and not result.version.parts) else 1
