"""The list of recorded runs: `netmend runs`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from rich.console import RenderableType
from rich.text import Text

from netmend.report.content import Column, Grid, clean, first_line
from netmend.report.numbers import UNKNOWN, count, duration, moment, share
from netmend.report.terminal import GridTable
from netmend.vocabulary import RunFact


class RunLine(Protocol):
    """What the list needs to know of a run; `problem` says why it could not be read."""

    @property
    def id(self) -> str: ...
    @property
    def run(self) -> RunFact | None: ...
    @property
    def problem(self) -> str | None: ...


def runs_table(infos: Iterable[RunLine]) -> RenderableType:
    """One row per run, in the order given; a run that cannot be read says why."""
    columns = (
        Column("run"),
        Column("started", spare=3),
        Column("script", spare=1),
        Column("status"),
        Column("steps", numeric=True),
        Column("time", numeric=True, spare=4),
        Column("overhead", numeric=True, spare=5),
    )
    rows = tuple(_row(info) for info in infos)
    if not rows:
        return Text("No runs yet. Record one: netmend run train.py")
    return GridTable(Grid(columns, rows))


def _row(info: RunLine) -> tuple[str, ...]:
    run = info.run
    if run is None:
        return (
            clean(info.id),
            UNKNOWN,
            "",
            f"unreadable: {first_line(info.problem or 'no facts')}",
            "",
            "",
            "",
        )
    status = run.status
    if info.problem:
        status = f"{status} ({first_line(info.problem)})"
    elif run.exception:
        status = f"{status} ({run.exception.partition(':')[0]})"
    return (
        clean(info.id),
        moment(run.started),
        clean(" ".join((run.script, *run.arguments))),
        clean(status),
        count(run.steps),
        duration(run.seconds),
        share(run.overhead if run.every is not None else run.steady_overhead),
    )
