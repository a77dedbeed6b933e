"""Files and commits of work trees, revisions, bare repositories and plain folders."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from netmend.errors import UsageError
from netmend.locate.paths import dotted, is_test, peripheral_folder, vendored_folder
from netmend.locate.repository import Repository, history, open_repository


def git(folder: Path, *arguments: str, date: str = "2020-01-01T00:00:00Z") -> str:
    settings = ("-c", "user.name=n", "-c", "user.email=n@example.org", "-c", "commit.gpgsign=false")
    environment = {**os.environ, "GIT_COMMITTER_DATE": date, "GIT_AUTHOR_DATE": date}
    done = subprocess.run(
        ["git", *settings, *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
        env=environment,
    )
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "pkg").mkdir(parents=True)
    (folder / "pkg" / "one.py").write_text("ONE = 1\n")
    (folder / "pkg" / "two.py").write_text("TWO = 2\n")
    (folder / "notes.txt").write_text("no Python\n")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "Add one and two")
    (folder / "pkg" / "two.py").write_text("TWO = 22\n")
    git(folder, "commit", "-q", "-am", "Fix two\n\nbody", date="2020-02-01T00:00:00Z")
    return folder


def texts(repository: Repository) -> dict[str, str]:
    files = repository.files()
    contents = dict(repository.read([file.blob for file in files]))
    return {file.path: contents[file.blob].decode() for file in files}


def test_a_work_tree_shows_files_as_they_lie_there(checkout: Path) -> None:
    (checkout / "pkg" / "one.py").write_text("ONE = 'changed'\n")
    (checkout / "pkg" / "two.py").unlink()
    (checkout / "new file\n.py").write_text("NEW = 3\n")
    (checkout / ".gitignore").write_text("ignored.py\n")
    (checkout / "ignored.py").write_text("IGNORED = 4\n")
    repository = open_repository(checkout)
    assert texts(repository) == {"pkg/one.py": "ONE = 'changed'\n", "new file\n.py": "NEW = 3\n"}
    assert repository.root == checkout
    assert repository.revision is None


def test_a_change_gives_another_identity(checkout: Path) -> None:
    before = {file.path: file.blob for file in open_repository(checkout).files()}
    (checkout / "pkg" / "one.py").write_text("ONE = 2\n")
    after = {file.path: file.blob for file in open_repository(checkout).files()}
    assert before["pkg/two.py"] == after["pkg/two.py"]
    assert before["pkg/one.py"] != after["pkg/one.py"]


def test_a_revision_is_read_from_git_alone(checkout: Path) -> None:
    (checkout / "pkg" / "two.py").write_text("TWO = 'uncommitted'\n")
    repository = open_repository(checkout, "HEAD~1")
    assert texts(repository) == {"pkg/one.py": "ONE = 1\n", "pkg/two.py": "TWO = 2\n"}
    assert repository.root is None
    assert repository.revision == git(checkout, "rev-parse", "HEAD~1")


def test_a_bare_repository(checkout: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(checkout), "bare.git")
    repository = open_repository(tmp_path / "bare.git")
    assert texts(repository)["pkg/two.py"] == "TWO = 22\n"
    assert [commit.subject for commit in history(repository)] == ["Fix two", "Add one and two"]
    assert repository.name == "bare"


def test_history_is_newest_first_and_ends_before_a_time(checkout: Path) -> None:
    repository = open_repository(checkout)
    both = history(repository)
    assert [(commit.subject, commit.files) for commit in both] == [
        ("Fix two", ("pkg/two.py",)),
        ("Add one and two", ("pkg/one.py", "pkg/two.py")),
    ]
    assert [commit.subject for commit in history(repository, before=both[0].time)] == ["Add one and two"]
    assert len(history(repository, before=both[0].time + 1)) == 2
    assert len(history(repository, limit=1)) == 1


def test_a_folder_inside_a_repository_means_the_repository(checkout: Path) -> None:
    assert open_repository(checkout / "pkg").root == checkout


def test_a_folder_that_git_does_not_keep_stands_alone(checkout: Path) -> None:
    other = checkout / "scratch"
    other.mkdir()
    (other / "own.py").write_text("OWN = 1\n")
    repository = open_repository(other)
    assert repository.root == other.resolve()
    assert set(texts(repository)) == {"own.py"}
    assert history(repository) == ()


def test_a_repository_without_commits(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "first.py").write_text("A = 1\n")
    repository = open_repository(tmp_path)
    assert texts(repository) == {"first.py": "A = 1\n"}
    assert history(repository) == ()
    with pytest.raises(UsageError, match="no commit yet"):
        open_repository(tmp_path, "HEAD")


def test_settings_of_a_repository_run_nothing(checkout: Path) -> None:
    mark = checkout.parent / "ran"
    program = checkout.parent / "program.sh"
    program.write_text(f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(0o755)
    git(checkout, "config", "core.fsmonitor", str(program))
    git(checkout, "config", "diff.external", str(program))
    repository = open_repository(checkout)
    texts(repository)
    history(repository)
    assert not mark.exists()


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("tests/a.py", True),
        ("a/testing/b.py", True),
        ("a/test_b.py", True),
        ("a/b_test.py", True),
        ("conftest.py", True),
        ("a/test.py", True),
        ("a/latest.py", False),
        ("a/contest_x.py", False),
        ("testbed/a.py", False),
    ],
)
def test_which_paths_are_tests(path: str, expected: bool) -> None:
    assert is_test(path) is expected


def test_what_paths_tell() -> None:
    assert vendored_folder("a/third_party/b/c.py") == "a/third_party"
    assert vendored_folder("a/party/c.py") is None
    assert peripheral_folder("Examples/x.py") == "examples"
    assert peripheral_folder("pkg/example.py") is None
    assert (dotted("a/b.py"), dotted("a/b/__init__.py")) == ("a.b", "a.b")
