"""The commands and their options; decisions are taken elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from netmend.cli.adequacy import adequacy
from netmend.cli.bench import app as bench
from netmend.cli.command_help import CheckCommand, PlainCommand, ScriptCommand
from netmend.cli.env import env
from netmend.cli.locate import locate
from netmend.cli.mend import app as mend
from netmend.cli.mutate import mutate
from netmend.cli.neutral import neutral
from netmend.cli.options import BEFORE_SCRIPT, Directory
from netmend.cli.repair import repair
from netmend.cli.run_options import command_line

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


app.command(cls=ScriptCommand, context_settings=BEFORE_SCRIPT)(repair)
app.command(cls=ScriptCommand, context_settings=BEFORE_SCRIPT)(neutral)
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
    from netmend.cli.runs import diagnose_run

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
    from netmend.cli.runs import show_runs

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
    from netmend.cli.runs import show_run

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
    from netmend.cli.runs import export_run

    export_run(run, to, output, rank, force, directory)


app.add_typer(mend, name="mend", short_help="Find a small patch of trained weights, apply it, revert it.")
app.command(cls=PlainCommand, short_help="Measure whether a test set is adequate for a trained model.")(
    adequacy
)
app.command(cls=PlainCommand, short_help="Rank the files that a bug report is about.")(locate)
app.command(cls=PlainCommand, short_help="Check versions, devices and limits of this machine.")(env)
app.add_typer(bench, name="bench", short_help="Run published benchmarks of fault localisation and repair.")
