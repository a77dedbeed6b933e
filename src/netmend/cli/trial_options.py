"""Options of the commands that run a script: what comes before its name is ours, what comes after is the script's."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

BEFORE_SCRIPT = {"allow_extra_args": True, "ignore_unknown_options": False, "allow_interspersed_args": False}

Program = Annotated[
    list[str] | None,
    typer.Argument(metavar="SCRIPT [ARGS]…", hidden=True),
]
Metric = Annotated[
    str,
    typer.Option(
        metavar="REGEX", help="The metric: a regular expression over the output whose group is the number."
    ),
]
MetricFile = Annotated[
    str, typer.Option(metavar="FILE", help="The metric: a file that the program writes the number to.")
]
Maximize = Annotated[
    bool | None,
    typer.Option(
        "--maximize/--minimize", help="Whether higher or lower is better (default: by the metric's name)."
    ),
]
ResultFile = Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write the result as JSON.")]
Jobs = Annotated[
    int | None,
    typer.Option("-j", "--jobs", metavar="N", min=1, help="Trainings in parallel (default: one per core)."),
]
Threads = Annotated[int, typer.Option(metavar="N", min=1, help="Threads per training.")]
Network = Annotated[bool, typer.Option("--network", help="Let trials use the network.")]
Memory = Annotated[int | None, typer.Option(metavar="MB", min=1, help="Memory limit of one training.")]
TimeLimit = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", help="Longest training (default: 8 times the original program's)."),
]
ExecutorName = Annotated[str, typer.Option(metavar="local|ray", help="Where trainings run.")]
Address = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Address of the Ray cluster (default: start one here).")
]
Directory = Annotated[
    Path | None,
    typer.Option(
        "--directory", metavar="DIR", help="Where runs are kept (default: $NETMEND_DIR or ./.netmend)."
    ),
]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Show nothing but errors.")]
