"""The reports of Denchmark as the benchmark uses them: text, times, the fix's files, what is known about leaks.

The texts have no licence of their own and are not part of netmend: the user names the file that holds them.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from netmend.errors import UsageError


@dataclass(frozen=True)
class Change:
    """A Python file that the fix changed."""

    path: str
    kind: str  # MODIFY | ADD | RENAME | DELETE
    test: bool


@dataclass(frozen=True)
class Report:
    """One bug report with its fix."""

    id: str
    project: str
    category: str
    title: str
    description: str
    opened: float
    closed: float
    fixed: float
    fix_commit: str
    fix_parent: str
    snapshot: str  # the last commit before the report was opened; "" where the collection does not say it
    changes: tuple[Change, ...]
    names_file: bool  # the text names the base name of a fixed file
    names_path: bool  # ... the last two parts of its path
    links: bool  # the text links to a commit or pull request: possibly the fix
    given: bool = True  # the collection itself names the commits

    @property
    def modified(self) -> frozenset[str]:
        """Fixed files that are not tests."""
        return frozenset(
            change.path for change in self.changes if change.kind == "MODIFY" and not change.test
        )

    @property
    def modified_and_tests(self) -> frozenset[str]:
        return frozenset(change.path for change in self.changes if change.kind == "MODIFY")


def read_reports(file: Path) -> tuple[Report, ...]:
    """All reports of the file (JSON lines, may be compressed), ordered by project and time."""
    if not file.is_file():
        raise UsageError(f"--reports {file}: no such file; name the JSON lines of Denchmark's reports")
    found = []
    try:
        number = 0
        for number, line in enumerate(_lines(file), 1):  # noqa: B007
            if line.strip():
                found.append(_report(json.loads(line)))
    except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError) as problem:
        raise UsageError(
            f"--reports {file}, line {number}: not a report of Denchmark ({type(problem).__name__}: {problem}); "
            "expected one JSON object a line with id, project, title, description, opened, py_changes"
        ) from problem
    if not found:
        raise UsageError(f"--reports {file}: no report in it")
    return tuple(sorted(found, key=lambda report: (report.project, report.opened, report.id)))


def usable(reports: Iterable[Report]) -> tuple[Report, ...]:
    """Those with a fixed file that is no test, and a known fix."""
    return tuple(report for report in reports if report.modified and report.fix_commit)


def earlier(report: Report, reports: Iterable[Report]) -> tuple[Report, ...]:
    """Reports of the same project that were closed, and whose fix was committed, before this one was opened."""
    return tuple(
        other
        for other in reports
        if other.project == report.project
        and other.id != report.id
        and max(other.closed, other.fixed) < report.opened
    )


def _lines(file: Path) -> Iterator[str]:
    if file.suffix == ".gz":
        with gzip.open(file, "rt", encoding="utf-8") as stream:
            yield from stream
    else:
        with file.open(encoding="utf-8") as stream:
            yield from stream


def _report(data: Mapping[str, Any]) -> Report:
    return Report(
        id=str(data["id"]),
        project=str(data["project"]),
        category=str(data.get("category", "")),
        title=str(data["title"]),
        description=str(data["description"] or ""),
        opened=_seconds(data["opened"]),
        closed=_seconds(data["closed"]),
        fixed=_seconds(data["fix_time"]),
        fix_commit=str(data["fix_commit"] or ""),
        fix_parent=str(data.get("fix_parent") or ""),
        snapshot=str(data.get("snapshot_at_open") or ""),
        changes=tuple(
            Change(str(change["path"]), str(change["change"]), bool(change["test"]))
            for change in data["py_changes"]
        ),
        names_file=bool(data.get("names_buggy_basename")),
        names_path=bool(data.get("names_buggy_path")),
        links=bool(data.get("links_commit_or_pr")),
        given=bool(data.get("snapshot_at_open")),
    )


def _seconds(text: str) -> float:
    """`2019-02-04T10:30:42Z` or `2019-02-15 10:08:09-08:00` as seconds since 1970."""
    moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()
