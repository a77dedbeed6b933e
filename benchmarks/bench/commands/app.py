"""`netmend bench`: published benchmarks of fault localisation and repair, each run by one command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from netmend.cli.command_help import PlainCommand, PlainGroup

app = typer.Typer(
    cls=PlainGroup,
    help="Published benchmarks of fault localisation and repair, each run by one command.",
    invoke_without_command=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Work = Annotated[
    Path, typer.Option("--work", metavar="DIR", help="Where programs and trainings are kept, to go on later.")
]
Jobs = Annotated[
    int | None, typer.Option("-j", "--jobs", min=1, help="Trainings in parallel (default: one per core).")
]
Only = Annotated[str, typer.Option("--only", metavar="A,B", help="Only these, by name.")]
Json = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="Write every answer and the figures as JSON.")
]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Show the tables only.")]
WORK = Path(".netmend/bench")


@app.callback()
def root(context: typer.Context) -> int | None:
    if context.invoked_subcommand is not None:
        return None
    from bench.commands.listing import show_list

    return show_list()


@app.command(cls=PlainCommand)
def faults22(
    seeds: Annotated[int, typer.Option(min=1, help="Trainings of each program, buggy and fixed.")] = 5,
    stability: Annotated[
        int,
        typer.Option(min=0, metavar="N", help="Trainings of each buggy program for the answer's stability."),
    ] = 20,
    repair: Annotated[
        bool, typer.Option("--repair/--no-repair", help="Also repair each program, and prove it.")
    ] = True,
    only: Only = "",
    jobs: Jobs = None,
    json: Json = None,
    read: Annotated[
        Path | None,
        typer.Option("--read", metavar="FILE", help="Show an earlier --json file, running nothing."),
    ] = None,
    work: Work = WORK,
    quiet: Quiet = False,
) -> int:
    """22 faulty programs of a study: are the right codes reported, by its own score and a stricter one?"""
    from bench.commands.faults22 import bench_faults22

    return bench_faults22(seeds, stability, repair, only, jobs, json, read, work, quiet)


@app.command(cls=PlainCommand)
def bugs21(
    seeds: Annotated[int, typer.Option(min=1, help="Trainings of each program.")] = 1,
    only: Only = "",
    jobs: Jobs = None,
    json: Json = None,
    work: Work = WORK,
    quiet: Quiet = False,
) -> int:
    """21 training bugs of a comparison of three dynamic localisers: is each found, its cause, its line?"""
    from bench.commands.labelled import bench_labelled

    return bench_labelled("bugs21", seeds, only, jobs, json, work, quiet)


@app.command(cls=PlainCommand)
def silent(
    seeds: Annotated[int, typer.Option(min=1, help="Trainings of each program.")] = 1,
    only: Only = "",
    jobs: Jobs = None,
    json: Json = None,
    work: Work = WORK,
    quiet: Quiet = False,
) -> int:
    """Silent bugs of the TrainCheck evaluation: is each found without a reference run?"""
    from bench.commands.labelled import bench_labelled

    return bench_labelled("silent", seeds, only, jobs, json, work, quiet)


@app.command(cls=PlainCommand)
def locate(
    reports: Annotated[
        Path, typer.Option("--reports", metavar="FILE", help="Denchmark's reports, JSON lines (.gz too).")
    ],
    histories: Annotated[
        Path,
        typer.Option(
            "--histories", metavar="DIR", help="Folder with clones of the projects: owner+name, owner/name."
        ),
    ],
    protocol: Annotated[
        str,
        typer.Option(
            metavar="src|all", help="src: tests are neither searched nor counted; all: they are both."
        ),
    ] = "src",
    at: Annotated[
        str,
        typer.Option(
            metavar="open|fix-parent",
            help="The code as it was when the report was opened, or just before the fix.",
        ),
    ] = "open",
    labels: Annotated[
        Path | None,
        typer.Option("--labels", metavar="FILE", help="Types and causes of reports: id,type,extrinsic."),
    ] = None,
    learn: Annotated[
        bool, typer.Option("--learn/--no-learn", help="Also rank by what is learned from the other projects.")
    ] = True,
    only: Only = "",
    jobs: Annotated[
        int | None, typer.Option("-j", "--jobs", min=1, help="Projects at once (default: one per core).")
    ] = None,
    json: Json = None,
    work: Work = WORK,
    quiet: Quiet = False,
) -> int:
    """Bug reports of deep-learning projects: are the files that the fix changed found? Compared with BM25, BugLocator, BLUiR, BLIA, DNNLOC."""
    from bench.commands.locate import bench_locate

    return bench_locate(reports, histories, protocol, at, labels, only, learn, jobs, json, work, quiet)


@app.command(cls=PlainCommand)
def repair(
    budgets: Annotated[
        str, typer.Option(metavar="10,20,50", help="Trainings that a search may cost.")
    ] = "10,20,50",
    seeds: Annotated[int, typer.Option(min=1, help="Searches per fault and budget.")] = 3,
    only: Only = "",
    jobs: Jobs = None,
    json: Json = None,
    work: Work = WORK,
    quiet: Quiet = False,
) -> int:
    """The repair study: how much of the known fix's gain is found within a budget of trainings?"""
    from bench.commands.options import jobs_of, names, need_torch
    from bench.repair_command import StudyOptions, parse_budgets, run_study

    need_torch()
    options = StudyOptions(work, parse_budgets(budgets), seeds, names(only), jobs_of(jobs), json, quiet)
    return run_study(options)


@app.command(cls=PlainCommand)
def setup(
    folder: Annotated[
        Path | None,
        typer.Option("--data", metavar="DIR", help="Where data sets are kept (default: the user's cache)."),
    ] = None,
) -> int:
    """Fetch or generate the data that faults22 and repair train on; the only step that needs the network."""
    from bench.datasets.catalog import prepare_all

    prepare_all(folder, typer.echo)
    return 0
