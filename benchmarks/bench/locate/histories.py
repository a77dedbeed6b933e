"""Which git history in the user's folder belongs to which project."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.locate.denchmark import Report
from netmend.errors import UsageError


@dataclass(frozen=True)
class Histories:
    """The git directory of every project that has one, and what is missing where."""

    folders: Mapping[str, Path]
    missing: tuple[str, ...]  # projects without a history
    lacking: Mapping[str, int]  # project -> reports whose commits are not in its history


def find_histories(folder: Path, reports: Sequence[Report]) -> Histories:
    """By name: `owner+name`, `owner/name` or `name`, capitals apart; both may have changed, the commits decide."""
    if not folder.is_dir():
        raise UsageError(
            f"--histories {folder}: no such folder; name the one that holds clones of the projects"
        )
    known = _named_folders(folder)
    everything = sorted({git for found in known.values() for git in found})
    folders: dict[str, Path] = {}
    lacking: dict[str, int] = {}
    projects = sorted({report.project for report in reports})
    for project in projects:
        mine = [report for report in reports if report.project == project]
        best = _fullest(_candidates(project, known), mine) or _fullest(everything, mine)
        if best is not None:
            folders[project] = best[1]
            if best[0]:
                lacking[project] = best[0]
    return Histories(folders, tuple(name for name in projects if name not in folders), lacking)


def present(folder: Path, commits: Iterable[str]) -> frozenset[str]:
    """Those of the commits that the history holds."""
    wanted = sorted(set(commits))
    done = subprocess.run(
        ["git", f"--git-dir={folder}", "cat-file", "--batch-check"],
        input="".join(f"{commit}\n" for commit in wanted),
        capture_output=True,
        text=True,
        check=False,
    )
    kinds = [line.split() for line in done.stdout.splitlines()]
    return frozenset(parts[0] for parts in kinds if len(parts) == 3 and parts[1] == "commit")


def _fullest(candidates: Iterable[Path], reports: Sequence[Report]) -> tuple[int, Path] | None:
    """The history that lacks the fewest of the reports' commits, and how many reports it lacks; None where all lack all."""
    counts = [(_absent(candidate, reports), candidate) for candidate in candidates]
    return min((one for one in counts if one[0] < len(reports)), key=lambda one: one[0], default=None)


def _absent(folder: Path, reports: Sequence[Report]) -> int:
    needed = [
        {report.fix_commit, report.snapshot or report.fix_commit, report.fix_parent or report.fix_commit}
        for report in reports
    ]
    there = present(folder, set().union(*needed))
    return sum(not commits <= there for commits in needed)


def _candidates(project: str, known: Mapping[str, Sequence[Path]]) -> list[Path]:
    """Git directories named like the project first, then those with another owner."""
    name = project.lower()
    return [*known.get(name, ()), *known.get(name.partition("+")[2], ())]


def _named_folders(folder: Path) -> dict[str, list[Path]]:
    """Git directories at most three levels down, by `owner+name` and by `name`."""
    found: dict[str, list[Path]] = {}
    for git in sorted(_git_directories(folder, 3)):
        parts = [part.lower().removesuffix(".git") for part in git.relative_to(folder).parts]
        names = set()
        for place, part in enumerate(parts):
            names |= {part, part.partition("+")[2]}
            if place:
                names.add(f"{parts[place - 1]}+{part}")
        for name in names - {""}:
            found.setdefault(name, []).append(git)
    return found


def _git_directories(folder: Path, depth: int) -> list[Path]:
    if (folder / "HEAD").is_file() and (folder / "objects").is_dir():
        return [folder]
    if (folder / ".git").is_dir():
        return [folder / ".git"]
    if not depth:
        return []
    return [
        git
        for child in sorted(folder.iterdir())
        if child.is_dir()
        for git in _git_directories(child, depth - 1)
    ]
