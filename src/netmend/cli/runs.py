"""`netmend runs`, `show`, `export` and `diagnose`: looking at what was recorded, and judging it again."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from netmend import report
from netmend.api import diagnose
from netmend.check.select import did_you_mean
from netmend.errors import UsageError
from netmend.export import FORMATS, export
from netmend.store import RunInfo, find_run, list_runs, read_trace, runs_root
from netmend.store.judged import Judged, read_judged
from netmend.vocabulary import CRASHED, Trace
from netmend.watching import judge


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
        from netmend.report.as_diagnosis import checked_text

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
            meant = did_you_mean(key, FILTERS) if equals else "."
            raise UsageError(
                f"--where {condition}: write KEY=VALUE with one of {', '.join(FILTERS)}{meant}".rstrip(".")
            )
        found = [info for info in found if any(have.startswith(value) for have in FILTERS[key](info))]
    return found


def diagnose_run(
    name: str,
    form: str,
    html: Path | None,
    output: Path | None,
    directory: Path | None,
) -> int:
    """Prints or writes the diagnosis; returns the exit code."""
    if form not in report.FORMATS:
        raise UsageError(f"--format must be one of {', '.join(report.FORMATS)}, got {form!r}")
    judged = diagnose(name, directory=directory)
    if html is not None:
        _write(html, judged.html())
    if form != "text":
        text = report.render(form, judged.trace, judged.diagnosis)
        if output is not None:
            _write(output, text)
        else:
            sys.stdout.write(text)
    elif output is not None:
        _write(output, f"{judged}\n")
    else:
        report.console(sys.stdout).print(report.diagnosis_text(judged.trace, judged.diagnosis))
    return 1 if judged.faults or judged.verdict == CRASHED else 0


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise UsageError(f"{file} cannot be written: {problem.strerror or problem}") from None
