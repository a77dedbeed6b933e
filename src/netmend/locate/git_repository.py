"""Repositories kept by git: a commit, or a work tree with its uncommitted changes; asked in ways that run nothing of their configuration."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from netmend.errors import UsageError
from netmend.locate.plain_folder import DiskFiles
from netmend.locate.repository import Commit, SourceFile

# A repository may come from anywhere: its settings must not start programs or fetch from a network.
_SAFE = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "log.showSignature=false")
_DROPPED = """
GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_PREFIX GIT_NAMESPACE
"""
_SET = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}


class GitFailed(Exception):
    """A git command ended with an error; the text is git's."""


@dataclass(frozen=True)
class Git:
    directory: Path  # the git directory
    work_tree: Path | None
    shallow: bool

    def run(self, *arguments: str, lines: Iterable[str] = ()) -> bytes:
        """Output of a git command; `lines` are its standard input."""
        command = ["git", *_SAFE, f"--git-dir={self.directory}"]
        if self.work_tree is not None:
            command.append(f"--work-tree={self.work_tree}")
        with tempfile.TemporaryFile() as given:
            given.writelines(os.fsencode(line) + b"\n" for line in lines)
            given.seek(0)
            done = subprocess.run(
                [*command, *arguments],
                stdin=given,
                capture_output=True,
                cwd=self.work_tree or self.directory,
                env=_environment(),
                check=False,
            )
        if done.returncode != 0:
            raise GitFailed(
                done.stderr.decode("utf-8", "replace").strip() or f"git ended with {done.returncode}"
            )
        return done.stdout

    def resolve(self, revision: str) -> str:
        """The hash of the commit that a name stands for."""
        try:
            found = self.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        except GitFailed as failed:
            missing = (
                "it has no commit yet" if revision == "HEAD" else f"no commit is called {revision!r} there"
            )
            raise UsageError(
                f"{self.work_tree or self.directory}: {missing}. `git log --oneline` lists commits; "
                "a shallow clone holds only the latest ones."
            ) from failed
        return found.decode().strip()

    def contents(self, blobs: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Contents of blobs by hash; missing ones are left out."""
        command = ["git", *_SAFE, f"--git-dir={self.directory}", "cat-file", "--batch", "--buffer"]
        with tempfile.TemporaryFile() as given:
            # A file as input, because writing and reading two pipes in turn can block both sides.
            given.writelines(blob.encode() + b"\n" for blob in blobs)
            given.seek(0)
            with subprocess.Popen(
                command, stdin=given, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=_environment()
            ) as process:
                output = process.stdout
                assert output is not None
                while header := output.readline():
                    name, *rest = header.decode().split()
                    if len(rest) != 2:
                        continue  # "<name> missing"
                    content = output.read(int(rest[1]))
                    output.read(1)
                    if rest[0] == "blob":
                        yield name, content


def find_git(path: Path) -> Git | None:
    """The repository that a folder belongs to: None without one, or without the git program."""
    if shutil.which("git") is None:
        return None
    asked = _ask(path, "--is-inside-work-tree", "--is-shallow-repository", "--absolute-git-dir")
    if asked is None:
        return None
    inside, shallow, directory = asked.split("\n", 2)
    git_directory = Path(directory)
    if inside != "true":
        return Git(git_directory, None, shallow == "true")
    top = _ask(path, "--show-toplevel")
    if top is None:
        return None
    git = Git(git_directory, Path(top), shallow == "true")
    if not Path(top).samefile(path):
        # A folder that merely lies below somebody's repository, ignored or never added, is not a part of it.
        inner = os.path.relpath(os.path.realpath(path), os.path.realpath(top))
        if not git.run("--literal-pathspecs", "ls-files", "-z", "--", inner)[:1]:
            return None
    return git


def _ask(path: Path, *questions: str) -> str | None:
    done = subprocess.run(
        ["git", *_SAFE, "rev-parse", *questions],
        cwd=path,
        capture_output=True,
        env=_environment(),
        check=False,
    )
    if done.returncode == 0:
        return os.fsdecode(done.stdout).rstrip("\n")
    told = done.stderr.decode("utf-8", "replace")
    if "dubious ownership" in told:
        raise UsageError(
            f"git does not trust {path}, because another user owns it. If you trust it: "
            f"git config --global --add safe.directory {path}"
        )
    return None


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in _DROPPED.split()} | _SET


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
