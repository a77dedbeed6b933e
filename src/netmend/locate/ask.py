"""One question from beginning to end: a report in, ranked files with what to know beside out."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from netmend.errors import UsageError
from netmend.locate.answer import Answer, Located
from netmend.locate.bug_report import BugReport, read_report
from netmend.locate.cache import FactsCache
from netmend.locate.classify import kind_of
from netmend.locate.executed import executed_files
from netmend.locate.extrinsic import check_here, extrinsic_of
from netmend.locate.language import language_note
from netmend.locate.repository import Repository, open_repository
from netmend.vocabulary import Diagnosis, Trace

FOLDER = Path(".netmend") / "locate"
_COMMON = frozenset(
    {"src", "lib", "python", "source", "examples", "scripts", "tools", "docs", "utils", "core"}
)
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
    own = _own_names(repository, answer)
    outer = extrinsic_of(read, own, own_message=_holds_message(read, answer))
    answer = replace(answer, kind=kind_of(read, own), extrinsic=outer)
    here = check_here(read, outer, repository.root or repo) if outer.likely else None
    return Located(read, answer, repository.name, here)


def _own_names(repository: Repository, answer: Answer) -> set[str]:
    """What the project's packages may be called: its own name, and the outer folders of the files that ranked first."""
    outer = (file.path.split("/")[:-1][:2] for file in answer.files)
    return {repository.name, *(name for folders in outer for name in folders)} - _COMMON


def _holds_message(report: BugReport, answer: Answer) -> bool | None:
    """True where a file that ranked first holds the error's text; that none does would take a look at all files."""
    if not report.failures:
        return None
    told = (reason for file in answer.files for one in file.functions for reason in one.reasons)
    return True if any(reason.kind == "message" for reason in told) else None


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
