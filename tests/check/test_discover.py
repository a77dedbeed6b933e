"""Which files are checked: everything that is the user's, in a fixed order, whatever the file system holds."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from netmend.check.discover import Exclusion, discover
from netmend.errors import UsageError


def make(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("", encoding="utf-8")


def found(root: Path, *given: str, exclude: tuple[str, ...] = (), force: bool = False) -> list[str]:
    files = discover([str(root / name) for name in given or ("",)], Exclusion(exclude, str(root)), force)
    return [Path(file).relative_to(root).as_posix() for file in files]


def test_python_files_and_notebooks_below_a_folder_in_order(tmp_path: Path) -> None:
    make(tmp_path, "b.py", "a.py", "notes.txt", "sub/z.ipynb", "sub/deep/c.py", "a/x.py", "stub.pyi")
    assert found(tmp_path) == ["a.py", "b.py", "a/x.py", "sub/z.ipynb", "sub/deep/c.py"]


def test_what_is_not_the_users_is_skipped(tmp_path: Path) -> None:
    skipped = (".git", ".venv", "venv", "site-packages", "node_modules", ".netmend", "__pycache__", "build")
    make(tmp_path, "own.py", *(f"{name}/x.py" for name in skipped))
    make(
        tmp_path,
        "environment/pyvenv.cfg",
        "environment/lib/y.py",
        "cached/CACHEDIR.TAG",
        "cached/z.py",
        ".#own.py",
    )
    assert found(tmp_path) == ["own.py"]


def test_a_folder_inside_site_packages_can_be_given(tmp_path: Path) -> None:
    make(
        tmp_path,
        "lib/site-packages/package/module.py",
        "lib/site-packages/package/build/made.py",
        "lib/pyvenv.cfg",
    )
    assert found(tmp_path, "lib/site-packages/package") == ["lib/site-packages/package/module.py"]
    assert found(tmp_path, "lib/site-packages") == ["lib/site-packages/package/module.py"]
    assert found(tmp_path, "lib") == []


def test_a_file_given_directly_is_always_taken(tmp_path: Path) -> None:
    make(tmp_path, "script", ".venv/x.py", "made/y.py")
    assert found(tmp_path, "script", ".venv/x.py", "made/y.py", exclude=("made",)) == [
        "script", ".venv/x.py", "made/y.py",
    ]  # fmt: skip
    assert found(tmp_path, "script", "made/y.py", exclude=("made",), force=True) == ["script"]


def test_a_file_is_taken_once(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "sub/b.py")
    assert found(tmp_path, "sub/b.py", "", "a.py", "sub/../a.py") == ["sub/b.py", "a.py"]


@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        ("generated", ["a.py", "src/b.py", "src/deep/c_pb2.py"]),
        ("*_pb2.py", ["a.py", "generated/g.py", "src/b.py", "src/generated/h.py"]),
        ("src/generated", ["a.py", "generated/g.py", "src/b.py", "src/deep/c_pb2.py"]),
        ("src/**/c_*.py", ["a.py", "generated/g.py", "src/b.py", "src/generated/h.py"]),
        ("src/**", ["a.py", "generated/g.py"]),
        ("./src/", ["a.py", "generated/g.py"]),
    ],
)
def test_patterns_of_the_configuration(tmp_path: Path, pattern: str, left: list[str]) -> None:
    make(tmp_path, "a.py", "generated/g.py", "src/b.py", "src/deep/c_pb2.py", "src/generated/h.py")
    assert sorted(found(tmp_path, exclude=(pattern,))) == left


def test_links_cannot_make_it_loop(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "sub/b.py")
    (tmp_path / "sub" / "up").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "sub" / "self").symlink_to("self")
    (tmp_path / "round.py").symlink_to("round.py")
    (tmp_path / "other.py").symlink_to("a.py")
    (tmp_path / "folder.py").symlink_to("sub", target_is_directory=True)
    assert found(tmp_path) == ["a.py", "other.py", "round.py", "sub/b.py"]
    assert found(tmp_path, "folder.py") == ["folder.py/b.py"]  # given directly, so it is followed


def test_a_folder_named_like_a_file_is_looked_into(tmp_path: Path) -> None:
    make(tmp_path, "odd.py/x.py")
    assert found(tmp_path) == ["odd.py/x.py"]


@pytest.mark.parametrize("name", ["missing.py", "missing/folder"])
def test_a_path_that_is_not_there_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(
        UsageError, match=f"{name} does not exist; give files, folders, or - for standard input"
    ):
        discover([str(tmp_path / name)])


def test_names_that_are_no_text(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/\xff\xfe.py"
    try:
        with open(name, "wb") as file:  # noqa: PTH123 - the name is bytes
            file.write(b"x = 1\n")
    except OSError:
        pytest.skip("this file system takes only text as names")
    assert [os.fsencode(file) for file in discover([str(tmp_path)])] == [name]
