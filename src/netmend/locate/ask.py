"""One question from beginning to end: a report in, ranked files with what to know beside out."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from netmend.errors import UsageError
from netmend.locate.bug_report import BugReport, read_report
from netmend.locate.cache import FactsCache
from netmend.locate.executed import executed_files
from netmend.locate.language import language_note
from netmend.locate.located import Located
from netmend.locate.repository import Repository, open_repository
from netmend.vocabulary import Diagnosis, Trace

FOLDER = Path(".netmend") / "locate"
Say = Callable[[str, int, int], None]  # what is being done, how much of how much


def ask(
    report: str | BugReport,
    repo: Path,
    rev: str | None = None,
    *,
    top: int = 10,
    opened: float | None = None,
    tests: bool = False,
    run: tuple[Trace, Diagnosis] | None = None,
    cache: bool = True,
    directory: Path | None = None,
    say: Say | None = None,
) -> Located:
    """Rank a repository's files for a report; `run` is a recorded run that shows the bug."""
    from netmend.locate.session import locate

    if top < 1:
        raise UsageError(f"at least one file has to be asked for, got {top}")
    read = report if isinstance(report, BugReport) else read_report(report)
    repository = open_repository(repo, rev)
    executed = () if run is None else executed_files(*run, repository.root)
    facts = FactsCache(_folder(repository, repo, directory) if cache else None)
    try:
        answer = locate(
            read,
            repository,
            top=top,
            opened=opened,
            tests=tests,
            executed=executed,
            cache=facts,
            say=say,
        )
    finally:
        facts.close()
    if note := language_note(read):
        answer = replace(answer, notes=(note, *answer.notes))
    return Located(read, answer, repository.name)


def _folder(repository: Repository, repo: Path, directory: Path | None) -> Path:
    """Where facts are kept: in netmend's folder where one was named, else in the work tree, else (bare) where we are."""
    chosen = os.environ.get("NETMEND_DIR") if directory is None else str(directory)
    if chosen:
        return Path(chosen) / FOLDER.name
    if repository.root is not None:
        return repository.root / FOLDER
    place = repo.resolve()
    tops = (folder for folder in (place, *place.parents) if (folder / ".git").exists())
    return next(tops, Path.cwd()) / FOLDER
