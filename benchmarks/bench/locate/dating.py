"""The commits a report is searched at, asked of the project's history where the collection does not name them."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from bench.locate.denchmark import Report


def dated(reports: Iterable[Report], folders: Mapping[str, Path]) -> tuple[Report, ...]:
    """Reports with both commits; those whose history knows no fix, or nothing before the report, are left out."""
    found = (_dated(report, folders[report.project]) for report in reports if report.project in folders)
    return tuple(report for report in found if report.snapshot and report.fix_parent)


def _dated(report: Report, git: Path) -> Report:
    """The fix's first parent, and the last of its first-parent ancestors that is not younger than the report."""
    if report.snapshot and report.fix_parent:
        return report
    parent = report.fix_parent or _one(git, "rev-parse", "--verify", "--quiet", f"{report.fix_commit}^1")
    opened = report.snapshot or _one(
        git, "rev-list", "-1", "--first-parent", f"--before={int(report.opened)}", parent or report.fix_commit
    )
    return replace(report, fix_parent=parent, snapshot=opened)


def _one(git: Path, *command: str) -> str:
    done = subprocess.run(["git", f"--git-dir={git}", *command], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""
