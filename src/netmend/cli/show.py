"""`netmend runs`, `netmend show` and `netmend export`: looking at what was recorded."""

from __future__ import annotations

import sys
from pathlib import Path

from netmend import report
from netmend.errors import UsageError
from netmend.export import FORMATS, export
from netmend.store import find_run, list_runs, read_trace, runs_root


def _root(directory: Path | None) -> Path:
    return directory / "runs" if directory is not None else runs_root()


def show_runs(directory: Path | None) -> None:
    infos = list_runs(_root(directory))
    if not infos:
        sys.stderr.write(
            f"netmend: no runs yet under {_root(directory)}; record one with: netmend run train.py\n"
        )
        return
    report.console(sys.stdout).print(report.runs_table(infos))


def show_run(name: str, html: Path | None, rank: int, directory: Path | None) -> None:
    trace = read_trace(find_run(_root(directory), name), rank)
    if html is None:
        report.console(sys.stdout).print(report.page(trace))
        return
    try:
        html.write_text(report.html(trace), encoding="utf-8")
    except OSError as problem:
        raise UsageError(f"{html} cannot be written: {problem.strerror or problem}") from None
    sys.stdout.write(f"{html}\n")


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
