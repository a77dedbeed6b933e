"""Repositories kept by git: a commit, or a work tree with its uncommitted changes."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

from netmend.locate.git import Git, GitFailed
from netmend.locate.plain_folder import DiskFiles
from netmend.locate.repository import Commit, SourceFile

_LINK, _SUBMODULE = "120000", "160000"
_LONGEST_BODY = 1_000  # characters of a commit message; merged branches list all their commits
_RECORD, _UNIT = "\x1e", "\x1f"  # the separators of ASCII: they do not occur in subjects


class GitRepository:
    """The files of one commit, read from git's objects alone."""

    root: Path | None = None

    def __init__(self, git: Git, revision: str | None) -> None:
        self._git = git
        self.revision = revision
        self._left_out: Counter[str] = Counter()
        self._history_failed = ""

    @property
    def name(self) -> str:
        directory = self._git.directory
        return (directory.parent if directory.name == ".git" else directory).name.removesuffix(".git")

    @property
    def head(self) -> str | None:
        return self.revision

    def files(self) -> tuple[SourceFile, ...]:
        assert self.revision is not None
        listing = self._git.run("ls-tree", "-r", "-z", "-l", "--full-tree", self.revision)
        self._left_out.clear()
        found = []
        for entry in listing.split(b"\0")[:-1]:
            head, _, raw_path = entry.partition(b"\t")
            mode, kind, blob, size = head.decode().split()
            path = os.fsdecode(raw_path)
            if kind == "commit":
                self._left_out["submodule"] += 1
            elif path.endswith(".py"):
                if mode == _LINK:
                    self._left_out["symbolic link"] += 1
                else:
                    found.append(SourceFile(path, blob, int(size)))
        return tuple(sorted(found, key=lambda file: file.path))

    def read(self, blobs: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        yield from self._git.contents(blobs)

    def revisions(self, before: float | None, limit: int) -> tuple[str, ...]:
        head = self.head
        if head is None or limit <= 0:
            return ()
        # --min-age keeps what is as old or older; a commit of the very second may be the fix.
        cut = [] if before is None else [f"--min-age={int(before) - 1}"]
        try:
            listing = self._git.run("rev-list", "--no-merges", f"--max-count={limit}", *cut, head)
        except GitFailed as failed:
            self._history_failed = str(failed).splitlines()[0]
            return ()
        return tuple(listing.decode().split())

    def commits(self, hashes: Iterable[str]) -> Iterator[Commit]:
        form = f"format:{_RECORD}%H{_UNIT}%ct{_UNIT}%s{_UNIT}%b{_UNIT}"
        command = ("diff-tree", "--stdin", "-r", "--root", "--name-only", "-z", "--no-renames", "--always")
        wanted = list(hashes)
        if not wanted:
            return
        try:
            listing = self._git.run(*command, f"--pretty={form}", "--", "*.py", lines=wanted)
        except GitFailed as failed:
            self._history_failed = str(failed).splitlines()[0]
            return
        for record in os.fsdecode(listing).split(_RECORD)[1:]:
            name, time, subject, body, files = record.split(_UNIT, 4)
            touched = tuple(path for path in files.replace("\n", "\0", 1).split("\0") if path)
            yield Commit(name, float(time), subject, touched, body.strip()[:_LONGEST_BODY])

    def notes(self) -> tuple[str, ...]:
        notes = []
        for what, count in sorted(self._left_out.items()):
            notes.append(f"{count} {what}{'s' if count > 1 else ''} left out.")
        if self._git.shallow:
            notes.append("The clone is shallow: only a part of the history was there to look at.")
        if self._history_failed:
            notes.append(f"The history could not be read: {self._history_failed}")
        return tuple(notes)


class GitWorkTree(GitRepository):
    """A checkout as it lies on disk: committed files, changed ones and new ones that git does not ignore."""

    def __init__(self, git: Git) -> None:
        super().__init__(git, None)
        assert git.work_tree is not None
        self.root = git.work_tree
        self._disk = DiskFiles(self.root)

    @property
    def name(self) -> str:
        assert self.root is not None
        return self.root.name

    def files(self) -> tuple[SourceFile, ...]:
        assert self.root is not None
        self._left_out.clear()
        found: dict[str, SourceFile] = {}
        for entry in self._git.run("ls-files", "-s", "-z").split(b"\0")[:-1]:
            head, _, raw_path = entry.partition(b"\t")
            mode, blob, _stage = head.decode().split()
            path = os.fsdecode(raw_path)
            if mode == _SUBMODULE:
                self._left_out["submodule"] += 1
            elif path.endswith(".py"):
                if mode == _LINK:
                    self._left_out["symbolic link"] += 1
                else:
                    found[path] = SourceFile(path, blob, 0)
        changed = self._git.run("ls-files", "-t", "-m", "-d", "-o", "--exclude-standard", "-z", "--", "*.py")
        gone: set[str] = set()
        for entry in changed.split(b"\0")[:-1]:
            tag, path = entry[:1], os.fsdecode(entry[2:])
            if tag == b"R":
                gone.add(path)
                found.pop(path, None)
            elif path not in gone:
                file = self._disk.identify(path)
                if file is not None:
                    found[path] = file
                elif path in found:
                    del found[path]
        return tuple(found[path] for path in sorted(found))

    def read(self, blobs: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        committed = []
        for blob in blobs:
            if blob in self._disk:
                yield from self._disk.read([blob])
            else:
                committed.append(blob)
        if committed:
            yield from super().read(committed)

    @cached_property
    def head(self) -> str | None:
        try:
            return self._git.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}").decode().strip()
        except GitFailed:
            return None  # nothing was committed yet
