"""The commands and their options; decisions are taken elsewhere."""

from __future__ import annotations

import typer

from netmend.cli.adequacy import adequacy
from netmend.cli.bench import app as bench
from netmend.cli.command_help import CheckCommand, PlainCommand, ScriptCommand
from netmend.cli.demo import demo
from netmend.cli.env import env
from netmend.cli.locate import locate
from netmend.cli.mend import app as mend
from netmend.cli.mutate import mutate
from netmend.cli.neutral import neutral
from netmend.cli.options import BEFORE_SCRIPT, expanded
from netmend.cli.repair import repair
from netmend.cli.run_options import command_line
from netmend.cli.runs import diagnose, export, runs, show
from netmend.trials.options import option

app = command_line()


@app.command(
    cls=CheckCommand,
    add_help_option=False,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    options_metavar="[OPTIONS] [PATH]…",
)
def check(context: typer.Context) -> int:
    """Find training mistakes in source, executing nothing."""
    from netmend.cli import leave_out_working_directory

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


app.command(cls=PlainCommand)(diagnose)


@app.command(cls=PlainCommand)
@expanded
def explain(
    code: str | None = option(
        None, "A code such as HYP-LR-HIGH, D104 or S201, or a published one such as HLR.", is_argument=True
    ),
) -> None:
    """Print the page of a cause, a symptom or a rule; without a code, list them all."""
    from netmend.cli.explain import explain_code

    explain_code(code)


for each in (demo, runs, show, export):
    app.command(cls=PlainCommand)(each)
app.add_typer(mend, name="mend", short_help="Find a small patch of trained weights, apply it, revert it.")
app.command(cls=PlainCommand, short_help="Measure whether a test set is adequate for a trained model.")(
    adequacy
)
app.command(cls=PlainCommand, short_help="Rank the files that a bug report is about.")(locate)
app.command(cls=PlainCommand, short_help="Check versions, devices and limits of this machine.")(env)
app.add_typer(bench, name="bench", short_help="Run published benchmarks of fault localisation and repair.")
