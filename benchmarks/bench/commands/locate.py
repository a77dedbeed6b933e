"""`netmend bench locate`: search every report, rank by every method, show."""

from __future__ import annotations

import difflib
import json as json_format
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bench.commands.options import check_output, jobs_of, names, say_interrupted, show
from bench.commands.progress import BenchProgress
from netmend.errors import UsageError

if TYPE_CHECKING:
    from bench.locate.denchmark import Report
    from bench.locate.histories import Histories
    from bench.locate.measuring import Desk


def bench_locate(
    reports: Path,
    histories: Path,
    protocol: str,
    at: str,
    labels: Path | None,
    only: str,
    learn: bool,
    jobs: int | None,
    json: Path | None,
    work: Path,
    quiet: bool,
) -> int:
    """The exit code: 0, 1 when nothing could be searched, 130 when interrupted."""
    from bench.locate.dating import dated
    from bench.locate.denchmark import read_reports, usable
    from bench.locate.fusing import FIXED, NETMEND, Task
    from bench.locate.groups import read_labels
    from bench.locate.histories import find_histories
    from bench.locate.measuring import Desk
    from bench.locate.methods import rank_all
    from bench.locate.protocol import Protocol
    from bench.locate.summing import as_data, summarise
    from bench.locate.tables import grids, remarks

    check_output(json)
    desk = Desk(work / "locate", Protocol(protocol, at))
    known = read_reports(reports)
    labelled = read_labels(labels) if labels is not None else {}
    wanted = _chosen(usable(known), names(only))
    found = find_histories(histories, wanted)
    searchable = dated(wanted, found.folders)
    if not searchable:
        raise UsageError(
            f"--histories {histories}: no clone of a project of these reports is in it ({len(found.missing)} projects are "
            f"missing, for instance {', '.join(found.missing[:3])}); expected folders called owner+name or owner/name"
        )
    try:
        with BenchProgress(quiet) as progress:
            _search(searchable, known, found, desk, jobs_of(jobs), progress)
            sheets = {report.id: sheet for report in searchable if (sheet := desk.read(report)) is not None}
            if not sheets:
                return 1
            task = Task({report.id: report for report in searchable}, sheets, desk.protocol)
            results, notes = rank_all(task, learn, progress.begin, progress.ended)
    except KeyboardInterrupt:
        return say_interrupted()
    ours = NETMEND if NETMEND in results else FIXED
    summary = summarise(results, ours, searchable, labelled, desk.protocol)
    if json is not None:
        data = as_data(summary, results, {"chosen": notes, "missing projects": list(found.missing)})
        json.write_text(json_format.dumps(data) + "\n", encoding="utf-8")
    show(grids(summary), remarks(summary, _notes(found)))
    return 0


def _search(
    reports: Sequence[Report],
    known: Sequence[Report],
    found: Histories,
    desk: Desk,
    jobs: int,
    progress: BenchProgress,
) -> None:
    from bench.locate.searching import search

    progress.begin("searching", len(reports))
    search(
        reports,
        known,
        found.folders,
        desk,
        jobs,
        lambda report, problem, before: progress.ended(report.id, problem, before),
    )


def _chosen(reports: tuple[Report, ...], only: tuple[str, ...]) -> tuple[Report, ...]:
    """Reports of the named projects: `owner+name` or `name`."""
    projects = sorted({report.project for report in reports})
    chosen = set()
    for name in only:
        hits = [project for project in projects if name.lower() in (project, project.partition("+")[2])]
        if not hits:
            near = difflib.get_close_matches(name, projects, 1, 0.4)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise UsageError(f"--only {name}: no project of that name in the reports{hint}")
        chosen.update(hits)
    return tuple(report for report in reports if not only or report.project in chosen)


def _notes(found: Histories) -> dict[str, str]:
    notes = {}
    if found.missing:
        notes["missing"] = f"no history of {len(found.missing)} projects: {', '.join(found.missing)}"
    if found.lacking:
        lacking = ", ".join(f"{project} ({count})" for project, count in found.lacking.items())
        notes["lacking"] = f"reports left out because their commits are not in the history: {lacking}"
    return notes
