"""The list of recorded runs: `netmend runs`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from netmend.report.content import Column, Grid, Number, clean, first_line
from netmend.report.numbers import UNKNOWN, count, duration, measure, moment, plural, share
from netmend.report.terminal import GridTable, fitting
from netmend.store import RunInfo
from netmend.store.runs import Judged
from netmend.vocabulary import FAULTY, HEALTHY

_COLUMNS = (
    Column("run", least=0),
    Column("script", least=14),
    Column("verdict", least=32),
    Number("loss", spare=1),
    Number("metric", spare=2),
    Number("steps", spare=4),
    Column("status", spare=3),
    Column("first fault", spare=5),
    Number("time", spare=6),
    Number("overhead", spare=8),
    Column("started", spare=7),
)
_ESSENTIAL = 2  # columns with a higher spare go before the ends of the ids do


def runs_table(infos: Iterable[RunInfo]) -> RenderableType:
    """One row per run, in the order given; a run that cannot be read says why."""
    lines = tuple(infos)
    return _Runs(lines) if lines else Text("No runs yet. Record one: netmend run train.py")


class _Runs:
    """Long ids are the first to give way to what a reader looks for; their beginnings name the runs as well."""

    def __init__(self, infos: tuple[RunInfo, ...]) -> None:
        self._infos = infos

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        names = [clean(info.id) for info in self._infos]
        grid = _grid(self._infos, names)
        kept, _ = fitting(grid.filled(), options.max_width)
        needed = sum(column.spare <= _ESSENTIAL for column in grid.filled().columns)
        if len(kept) < needed:
            grid = _grid(self._infos, list(_short(names)))
        yield GridTable(grid)


def _short(names: list[str]) -> Iterator[str]:
    """Ids without their drawn end where what is left names one run only."""
    starts = Counter(name.rpartition("-")[0] for name in names)
    for name in names:
        start = name.rpartition("-")[0]
        yield start if start and starts[start] == 1 else name


def _grid(infos: tuple[RunInfo, ...], names: list[str]) -> Grid:
    return Grid(_COLUMNS, tuple(_row(info, name) for info, name in zip(infos, names, strict=True)))


def _row(info: RunInfo, name: str) -> tuple[str, ...]:
    run = info.run
    if run is None:
        unreadable = f"unreadable: {first_line(info.problem or 'no facts')}"
        return (name, "", unreadable, *("" for _ in _COLUMNS[3:]))
    status = run.status
    if info.problem:
        status = f"{status} ({first_line(info.problem)})"
    elif run.exception and status == "failed":
        ending = "failed" if run.exception.startswith("SystemExit") else "crashed"
        status = f"{ending} ({run.exception.partition(':')[0]})"
    judged = info.judged
    return (
        name,
        clean(" ".join((run.script, *run.arguments))),
        _verdict(judged),
        UNKNOWN if judged is None else measure(judged.loss),
        "" if judged is None or judged.metric is None else _metric(judged),
        count(run.steps),
        "" if status == "finished" else clean(status),
        judged.faults[0].cause if judged is not None and judged.faults else "",
        duration(run.seconds),
        share(run.overhead if run.every is not None else run.steady_overhead),
        moment(run.started),
    )


def _verdict(judged: Judged | None) -> str:
    if judged is None:
        return "not judged"
    if judged.verdict == FAULTY:
        return plural(len(judged.faults), "fault")
    return "no fault" if judged.verdict == HEALTHY else judged.verdict


def _metric(judged: Judged) -> str:
    assert judged.metric is not None
    return (
        share(judged.metric)
        if judged.metric_name == "accuracy"
        else f"{judged.metric_name} {measure(judged.metric)}"
    )
