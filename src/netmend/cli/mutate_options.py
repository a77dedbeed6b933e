"""The options of `netmend mutate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from netmend.cli.slips import checked_program
from netmend.cli.trial_options import (
    Address,
    Directory,
    ExecutorName,
    Jobs,
    Memory,
    Network,
    Program,
    Quiet,
    ResultFile,
    Threads,
    TimeLimit,
)


def mutate(
    context: typer.Context,
    program: Program = None,
    module: Annotated[
        str | None, typer.Option("-m", metavar="MODULE", help="Test a module, run as python -m does.")
    ] = None,
    test: Annotated[
        list[str] | None,
        typer.Option(
            "--test",
            metavar="[NAME=]SET",
            help="A DataLoader or Dataset of the script, X_test,y_test, a .npz file or file.py:function (default: what the "
            "program itself evaluates last); repeatable.",
        ),
    ] = None,
    subset: Annotated[
        list[str] | None,
        typer.Option(
            "--subset", metavar="NAME=SET:RULE", help="A part of a set: classes=0,1,2, first=50 or random=50."
        ),
    ] = None,
    profile: Annotated[
        str,
        typer.Option(metavar="quick|standard|full", help="How many mutants, and how often each is trained."),
    ] = "quick",
    operators: Annotated[
        str, typer.Option(metavar="M101,M3", help="Only these operators (codes or their beginnings).")
    ] = "",
    weights: Annotated[
        bool, typer.Option("--weights/--no-weights", help="Also mutate the trained weights.")
    ] = True,
    estimate: Annotated[
        bool,
        typer.Option("--estimate", help="Train the program once, estimate the cost of the rest, and stop."),
    ] = False,
    least: Annotated[
        float | None, typer.Option(metavar="SCORE", help="End with exit code 1 below this score (for CI).")
    ] = None,
    fails: Annotated[
        str, typer.Option(metavar="'return < 200'", help="For agents: when an episode counts as failed.")
    ] = "",
    additions: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write inputs that the test set should add, as .npz.")
    ] = None,
    json: ResultFile = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the result as a page.")] = None,
    jobs: Jobs = None,
    threads: Threads = 1,
    network: Network = False,
    memory: Memory = None,
    time_limit: TimeLimit = None,
    executor: ExecutorName = "local",
    address: Address = None,
    quiet: Quiet = False,
    directory: Directory = None,
) -> int:
    """Seed faults into a training script and see which of them its test data detects.

    Exit code 0: done; 1: the score is below --least. No file changes.
    """
    from netmend.cli.mutate import Wishes, mutate_program
    from netmend.mutate.options import MutateOptions

    options = MutateOptions(
        tests=tuple(test or ()),
        subsets=tuple(subset or ()),
        profile=profile,
        operators=tuple(code.strip() for code in operators.split(",") if code.strip()),
        weights=weights,
        estimate_only=estimate,
        jobs=jobs,
        threads=threads,
        network=network,
        megabytes=memory,
        seconds=time_limit,
        executor=executor,
        address=address,
        directory=directory.resolve() if directory else None,
    )
    whole = checked_program(context, module, [*(program or ()), *context.args], quiet)
    return mutate_program(module, whole, options, Wishes(json, html, additions, least, quiet), fails)
