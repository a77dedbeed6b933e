"""What the commands of `netmend bench` have in common: checks of their options, the executor, tables on the terminal."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from rich.console import Group

from netmend.errors import MissingExtra, UsageError
from netmend.report.content import Grid, Remark
from netmend.report.terminal import GridTable, Remarks, blank, console

INTERRUPTED = 130


def need_torch() -> None:
    if importlib.util.find_spec("torch") is None:
        raise MissingExtra(
            "the programs of this benchmark are written in PyTorch, which is not installed here; "
            "install it with: pip install 'netmend[torch]'"
        )


def jobs_of(jobs: int | None) -> int:
    return jobs or os.cpu_count() or 1


def names(only: str) -> tuple[str, ...]:
    """`D1,D4` as names; empty: all."""
    found = tuple(dict.fromkeys(part.strip() for part in only.split(",") if part.strip()))
    if only and not found:
        raise UsageError(f"--only must name programs separated by commas, got {only!r}")
    return found


def check_output(file: Path | None) -> None:
    """Before hours of training, not after them."""
    if file is None:
        return
    if not file.resolve().parent.is_dir():
        raise UsageError(
            f"--json {file}: the directory {file.resolve().parent} does not exist; create it first"
        )
    if file.is_dir():
        raise UsageError(f"--json {file}: that is a directory; name a file")


def show(grids: Iterable[Grid], remarks: Iterable[Remark]) -> None:
    parts = [part for grid in grids for part in (GridTable(grid), blank())]
    console(sys.stdout).print(Group(*parts, Remarks(remarks)))


def say_interrupted() -> int:
    sys.stderr.write(
        "netmend: interrupted; what has been trained is kept, run the same command to continue\n"
    )
    return INTERRUPTED
