"""The options of `netmend run`, and the command line that knows no other command: what is not asked for need not be loaded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import typer

from netmend.cli.command_help import PlainGroup, ScriptCommand
from netmend.cli.options import BEFORE_SCRIPT, Directory, Program, expanded
from netmend.cli.slips import checked_program
from netmend.trials.options import option


@expanded
def root(version: bool = option(False, "Show the version and exit.", "--version")) -> None:
    if version:
        from netmend.version import VERSION

        typer.echo(f"netmend {VERSION}")
        raise typer.Exit


@dataclass(frozen=True)
class RunOptions:
    """How a program is watched, and what to do with the outcome."""

    overhead: str = option("1%", "Share of training time that watching may take.", metavar="SHARE")
    every: str | None = option(None, "Record all statistics at every N-th step.", metavar="N")
    full: bool = option(False, "Record all statistics at every step.")
    trap: bool = option(
        False, "On a GPU: synchronise at each step, so that the operation that produced a NaN can be named."
    )
    probe: bool = option(
        False, "Train copies of the model on its first batch for a few seconds, to learn more about it."
    )
    quiet: bool = option(False, "Show nothing but the program's own output.", "-q", "--quiet")
    html: Path | None = option(None, "Write the report as a page.", metavar="FILE")
    json: Path | None = option(None, "Write the diagnosis as JSON.", metavar="FILE")
    exit_on_fault: bool = option(False, "End with exit code 1 if a fault was found (for CI).")
    stop_on: str | None = option(None, "Stop training once a fault is certain; exit code 3.", metavar="fault")
    directory: Directory = None
    kept: bool = True  # whether the run will be there afterwards


@expanded
def run(
    context: typer.Context,
    *,
    program: Program = None,
    module: str | None = option(None, "Run a module, as python -m does.", "-m", metavar="MODULE"),
    options: RunOptions,
) -> Callable[[], None]:
    """Run a training script, unchanged, and say what is wrong with it."""
    from netmend.cli.run import prepare_run

    whole = checked_program(context, module, [*(program or ()), *context.args], options.quiet)
    return prepare_run(module, whole, options)


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
