"""The options of `netmend run`, and the command line that knows no other command: what is not asked for need not be loaded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from netmend.cli.command_help import PlainGroup, ScriptCommand
from netmend.cli.options import BEFORE_SCRIPT, Directory, Program
from netmend.cli.slips import checked_program


def root(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    if version:
        from netmend.version import VERSION

        typer.echo(f"netmend {VERSION}")
        raise typer.Exit


def run(
    context: typer.Context,
    program: Program = None,
    module: Annotated[
        str | None, typer.Option("-m", metavar="MODULE", help="Run a module, as python -m does.")
    ] = None,
    overhead: Annotated[
        str, typer.Option(metavar="SHARE", help="Share of training time that watching may take.")
    ] = "1%",
    every: Annotated[
        str | None, typer.Option(metavar="N", help="Record all statistics at every N-th step.")
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Record all statistics at every step.")] = False,
    trap: Annotated[
        bool,
        typer.Option(
            "--trap",
            help="On a GPU: synchronise at each step, so that the operation that produced a NaN can be named.",
        ),
    ] = False,
    probe: Annotated[
        bool,
        typer.Option(
            "--probe",
            help="Train copies of the model on its first batch for a few seconds, to learn more about it.",
        ),
    ] = False,
    quiet: Annotated[
        bool, typer.Option("-q", "--quiet", help="Show nothing but the program's own output.")
    ] = False,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the report as a page.")] = None,
    json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the diagnosis as JSON.")
    ] = None,
    exit_on_fault: Annotated[
        bool,
        typer.Option("--exit-on-fault", help="End with exit code 1 if a fault was found (for CI)."),
    ] = False,
    stop_on: Annotated[
        str | None,
        typer.Option(
            "--stop-on", metavar="fault", help="Stop training once a fault is certain; exit code 3."
        ),
    ] = None,
    directory: Directory = None,
) -> Callable[[], None]:
    """Run a training script, unchanged, and say what is wrong with it."""
    from netmend.cli.run import prepare_run

    return prepare_run(
        module=module,
        program=checked_program(context, module, [*(program or ()), *context.args], quiet),
        overhead=overhead,
        every=every,
        full=full,
        trap=trap,
        probe=probe,
        quiet=quiet,
        html=html,
        json=json,
        exit_on_fault=exit_on_fault,
        stop_on=stop_on,
        directory=directory,
    )


def command_line() -> typer.Typer:
    """With `run` as its only command."""
    app = typer.Typer(
        cls=PlainGroup,
        help="A debugger for deep-learning programs.",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(root)
    app.command(cls=ScriptCommand, context_settings=BEFORE_SCRIPT)(run)
    return app
