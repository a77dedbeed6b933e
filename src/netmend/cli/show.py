"""`netmend runs`, `netmend show` and `netmend export`: looking at what was recorded."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from netmend import report
from netmend.api import judge
from netmend.cli.choose_runs import filtered, sorted_runs
from netmend.errors import UsageError
from netmend.export import FORMATS, export
from netmend.store import find_run, list_runs, read_trace, runs_root
from netmend.store.judged import Judged, read_judged
from netmend.vocabulary import Trace


def _root(directory: Path | None) -> Path:
    return directory / "runs" if directory is not None else runs_root()


def show_runs(directory: Path | None, order: str = "started", conditions: Sequence[str] = ()) -> None:
    infos = sorted_runs(list_runs(_root(directory)), order)
    chosen = filtered(infos, conditions)
    if not infos:
        sys.stderr.write(
            f"netmend: no runs yet under {_root(directory)}; record one with: netmend run train.py\n"
        )
        return
    if not chosen:
        sys.stderr.write(f"netmend: none of {len(infos)} runs has {', '.join(conditions)}\n")
        return
    report.console(sys.stdout).print(report.runs_table(chosen))


def show_run(name: str, html: Path | None, rank: int, directory: Path | None, checked: bool = False) -> None:
    path = find_run(_root(directory), name)
    trace = read_trace(path, rank)
    if checked:
        from netmend.diagnose.checked import checks
        from netmend.report.as_checked import checked_text

        diagnosis = judge(path, trace)
        report.console(sys.stdout).print(checked_text(checks(trace, diagnosis.symptoms), diagnosis))
        return
    if html is None:
        report.console(sys.stdout).print(report.page(trace, _judged(path, trace)))
        return
    told = None if trace.run.status == "running" else judge(path, trace)
    try:
        html.write_text(report.html(trace, diagnosis=told), encoding="utf-8")
    except OSError as problem:
        raise UsageError(f"{html} cannot be written: {problem.strerror or problem}") from None
    sys.stdout.write(f"{html}\n")


def _judged(path: Path, trace: Trace) -> Judged | None:
    """What the run was judged to be; a run that never was is judged now."""
    if trace.run.status != "running" and read_judged(path) is None:
        judge(path, trace)
    return read_judged(path)


def export_run(
    name: str, to: str, output: Path | None, rank: int, force: bool, directory: Path | None
) -> None:
    if to not in FORMATS:
        raise UsageError(f"--to must be one of {', '.join(FORMATS)}, got {to!r}")
    path = find_run(_root(directory), name)
    endings = {
        "json": f"{path.name}.json",
        "parquet": f"{path.name}.parquet",
        "tensorboard": f"{path.name}-tensorboard",
    }
    for file in export(read_trace(path, rank), to, output or Path(endings[to]), force=force):
        sys.stdout.write(f"{file}\n")
