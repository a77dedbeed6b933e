"""A repository as locating sees it: Python files with the identity of their content, and commits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from netmend.errors import UsageError


@dataclass(frozen=True)
class SourceFile:
    path: str  # forward slashes, relative to the root
    blob: str  # identity of the content
    size: int


@dataclass(frozen=True)
class Commit:
    hash: str
    time: float  # seconds since the epoch
    subject: str
    files: tuple[str, ...]  # the Python files it touched
    body: str = ""  # the rest of its message, its beginning


class Repository(Protocol):
    """Where files and commits come from: a git work tree, a git directory at a revision, a folder without git."""

    @property
    def name(self) -> str: ...

    @property
    def root(self) -> Path | None:
        """The folder that paths are relative to, where one is on disk and is what is searched."""
        ...

    @property
    def revision(self) -> str | None:
        """The commit that is searched, or None where files are taken as they lie in the folder."""
        ...

    @property
    def head(self) -> str | None:
        """The commit that the history leads back from."""
        ...

    def files(self) -> tuple[SourceFile, ...]:
        """All Python files, sorted by path. Links and submodules are left out and told by notes()."""
        ...

    def read(self, blobs: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Contents, in any order; what cannot be read is left out."""
        ...

    def revisions(self, before: float | None, limit: int) -> tuple[str, ...]:
        """Hashes of the latest commits, newest first, merges left out, none at or after `before`."""
        ...

    def commits(self, hashes: Iterable[str]) -> Iterator[Commit]:
        """The commits of these hashes, in any order."""
        ...

    def notes(self) -> tuple[str, ...]:
        """What was left out or is missing, in sentences."""
        ...


def history(repository: Repository, before: float | None = None, limit: int = 5_000) -> tuple[Commit, ...]:
    """The latest commits, newest first."""
    hashes = repository.revisions(before, limit)
    found = {commit.hash: commit for commit in repository.commits(hashes)}
    return tuple(found[name] for name in hashes if name in found)


def open_repository(path: Path, revision: str | None = None) -> Repository:
    """The repository at or around a folder; without git, or outside any repository, the folder itself."""
    from netmend.locate.git_repository import GitRepository, GitWorkTree, find_git
    from netmend.locate.plain_folder import PlainFolder

    if not path.exists():
        raise UsageError(f"{path} does not exist. Give the folder of a repository: --repo FOLDER.")
    if not path.is_dir():
        raise UsageError(f"{path} is a file. Give the folder of a repository: --repo FOLDER.")
    git = find_git(path)
    if git is None:
        if revision is not None:
            raise UsageError(
                f"{path} is not in a git repository (or git is not installed), so there is no revision {revision!r}. "
                "Leave --rev out to search the folder as it is."
            )
        return PlainFolder(path)
    if revision is None and git.work_tree is not None:
        return GitWorkTree(git)
    return GitRepository(git, git.resolve("HEAD" if revision is None else revision))
