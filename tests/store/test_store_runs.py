"""Naming, listing and finding runs."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from netmend.errors import RunNotFound
from netmend.store import RunWriter, find_run, list_runs, new_run_id, runs_root
from netmend.vocabulary import RunFact


def make(root: Path, name: str, started: float = 1.0) -> Path:
    RunWriter.create(root / name, RunFact(name, "train.py", started=started, status="finished")).close()
    return root / name


def test_ids_sort_by_time_and_leave_the_random_state_alone() -> None:
    state = random.getstate()
    first, second = new_run_id(1_700_000_000.0), new_run_id(1_700_000_001.0)
    assert random.getstate() == state
    assert first < second
    assert re.fullmatch(r"\d{4}-\d\d-\d\d-\d{6}-[2-9a-z]{3}", first)
    assert len({new_run_id(0.0) for _ in range(50)}) > 1


def test_the_root_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("NETMEND_DIR", raising=False)
    monkeypatch.chdir(tmp_path)
    assert runs_root() == tmp_path / ".netmend" / "runs"
    assert runs_root(Path("elsewhere")) == Path("elsewhere/.netmend/runs")
    monkeypatch.setenv("NETMEND_DIR", "/data/nm")
    assert runs_root() == Path("/data/nm/runs")


def test_the_list_is_newest_first_and_survives_bad_runs(tmp_path: Path) -> None:
    make(tmp_path, "b-old", 10.0)
    make(tmp_path, "a-new", 20.0)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "trace.sqlite").write_bytes(b"no database at all" * 100)
    (tmp_path / "hollow").mkdir()
    (tmp_path / "notes.txt").write_text("not a run")
    infos = list_runs(tmp_path)
    assert [info.id for info in infos if info.run] == ["a-new", "b-old"]
    problems = {info.id: info.problem for info in infos if info.problem}
    assert set(problems) == {"broken", "hollow"}
    assert "damaged" in problems["broken"] and "missing" in problems["hollow"]
    assert all("\n" not in problem for problem in problems.values())
    assert list_runs(tmp_path / "nowhere") == []


def test_runs_are_found_by_id_beginning_age_and_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = make(tmp_path, "2026-01-01-aaa", 1.0), make(tmp_path, "2026-02-02-bbb", 2.0)
    assert find_run(tmp_path, "2026-01-01-aaa") == old
    assert find_run(tmp_path, "2026-02") == new
    assert find_run(tmp_path, "last") == find_run(tmp_path, "latest") == new
    assert find_run(tmp_path / "nowhere", str(old)) == old
    assert find_run(tmp_path / "nowhere", str(old / "trace.sqlite")) == old
    monkeypatch.chdir(tmp_path)
    assert find_run(tmp_path / "nowhere", "2026-01-01-aaa").resolve() == old


def test_an_id_that_begins_another_is_meant_exactly(tmp_path: Path) -> None:
    short = make(tmp_path, "run")
    make(tmp_path, "run2")
    assert find_run(tmp_path, "run") == short


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("2026", "fits 2 runs"),
        ("2026-01-01-aab", "did you mean 2026-01-01-aaa?"),
        ("latst", "did you mean latest?"),
        ("zzz", "netmend runs"),
        ("", "netmend runs"),
        ("../..", "netmend runs"),
    ],
)
def test_what_is_not_found_gets_advice_in_one_line(tmp_path: Path, name: str, message: str) -> None:
    make(tmp_path, "2026-01-01-aaa")
    make(tmp_path, "2026-02-02-bbb")
    with pytest.raises(RunNotFound) as caught:
        find_run(tmp_path, name)
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_without_runs_the_advice_is_to_record_one(tmp_path: Path) -> None:
    with pytest.raises(RunNotFound, match=r"no runs yet under .*; record one with: netmend run train\.py"):
        find_run(tmp_path, "last")


def test_runs_are_kept_out_of_commits(tmp_path: Path) -> None:
    make(tmp_path / ".netmend" / "runs", "a")
    assert (tmp_path / ".netmend" / ".gitignore").read_text() == "*\n"
    make(tmp_path / "plain" / "runs", "a")
    assert not (tmp_path / "plain" / ".gitignore").exists()
