"""A patch in the user's files: proven ones only, all files or none, originals kept."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from netmend.errors import UsageError
from netmend.program.text.spans import Span
from netmend.repair import apply_result as module
from netmend.repair.apply import read
from netmend.repair.apply_result import apply_result
from netmend.repair.result import Result
from netmend.repair.version import Part, Version
from netmend.trials.trial import FINISHED, Outcome
from netmend.vocabulary.change import Change
from netmend.vocabulary.verification import NONE, PROMISING, PROVEN, Verification


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_bytes(b"lr = 10\r\nname = '\xc3\xa9'\r\n")
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "model.py").write_bytes(b"width = 1")
    return tmp_path


def result(
    folder: Path,
    verdict: str | None = PROVEN,
    arguments: tuple[str, ...] | None = None,
    **changes: tuple[str, str],
) -> Result:
    """`train="10"→"1"`: what is replaced in which file (train or model)."""
    names = {"train": "train.py", "model": "package/model.py"}
    originals, parts = {}, []
    for short, (old, new) in changes.items():
        file = names[short]
        originals[file] = read(str(folder / file))
        start = originals[file].index(old)
        parts.append(Part(Change("", "", ""), {file: (Span(start, start + len(old), new),)}))
    if arguments is not None:
        parts.append(Part(Change("", "", ""), {}, ((), arguments)))
    outcome = Outcome(FINISHED)
    return Result(
        "train.py", str(folder), (), Version(originals, (), tuple(parts)), None, outcome, outcome, None, (),
        None if verdict is None else Verification(verdict), 1.0, 1.0, "20 trainings",
    )  # fmt: skip


def everything(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_a_proven_patch_is_applied_and_the_original_kept(folder: Path) -> None:
    before = everything(folder)
    (folder / "train.py").chmod(0o640)
    lines = list(apply_result(result(folder, train=("10", "0.01"))))
    assert lines == ["train.py patched; the original is train.py.orig"]
    after = everything(folder)
    assert after == {
        **before,
        "train.py": before["train.py"].replace(b"10", b"0.01"),  # line ends and all else as they were
        "train.py.orig": before["train.py"],
    }
    assert (folder / "train.py").stat().st_mode & 0o777 == 0o640


def test_two_files(folder: Path) -> None:
    before = everything(folder)
    lines = list(apply_result(result(folder, train=("10", "1"), model=("width = 1", "width = 9"))))
    assert len(lines) == 2
    after = everything(folder)
    assert after["package/model.py"] == b"width = 9" and after["train.py"] == before["train.py"].replace(
        b"10", b"1"
    )
    assert after["package/model.py.orig"] == before["package/model.py"]
    assert after["train.py.orig"] == before["train.py"]


@pytest.mark.parametrize("verdict", [PROMISING, NONE, None])
def test_nothing_else_is_applied(folder: Path, verdict: str | None) -> None:
    before = everything(folder)
    (line,) = apply_result(result(folder, verdict, train=("10", "1")))
    assert "nothing was applied" in line and (verdict or NONE) in line
    assert everything(folder) == before


def test_an_earlier_original_is_never_overwritten(folder: Path) -> None:
    (folder / "train.py.orig").write_bytes(b"precious")
    (folder / "train.py.orig1").mkdir()
    before = everything(folder)
    (line,) = apply_result(result(folder, train=("10", "1")))
    assert line.endswith("train.py.orig2")
    after = everything(folder)
    assert after["train.py.orig"] == b"precious" and after["train.py.orig2"] == before["train.py"]


def test_an_original_that_is_there_already_is_kept_once(folder: Path) -> None:
    (folder / "train.py.orig").write_bytes((folder / "train.py").read_bytes())
    (line,) = apply_result(result(folder, train=("10", "1")))
    assert line.endswith("train.py.orig") and not (folder / "train.py.orig1").exists()


@pytest.mark.parametrize("changed", ["train.py", "package/model.py"])
def test_refused_when_a_file_changed_meanwhile(folder: Path, changed: str) -> None:
    made = result(folder, train=("10", "1"), model=("width = 1", "width = 9"))
    with (folder / changed).open("ab") as file:
        file.write(b"# the user was here\n")
    before = everything(folder)
    with pytest.raises(UsageError, match=f"{changed} changed while it was repaired; nothing was applied"):
        list(apply_result(made))
    assert everything(folder) == before


def test_refused_when_a_file_is_gone(folder: Path) -> None:
    made = result(folder, train=("10", "1"), model=("width = 1", "width = 9"))
    (folder / "train.py").unlink()
    before = everything(folder)
    with pytest.raises(UsageError, match=r"train\.py cannot be read .*nothing was applied"):
        list(apply_result(made))
    assert everything(folder) == before


@pytest.mark.parametrize("failure", [UsageError("disk full"), KeyboardInterrupt(), OSError(28, "no space")])
def test_all_files_or_none(folder: Path, failure: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    made = result(folder, train=("10", "1"), model=("width = 1", "width = 9"))
    before = everything(folder)
    plain, count = module.write, []

    def write(*arguments: object) -> None:
        count.append(1)
        if len(count) == 2:
            raise failure
        plain(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "write", write)
    with pytest.raises(type(failure)):
        list(apply_result(made))
    assert everything(folder) == before  # no half, and no originals lying around either


@pytest.mark.skipif(os.name != "posix", reason="file modes")
def test_a_read_only_file_is_left_alone(folder: Path) -> None:
    made = result(folder, train=("10", "1"), model=("width = 1", "width = 9"))
    (folder / "train.py").chmod(0o444)
    before = everything(folder)
    with pytest.raises(UsageError, match="read-only"):
        list(apply_result(made))
    assert everything(folder) == before


def test_a_reader_that_goes_away_leaves_it_whole(folder: Path) -> None:
    """`netmend repair --apply train.py | head -1`"""
    lines = apply_result(result(folder, train=("10", "1"), model=("width = 1", "width = 9")))
    next(lines)
    lines.close()  # type: ignore[attr-defined]
    assert (folder / "train.py").read_bytes().startswith(b"lr = 1\r\n")
    assert (folder / "package" / "model.py").read_bytes() == b"width = 9"


def test_a_link_stays_a_link(folder: Path) -> None:
    (folder / "real.py").write_bytes((folder / "train.py").read_bytes())
    (folder / "train.py").unlink()
    (folder / "train.py").symlink_to("real.py")
    list(apply_result(result(folder, train=("10", "1"))))
    assert (folder / "train.py").is_symlink()
    assert (folder / "real.py").read_bytes().startswith(b"lr = 1\r\n")


def test_bytes_of_another_encoding_stay(folder: Path) -> None:
    data = b"# -*- coding: latin-1 -*-\nlr = 10  # \xe9\n"
    (folder / "train.py").write_bytes(data)
    list(apply_result(result(folder, train=("10", "1"))))
    assert (folder / "train.py").read_bytes() == data.replace(b"10", b"1")
    assert (folder / "train.py.orig").read_bytes() == data


def test_new_arguments_are_told(folder: Path) -> None:
    before = everything(folder)
    (line,) = apply_result(result(folder, arguments=("--lr", "0.1", "--name", "a b")))
    assert line == "start it with: train.py --lr 0.1 --name 'a b'"
    assert everything(folder) == before


def test_nothing_is_done_before_it_is_asked_for(folder: Path) -> None:
    before = everything(folder)
    apply_result(result(folder, train=("10", "1")))
    assert everything(folder) == before
