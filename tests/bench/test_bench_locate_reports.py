"""Reports, protocol, groups: what is searched, what counts, what may be known."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from bench.locate.denchmark import Report, earlier, read_reports, usable
from bench.locate.groups import Label, groups, leaks, read_labels
from bench.locate.protocol import Protocol
from netmend.errors import UsageError


def written(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "id": f"owner+name#{number}",
        "project": "owner+name",
        "category": "Tool",
        "title": "It fails",
        "description": "Always.",
        "opened": f"2020-01-{number:02}T10:00:00Z",
        "closed": f"2020-01-{number:02}T12:00:00Z",
        "fix_time": f"2020-01-{number:02} 12:30:00+01:00",
        "fix_commit": "f" * 40,
        "fix_parent": "e" * 40,
        "snapshot_at_open": "d" * 40,
        "py_changes": [
            {"path": "a.py", "change": "MODIFY", "test": False},
            {"path": "tests/test_a.py", "change": "MODIFY", "test": True},
            {"path": "b.py", "change": "ADD", "test": False},
        ],
        "names_buggy_basename": number == 1,
        "links_commit_or_pr": number == 2,
        **changes,
    }


def reports(tmp_path: Path, *rows: dict[str, Any]) -> tuple[Report, ...]:
    file = tmp_path / "reports.jsonl.gz"
    with gzip.open(file, "wt", encoding="utf-8") as stream:
        stream.write("\n".join(json.dumps(row) for row in rows) + "\n")
    return read_reports(file)


def test_gold_is_what_the_fix_modified_with_or_without_tests(tmp_path: Path) -> None:
    (report,) = reports(tmp_path, written(1))
    assert Protocol("src").fixed(report) == {"a.py"}
    assert Protocol("all").fixed(report) == {"a.py", "tests/test_a.py"}
    assert Protocol(at="open").commit(report) == "d" * 40
    assert Protocol(at="fix-parent").commit(report) == "e" * 40
    assert report.fixed == report.opened + 90 * 60


def test_only_reports_with_a_fixed_file_and_a_known_fix_are_used(tmp_path: Path) -> None:
    tests_only = written(2, py_changes=[{"path": "test_a.py", "change": "MODIFY", "test": True}])
    found = reports(
        tmp_path, written(1), tests_only, written(3, snapshot_at_open=None), written(4, fix_commit=None)
    )
    assert [report.id for report in usable(found)] == ["owner+name#1", "owner+name#3"]


def test_earlier_reports_are_closed_and_fixed_before_in_the_same_project(tmp_path: Path) -> None:
    found = reports(
        tmp_path,
        written(1),
        written(2, closed="2020-01-20T00:00:00Z"),
        written(3, fix_time="2020-01-20 00:00:00+00:00"),
        written(4, project="other+name", id="other+name#4"),
        written(5),
        written(6),
    )
    by_id = {report.id: report for report in found}
    assert [report.id for report in earlier(by_id["owner+name#5"], found)] == ["owner+name#1"]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ('{"id": "x"}\n', "line 1: not a report"),
        ("[1]\n", "line 1"),
        ("not json\n", "line 1"),
        ("\n", "no report"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: str, what: str) -> None:
    file = tmp_path / "x.jsonl"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(UsageError, match=what):
        read_reports(file)


def test_a_cut_archive_is_refused(tmp_path: Path) -> None:
    reports(tmp_path, *(written(number) for number in range(1, 25)))
    whole = (tmp_path / "reports.jsonl.gz").read_bytes()
    (tmp_path / "cut.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UsageError, match=r"cut\.gz"):
        read_reports(tmp_path / "cut.gz")


def test_protocols_of_other_names_are_refused() -> None:
    with pytest.raises(UsageError, match="--protocol must be src or all, got 'tests'"):
        Protocol("tests")
    with pytest.raises(UsageError, match="--at must be open or fix-parent, got 'now'"):
        Protocol("src", "now")


def test_groups_and_leaks(tmp_path: Path) -> None:
    found = reports(tmp_path, written(1), written(2), written(3, category="Library"))
    counted = {"owner+name#1": 100, "owner+name#2": 400, "owner+name#3": 900}
    made = groups(found, counted, {"owner+name#2": Label("GPU", True)})
    one, two, three = (report.id for report in found)
    assert made[""] == {"all reports": (one, two, three)}
    assert made["candidates"] == {"400 and more": (two, three), "600 and more": (three,), "under 400": (one,)}
    assert made["category"] == {"Library": (three,), "Tool": (one, two)}
    assert made["what the text gives away"]["names a fixed file"] == (one,)
    assert made["what the text gives away"]["links a commit or pull request"] == (two,)
    assert made["type (labelled)"] == {"GPU": (two,)}
    assert made["cause (labelled)"] == {"extrinsic": (two,)}
    assert leaks(found)["fixed before it was opened"] == 0


def test_labels(tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    file.write_text('id,type,extrinsic,reason\na#1,GPU,1,"driver, old"\nb#2,Model,0,x\n', encoding="utf-8")
    assert read_labels(file) == {"a#1": Label("GPU", True), "b#2": Label("Model", False)}
    file.write_text("id,type,extrinsic\na#1,GPU,maybe\n", encoding="utf-8")
    with pytest.raises(UsageError, match="line 2"):
        read_labels(file)
