"""All reports searched, project by project, several at once; what was measured before is read, not measured again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from bench.locate.denchmark import Report
from bench.locate.measuring import Desk, measure
from netmend.errors import NetmendError
from netmend.locate.cache import FactsCache

Tell = Callable[[Report, str, bool], None]  # the report, what went wrong, whether it was known before
_AT_ONCE = 12  # reports of one project that a process takes: neighbours in time share most of their files


@dataclass(frozen=True)
class Task:
    """Some reports of one project."""

    reports: tuple[Report, ...]
    known: tuple[Report, ...]  # all reports of the project, for those that came earlier
    git: Path
    desk: Desk


def search(
    reports: Sequence[Report],
    known: Sequence[Report],
    folders: Mapping[str, Path],
    desk: Desk,
    jobs: int,
    tell: Tell,
) -> None:
    """Measure every report that has no sheet yet."""
    missing = []
    for report in reports:
        if desk.read(report) is None:
            missing.append(report)
        else:
            tell(report, "", True)
    tasks = _tasks(missing, known, folders, desk)
    if jobs == 1 or len(tasks) < 2:
        for task in tasks:
            for report, problem in run(task):
                tell(report, problem, False)
        return
    # Fresh processes: forked ones would share the database connections of this one.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        waiting: set[Future[list[tuple[Report, str]]]] = {pool.submit(run, task) for task in tasks}
        try:
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    for report, problem in future.result():
                        tell(report, problem, False)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def run(task: Task) -> list[tuple[Report, str]]:
    """The task's reports, each with what went wrong ("" where nothing did)."""
    cache = FactsCache(task.desk.work / "facts" / task.reports[0].project)
    told = []
    try:
        for report in task.reports:
            problem = ""
            try:
                task.desk.write(report, measure(report, task.known, task.git, cache, task.desk.protocol))
            except NetmendError as failed:  # a damaged history must not end the others
                problem = str(failed)
            told.append((report, problem))
    finally:
        cache.close()
    return told


def _tasks(
    reports: Sequence[Report], known: Sequence[Report], folders: Mapping[str, Path], desk: Desk
) -> list[Task]:
    """Long projects first, so that the last process does not work alone for long."""
    projects: dict[str, list[Report]] = {}
    for report in reports:
        projects.setdefault(report.project, []).append(report)
    tasks = []
    for project, mine in sorted(projects.items(), key=lambda item: -len(item[1])):
        others = tuple(report for report in known if report.project == project)
        for start in range(0, len(mine), _AT_ONCE):
            tasks.append(Task(tuple(mine[start : start + _AT_ONCE]), others, folders[project], desk))
    return tasks
