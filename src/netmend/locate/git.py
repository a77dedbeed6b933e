"""The git program, asked in ways that run nothing of the repository's own configuration and change nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from netmend.errors import UsageError

# A repository may come from anywhere: its settings must not start programs or fetch from a network.
_SAFE = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "log.showSignature=false")
_DROPPED = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_NAMESPACE",
]
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
    return {name: value for name, value in os.environ.items() if name not in _DROPPED} | _SET
