"""The copy of the program's folder, and what it is known by."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from netmend.trials import workspace
from netmend.trials.workspace import entries, fingerprint, make, strip


@pytest.fixture
def user(tmp_path: Path) -> Path:
    files = {
        "train.py": "import net\n",
        "net.py": "WIDTH = 4\n",
        "data/a.csv": "1,2\n",
        "env/__init__.py": "",  # a package of the program's
        "venv/pyvenv.cfg": "",
        "venv/lib/x.py": "",
        ".git/config": "",
        ".netmend/trials/k/trial.json": "",
        "__pycache__/net.pyc": "",
        "elsewhere/netmend-trials": "",
        "elsewhere/k/program/train.py": "",
        "wandb/run/log.txt": "",
        "ünï code/f ile.txt": "x",
    }
    for name, text in files.items():
        (tmp_path / "user" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "user" / name).write_text(text)
    return tmp_path / "user"


KEPT = {"train.py", "net.py", "data/a.csv", "env/__init__.py", "ünï code/f ile.txt"}


def names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


def test_copy(user: Path, tmp_path: Path) -> None:
    assert {entry.relative for entry in entries(user)} == KEPT
    assert next(iter(entries(user))).relative in ("net.py", "train.py")  # shallow ones first
    texts = (("net.py", "WIDTH = 8\n"), ("new/deep.py", "x = '\udcff'\n"))
    assert make(user, tmp_path / "copy", texts) == ()
    copy = tmp_path / "copy"
    assert names(copy) == KEPT | {"new/deep.py"}
    assert (copy / "net.py").read_text() == "WIDTH = 8\n"
    assert (user / "net.py").read_text() == "WIDTH = 4\n"
    assert (copy / "new/deep.py").read_bytes() == b"x = '\xff'\n"  # bytes that are no UTF-8 come through
    assert (copy / "data/a.csv").stat().st_mtime_ns == (user / "data/a.csv").stat().st_mtime_ns
    (copy / "left over.bin").write_text("x")
    make(user, copy, ())
    assert names(copy) == KEPT
    make(user, copy, texts, sources_only=True)
    assert names(copy) == (KEPT | {"new/deep.py"}) - {"data/a.csv"}


def test_only_sources_stay(user: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    make(user, copy, ())
    (copy / "model.pt").write_text("x")
    (copy / "log.json").write_text("x" * 2_000_000)
    (copy / "link").symlink_to(user / "train.py")
    (copy / "out").mkdir()
    strip(copy)
    assert names(copy) == KEPT - {"data/a.csv"}
    assert not (copy / "out").exists()
    strip(tmp_path / "never there")


def test_large_files_are_linked(user: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "_COPIED_BYTES", 10)
    (user / "large.bin").write_bytes(b"x" * 11)
    copy = tmp_path / "copy"
    assert make(user, copy, ()) == (str(user / "large.bin"),)
    assert (copy / "large.bin").is_symlink()
    assert not (copy / "train.py").is_symlink()
    monkeypatch.setattr(workspace, "_COPIED_BYTES", 1000)
    monkeypatch.setattr(workspace, "_TOTAL_BYTES", 20)
    assert str(user / "data/a.csv") in make(user, copy, ())
    assert not (copy / "net.py").is_symlink()  # sources never
    (copy / "data/a.csv").unlink()
    assert (user / "data/a.csv").exists()


def test_folder_with_too_many_files_is_linked(
    user: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not cut off: a program that misses half of its data would be another program."""
    monkeypatch.setattr(workspace, "_MOST_FILES", 20)
    for number in range(30):
        (user / "data" / f"{number}.png").write_text("x")
    (user / "data" / "helper.py").write_text("x = 1\n")
    copy = tmp_path / "copy"
    assert make(user, copy, ()) == (str(user / "data"),)
    assert (copy / "data").is_symlink()
    assert len(list((copy / "data").iterdir())) == 32
    make(user, copy, (("data/helper.py", "x = 2\n"),))  # a text goes into the copy, never through the link
    assert (copy / "data/helper.py").read_text() == "x = 2\n"
    assert (user / "data/helper.py").read_text() == "x = 1\n"
    assert len(list((copy / "data").iterdir())) == 32
    strip(copy)
    assert (copy / "data/helper.py").exists()


def test_links(user: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "net.py").write_text("x = 1\n")
    (user / "inside").symlink_to("data")
    (user / "out").symlink_to(outside)
    (user / "file.py").symlink_to(outside / "net.py")
    (user / "dangling").symlink_to("nowhere")
    (user / "data" / "self").symlink_to(user / "data")
    copy = tmp_path / "copy"
    assert make(user, copy, (("file.py", "x = 2\n"), ("out/net.py", "x = 3\n"))) == (str(outside),)
    assert (copy / "inside").resolve() == copy / "data"
    assert (copy / "data/self/self/a.csv").exists()
    assert (outside / "net.py").read_text() == "x = 1\n"
    assert (copy / "file.py").read_text() == "x = 2\n"
    assert (copy / "out/net.py").read_text() == "x = 3\n"
    assert not (copy / "dangling").exists()


def test_unreadable_file_is_linked(user: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = shutil.copy2

    def refuse(source: Path, target: Path) -> object:
        if Path(source).name == "net.py":
            raise PermissionError(13, "Permission denied")
        return plain(source, target)

    monkeypatch.setattr(shutil, "copy2", refuse)
    assert make(user, tmp_path / "copy", ()) == (str(user / "net.py"),)
    monkeypatch.setattr(Path, "read_bytes", lambda path: refuse(path, path))
    assert fingerprint(user) == fingerprint(user)


def test_fingerprint(user: Path) -> None:
    seen = [fingerprint(user)]
    assert fingerprint(user) == seen[0]
    (user / "elsewhere/k/other.py").write_text("")
    (user / "venv/lib/x.py").write_text("changed")
    assert fingerprint(user) == seen[0]
    (user / "net.py").write_text("WIDTH = 5\n")
    seen.append(fingerprint(user))
    (user / "net.py").rename(user / "net2.py")
    seen.append(fingerprint(user))
    os.utime(user / "data/a.csv", (1, 1))
    seen.append(fingerprint(user))
    (user / "a").write_text("b")
    seen.append(fingerprint(user))
    assert len(set(seen)) == len(seen)
    os.utime(user / "train.py", (1, 1))
    assert fingerprint(user) == seen[-1]
    assert fingerprint(user / "nowhere") == fingerprint(user / "nothing")
