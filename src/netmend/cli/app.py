"""The commands and their options; decisions are taken elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from netmend.cli.adequacy_options import adequacy
from netmend.cli.bench import app as bench
from netmend.cli.command_help import CheckCommand, PlainCommand, ScriptCommand
from netmend.cli.env import env
from netmend.cli.locate import locate
from netmend.cli.mend import app as mend
from netmend.cli.mutate_options import mutate
from netmend.cli.run_options import command_line
from netmend.cli.slips import checked_program
from netmend.cli.trial_options import (
    BEFORE_SCRIPT,
    Address,
    Directory,
    ExecutorName,
    Jobs,
    Maximize,
    Memory,
    Metric,
    MetricFile,
    Network,
    Program,
    Quiet,
    ResultFile,
    Threads,
    TimeLimit,
)

app = command_line()


@app.command(
    cls=CheckCommand,
    add_help_option=False,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    options_metavar="[OPTIONS] [PATH]…",
)
def check(context: typer.Context) -> int:
    """Find training mistakes in source, executing nothing."""
    from netmend.cli.check_path import leave_out_working_directory

    leave_out_working_directory()
    from netmend.cli.check import check_arguments

    return check_arguments(context.args)


@app.command(cls=ScriptCommand, context_settings=BEFORE_SCRIPT)
def repair(
    context: typer.Context,
    program: Program = None,
    module: Annotated[
        str | None, typer.Option("-m", metavar="MODULE", help="Repair a module, run as python -m does.")
    ] = None,
    budget: Annotated[
        str, typer.Option(metavar="20x|10m", help="What the search may cost: trainings, or time.")
    ] = "20x",
    metric: Metric = "",
    metric_file: MetricFile = "",
    maximize: Maximize = None,
    strict: Annotated[bool, typer.Option("--strict", help="Prove over 10 seeds instead of 5.")] = False,
    apply: Annotated[
        bool, typer.Option("--apply", help="Apply a proven patch to the files; originals are kept as .orig.")
    ] = False,
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
    """Find what to change so that a training script learns, and prove it by retraining.

    Exit code 0: a fix is proven, or nothing is wrong; 1: something is wrong and no fix proven. Files change only with --apply.
    """
    from netmend.cli.repair import Wishes, repair_program

    return repair_program(
        module,
        checked_program(context, module, [*(program or ()), *context.args], quiet),
        budget=budget,
        metric=metric,
        metric_file=metric_file,
        maximize=maximize,
        strict=strict,
        jobs=jobs,
        threads=threads,
        network=network,
        memory=memory,
        time_limit=time_limit,
        executor=executor,
        address=address,
        directory=directory,
        wishes=Wishes(apply, json, html, quiet),
    )


@app.command(cls=ScriptCommand, context_settings=BEFORE_SCRIPT)
def neutral(
    context: typer.Context,
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
    metric: Metric = "",
    metric_file: MetricFile = "",
    maximize: Maximize = None,
    json: ResultFile = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the result as a page with the graph.")
    ] = None,
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
    """Find which other changes do as well as a known fix, or as the best one found, by training them.

    Exit code 0: alternatives were found; 1: none. No file changes.
    """
    from netmend.cli.neutral import Wishes, neutral_program

    return neutral_program(
        module,
        checked_program(context, module, [*(program or ()), *context.args], quiet),
        budget=budget,
        fix=fix,
        like=like,
        seeds=seeds,
        width=width,
        depth=depth,
        metric=metric,
        metric_file=metric_file,
        maximize=maximize,
        jobs=jobs,
        threads=threads,
        network=network,
        memory=memory,
        time_limit=time_limit,
        executor=executor,
        address=address,
        directory=directory,
        wishes=Wishes(json, html, quiet),
    )


app.command(
    cls=ScriptCommand,
    context_settings=BEFORE_SCRIPT,
    short_help="Seed faults and see which of them the test data detects.",
)(mutate)


@app.command(cls=PlainCommand)
def diagnose(
    run: Annotated[str, typer.Argument(help="Id, beginning of an id, path, or 'last'.")] = "last",
    form: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="text, json, sarif or github.")
    ] = "text",
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the report as a page.")] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write to a file instead of the terminal."),
    ] = None,
    directory: Directory = None,
) -> int:
    """Diagnose a recorded run again. Exit code 0: healthy or undecided; 1: faults found."""
    from netmend.cli.diagnose import diagnose_run

    return diagnose_run(run, form, html, output, directory)


@app.command(cls=PlainCommand)
def explain(
    code: Annotated[
        str | None,
        typer.Argument(help="A code such as HYP-LR-HIGH, D104 or S201, or a published one such as HLR."),
    ] = None,
) -> None:
    """Print the page of a cause, a symptom or a rule; without a code, list them all."""
    from netmend.cli.explain import explain_code

    explain_code(code)


@app.command(cls=PlainCommand)
def demo(
    keep: Annotated[
        Path | None,
        typer.Option("--keep", metavar="DIR", help="Keep the scripts and runs in this directory."),
    ] = None,
) -> int:
    """Show three classic faults being found, in under a minute."""
    from netmend.cli.demo import show_demo

    return show_demo(keep)


@app.command(cls=PlainCommand)
def runs(
    sort: Annotated[
        str,
        typer.Option(metavar="ORDER", help="started, loss, metric, steps or time; the best or latest first."),
    ] = "started",
    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where",
            metavar="KEY=VALUE",
            help="Only runs with this verdict, fault, script or status; repeatable.",
        ),
    ] = None,
    directory: Directory = None,
) -> None:
    """List the recorded runs with their verdicts, newest first."""
    from netmend.cli.show import show_runs

    show_runs(directory, sort, tuple(where or ()))


@app.command(cls=PlainCommand)
def show(
    run: Annotated[str, typer.Argument(help="Id, beginning of an id, path, or 'last'.")] = "last",
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page instead.")] = None,
    checked: Annotated[
        bool,
        typer.Option(
            "--checked",
            help="List all checks: found, passed, too little data, not applicable.",
        ),
    ] = False,
    rank: Annotated[int, typer.Option(help="Which process of a distributed run.")] = 0,
    directory: Directory = None,
) -> None:
    """Show one run: its faults, facts, curves, layers, the loop."""
    from netmend.cli.show import show_run

    show_run(run, html, rank, directory, checked)


@app.command(cls=PlainCommand)
def export(
    run: Annotated[str, typer.Argument(help="Id, beginning of an id, path, or 'last'.")],
    to: Annotated[str, typer.Option("--to", metavar="FORMAT", help="json, parquet or tensorboard.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="File or directory to write.")] = None,
    rank: Annotated[int, typer.Option(help="Which process of a distributed run.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Overwrite what is there.")] = False,
    directory: Directory = None,
) -> None:
    """Write a run in another format."""
    from netmend.cli.show import export_run

    export_run(run, to, output, rank, force, directory)


app.add_typer(mend, name="mend", short_help="Find a small patch of trained weights, apply it, revert it.")
app.command(cls=PlainCommand, short_help="Measure whether a test set is adequate for a trained model.")(
    adequacy
)
app.command(cls=PlainCommand, short_help="Rank the files that a bug report is about.")(locate)
app.command(cls=PlainCommand, short_help="Check versions, devices and limits of this machine.")(env)
app.add_typer(bench, name="bench", short_help="Run published benchmarks of fault localisation and repair.")
