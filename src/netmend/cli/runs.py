"""`netmend diagnose`, `runs`, `show` and `export`: looking at what was recorded, and judging it again."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING
from pathlib import Path
from typing import TYPE_CHECKING

from netmend.cli.options import Directory, expanded, write_file
from netmend.errors import UsageError
from netmend.trials.options import option

if TYPE_CHECKING:
    from netmend.store import RunInfo
    from netmend.store.runs import Judged
    from netmend.vocabulary import Trace

_WHICH = "Id, beginning of an id, path, or 'last'."
_RANK = "Which process of a distributed run."


@expanded
def diagnose(
    run: str = option("last", _WHICH, is_argument=True),
    form: str = option("text", "text, json, sarif or github.", "--format", metavar="FORMAT"),
    html: Path | None = option(None, "Write the report as a page.", metavar="FILE"),
    output: Path | None = option(
        None, "Write to a file instead of the terminal.", "-o", "--output", metavar="FILE"
    ),
    directory: Directory = None,
) -> int:
    """Diagnose a recorded run again. Exit code 0: healthy or undecided; 1: faults found."""
    from netmend import api
    from netmend.report.run.diagnosis import diagnosis_text
    from netmend.report.run.formats import FORMATS, render
    from netmend.report.terminal import console
    from netmend.vocabulary import CRASHED

    if form not in FORMATS:
        raise UsageError(f"--format must be one of {', '.join(FORMATS)}, got {form!r}")
    judged = api.diagnose(run, directory=directory)
    if html is not None:
        write_file(html, judged.html())
    if form == "text" and output is None:
        console(sys.stdout).print(diagnosis_text(judged.trace, judged.diagnosis))
    else:
        text = f"{judged}\n" if form == "text" else render(form, judged.trace, judged.diagnosis)
        if output is None:
            sys.stdout.write(text)
        else:
            write_file(output, text)
    return 1 if judged.faults or judged.verdict == CRASHED else 0


@expanded
def runs(
    sort: str = option(
        "started", "started, loss, metric, steps or time; the best or latest first.", metavar="ORDER"
    ),
    where: list[str] | None = option(
        None, "Only runs with this verdict, fault, script or status; repeatable.", metavar="KEY=VALUE"
    ),
    directory: Directory = None,
) -> None:
    """List the recorded runs with their verdicts, newest first."""
    from netmend.report.run.runs_table import runs_table
    from netmend.report.terminal import console
    from netmend.store import list_runs

    infos = sorted_runs(list_runs(_root(directory)), sort)
    chosen = filtered(infos, where or ())
    if not infos:
        sys.stderr.write(
            f"netmend: no runs yet under {_root(directory)}; record one with: netmend run train.py\n"
        )
    elif not chosen:
        sys.stderr.write(f"netmend: none of {len(infos)} runs has {', '.join(where or ())}\n")
    else:
        console(sys.stdout).print(runs_table(chosen))


@expanded
def show(
    run: str = option("last", _WHICH, is_argument=True),
    html: Path | None = option(None, "Write a page instead.", metavar="FILE"),
    checked: bool = option(False, "List all checks: found, passed, too little data, not applicable."),
    data: bool = option(False, "Only how the data were made, from reading to the batches."),
    rank: int = option(0, _RANK),
    directory: Directory = None,
) -> None:
    """Show one run: its faults, facts, curves, layers, the loop."""
    from netmend.report.run.page import run_page
    from netmend.report.run.terminal_page import run_text
    from netmend.report.terminal import console
    from netmend.store import find_run, read_trace
    from netmend.watching import judge

    path = find_run(_root(directory), run)
    trace = read_trace(path, rank)
    if checked:
        from netmend.diagnose.checked import checks
        from netmend.report.run.diagnosis import checked_text

        diagnosis = judge(path, trace)
        console(sys.stdout).print(checked_text(checks(trace, diagnosis.symptoms), diagnosis))
    elif data and html is None:
        from netmend.report.run.lineage import lineage_text
        from netmend.report.run.page import accused

        console(sys.stdout).print(lineage_text(trace, accused(judge(path, trace))))
    elif html is None:
        console(sys.stdout).print(run_text(trace, _judged(path, trace)))
    else:
        told = None if trace.run.status == "running" else judge(path, trace)
        write_file(html, run_page(trace, diagnosis=told))
        sys.stdout.write(f"{html}\n")


@expanded
def export(
    run: str = option(MISSING, _WHICH, is_argument=True),
    to: str = option(MISSING, "json, parquet or tensorboard.", metavar="FORMAT"),
    output: Path | None = option(None, "File or directory to write.", "-o", "--output"),
    rank: int = option(0, _RANK),
    force: bool = option(False, "Overwrite what is there."),
    directory: Directory = None,
) -> None:
    """Write a run in another format."""
    from netmend.export import FORMATS
    from netmend.export import export as write
    from netmend.store import find_run, read_trace

    if to not in FORMATS:
        raise UsageError(f"--to must be one of {', '.join(FORMATS)}, got {to!r}")
    path = find_run(_root(directory), run)
    ending = {"json": ".json", "parquet": ".parquet", "tensorboard": "-tensorboard"}[to]
    for file in write(read_trace(path, rank), to, output or Path(f"{path.name}{ending}"), force=force):
        sys.stdout.write(f"{file}\n")


def _root(directory: Path | None) -> Path:
    from netmend.store import runs_root

    return directory / "runs" if directory is not None else runs_root()


def _judged(path: Path, trace: Trace) -> Judged | None:
    """What the run was judged to be; a run that never was is judged now."""
    from netmend.store.runs import read_judged
    from netmend.watching import judge

    if trace.run.status != "running" and read_judged(path) is None:
        judge(path, trace)
    return read_judged(path)


def _number(value: float | None, best_is_high: bool) -> float:
    """For sorting the best first; what is not known, or is no number, comes last."""
    if value is None or math.isnan(value):
        return math.inf
    return -value if best_is_high else value


ORDERS: dict[str, Callable[[RunInfo], float]] = {
    "started": lambda info: _number(info.run.started if info.run else None, True),
    "loss": lambda info: _number(info.judged.loss if info.judged else None, False),
    "metric": lambda info: _number(info.judged.metric if info.judged else None, True),
    "steps": lambda info: _number(info.run.steps if info.run else None, True),
    "time": lambda info: _number(info.run.seconds if info.run else None, True),
}

FILTERS: dict[str, Callable[[RunInfo], Sequence[str]]] = {
    "script": lambda info: [info.run.script] if info.run else [],
    "status": lambda info: [info.run.status] if info.run else [],
    "verdict": lambda info: [info.judged.verdict] if info.judged else [],
    "fault": lambda info: [fault.cause for fault in info.judged.faults] if info.judged else [],
}


def sorted_runs(infos: Iterable[RunInfo], order: str) -> list[RunInfo]:
    if order not in ORDERS:
        raise UsageError(f"--sort must be one of {', '.join(ORDERS)}, got {order!r}")
    return sorted(infos, key=ORDERS[order])


def filtered(infos: Iterable[RunInfo], conditions: Iterable[str]) -> list[RunInfo]:
    """Those that fulfil every `KEY=VALUE`: the value is the beginning of what the run has."""
    found = list(infos)
    for condition in conditions:
        key, equals, value = condition.partition("=")
        if key not in FILTERS or not equals:
            from netmend.check.select import did_you_mean

            meant = did_you_mean(key, FILTERS) if equals else "."
            raise UsageError(
                f"--where {condition}: write KEY=VALUE with one of {', '.join(FILTERS)}{meant}".rstrip(".")
            )
        found = [info for info in found if any(have.startswith(value) for have in FILTERS[key](info))]
    return found
