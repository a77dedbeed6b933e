"""The baseline: what is known stays hidden when lines move, and the file compares well."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from netmend.check import baseline
from netmend.errors import UsageError
from netmend.vocabulary.finding import Finding

TEXT = "import torch\nloss.backward()\nloss.backward()\nopt.step()\n"


def finding(line: int, code: str = "S101", file: str = "train.py", cell: int | None = None) -> Finding:
    return Finding(code, "", "wrong", file, line, 0, line, 4, cell=cell)


def sources(file: str, cell: int | None) -> str:
    return TEXT


def test_what_was_written_is_known(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    found = [finding(2), finding(3), finding(4, "S102"), finding(2, file="./sub/a.py")]
    assert baseline.write(path, found, sources) == 4
    result = baseline.split(found, baseline.load(path), sources)
    assert result == baseline.Split((), tuple(found), 0)
    assert path.read_text() == (
        '{\n  "schema": 1,\n  "findings": {\n'
        '    "sub/a.py": [\n      {"code": "S101", "line": "loss.backward()"}\n    ],\n'
        '    "train.py": [\n      {"code": "S101", "line": "loss.backward()", "count": 2},\n'
        '      {"code": "S102", "line": "opt.step()"}\n    ]\n  }\n}\n'
    )


def test_the_file_is_the_same_whatever_the_order(tmp_path: Path) -> None:
    found = [finding(4), finding(2), finding(2, "S102"), finding(1, file="a.py")]
    baseline.write(tmp_path / "one.json", found, sources)
    baseline.write(tmp_path / "two.json", reversed(found), sources)
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()


def test_moved_and_indented_lines_stay_known_and_one_more_of_them_is_new(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    baseline.write(path, [finding(2)], sources)
    moved = "import torch\n\n\nfor x in y:\n    loss.backward()\n    loss.backward()\n"
    found = [finding(5), finding(6)]
    result = baseline.split(found, baseline.load(path), lambda file, cell: moved)
    assert result.known == (found[0],) and result.new == (found[1],)


def test_a_changed_line_is_new_and_its_entry_is_stale(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    baseline.write(path, [finding(2), finding(4, file="other.py")], sources)
    known = baseline.load(path)
    other_code = [finding(2, "S102")]
    assert baseline.split(other_code, known, sources) == baseline.Split((finding(2, "S102"),), (), 2)
    assert baseline.split([], known, sources, checked=["./train.py"]).stale == 1
    assert baseline.split([], known, sources, checked=[]).stale == 0


def test_cells_of_notebooks_may_move(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    in_cell = finding(2, file="a.ipynb", cell=3)
    baseline.write(path, [in_cell], sources)
    assert baseline.split([replace(in_cell, cell=5)], baseline.load(path), sources).new == ()


def test_nothing_known_and_nothing_readable(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    assert baseline.write(path, [], sources) == 0
    assert json.loads(path.read_text()) == {"schema": 1, "findings": {}}
    assert baseline.split([finding(9)], baseline.load(path), lambda file, cell: "").new == (finding(9),)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"<<<<<<< HEAD\n{}", "line 1: Expecting value"),
        (b"\xff\xfe", "can't decode"),
        (b"[]", 'it has no "findings"'),
        (b'{"schema": 1, "findings": []}', 'it has no "findings"'),
        (b'{"schema": 2, "findings": {}}', "has the schema 2, this netmend reads 1"),
        (b'{"schema": 1, "findings": {"a.py": {}}}', "'a.py' has no list of findings"),
        (b'{"schema": 1, "findings": {"a.py": [3]}}', "an entry without code and line: 3"),
        (
            b'{"schema": 1, "findings": {"a.py": [{"code": "S1", "line": 3}]}}',
            "an entry without code and line",
        ),
        (b'{"schema": 1, "findings": {"a.py": [{"code": "S1", "line": "", "count": 0}]}}', "the count 0"),
        (
            b'{"schema": 1, "findings": {"a.py": [{"code": "S1", "line": "", "count": true}]}}',
            "the count True",
        ),
        (b"[" * 100_000, "recursion"),
    ],
)
def test_a_file_that_cannot_be_understood_gives_one_line(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "known.json"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=re.escape(reason)) as caught:
        baseline.load(path)
    message = str(caught.value)
    assert "write it anew with --write-baseline" in message and str(path) in message and "\n" not in message


def test_files_that_are_missing_or_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"there is no baseline .*; write one with --baseline .* --write-baseline"
    ):
        baseline.load(tmp_path / "none.json")
    with pytest.raises(UsageError, match="cannot be read: Is a directory"):
        baseline.load(tmp_path)
    with pytest.raises(UsageError, match="cannot be written: No such file or directory"):
        baseline.write(tmp_path / "no" / "known.json", [], sources)
