"""Slips of the hand, at the command line and in a notebook: each is answered with what was probably meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from netmend.cli import main
from netmend.errors import UsageError
from netmend.vocabulary import (
    HEALTHY,
    Diagnosis,
    ModelFact,
    ParameterFact,
    RunFact,
    Table,
    Trace,
)
from netmend.watching import Report


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    assert ended.value.code == 2
    output = capsys.readouterr()
    assert not output.out
    assert len(output.err.splitlines()) == 1
    return output.err


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hw1.py").write_text("import sys\nprint(sys.argv[1:])\n")
    (tmp_path / "moons.ipynb").write_text('{"cells": [], "metadata": {}, "nbformat": 4}')
    return tmp_path


@pytest.mark.parametrize("command", ["run", "repair", "neutral", "mutate"])
def test_a_notebook_cannot_be_run_but_checked_or_watched(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = said(capsys, command, "moons.ipynb")
    assert "netmend check moons.ipynb" in words and "netmend.watch()" in words


def test_python_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert "netmend run hw1.py --lr 1" in said(capsys, "run", "python", "hw1.py", "--lr", "1")
    assert "netmend repair hw1.py" in said(capsys, "repair", "python3", "hw1.py")
    assert "netmend run hw1.py" in said(capsys, "python", "hw1.py")


def test_a_script_without_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert "netmend run hw1.py --lr 1" in said(capsys, "hw1.py", "--lr", "1")
    assert "netmend check moons.ipynb" in said(capsys, "moons.ipynb")


def test_a_script_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert "did you mean hw1.py?" in said(capsys, "run", "hw2.py")


def test_an_option_behind_the_script_goes_to_the_script_with_a_hint(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main_quietly("run", "hw1.py", "--html", "x.html")
    output = capsys.readouterr()
    assert output.out == "['--html', 'x.html']\n"
    assert "netmend run --html … hw1.py" in output.err
    (folder / "own.py").write_text("import sys\nknown = '--html'\nprint(sys.argv[1:])\n")
    main_quietly("run", "own.py", "--html", "x.html")
    assert "stands after the script" not in capsys.readouterr().err


def main_quietly(*arguments: str) -> None:
    """Runs a script in this process, and leaves no trace of it."""
    import sys

    kept = list(sys.argv), list(sys.path), sys.modules["__main__"]
    try:
        main(list(arguments))
    finally:
        sys.argv[:], sys.path[:] = kept[0], kept[1]
        sys.modules["__main__"] = kept[2]


def recorded() -> Trace:
    facts = (
        RunFact("2026-11-18-120000-abc", "train.py", steps=7, status="finished"),
        ModelFact("model", "Net", parameters=1),
        ParameterFact("model.0.weight"),
        ParameterFact("model.1.weight"),
    )
    by_kind: dict[str, dict[str, object]] = {"run": {}, "model": {}, "parameter": {}}
    for fact, kind in zip(facts, ("run", "model", "parameter", "parameter"), strict=True):
        by_kind[kind][fact.name] = fact
    table = Table.of("update", "model.0.weight", {0: (1.0, 2.0)})
    return Trace(by_kind, {("update", "model.0.weight"): table})  # type: ignore[arg-type]


def test_a_mistyped_name_of_a_series_is_an_error_with_a_suggestion() -> None:
    trace = recorded()
    assert list(trace.series("update", "model.0.weight", "ratio")[1]) == [2.0]
    assert len(trace.series("update", "model.1.weight", "ratio")[0]) == 0  # there, but not measured
    with pytest.raises(UsageError, match=r"did you mean 'model\.0\.weight'"):
        trace.series("update", "modle.0.weight", "ratio")
    with pytest.raises(UsageError, match="did you mean 'update'"):
        trace.series("updte", "model.0.weight", "ratio")
    with pytest.raises(UsageError, match="did you mean 'ratio'"):
        trace.series("update", "model.0.weight", "ration")


def test_a_trace_and_a_report_are_one_line() -> None:
    trace = recorded()
    report = Report(trace, Diagnosis(HEALTHY))
    assert repr(trace) == str(trace) == "<Trace 2026-11-18-120000-abc: train.py, Net, 7 steps, finished>"
    assert repr(report) == "<Report 2026-11-18-120000-abc: train.py healthy>"
    assert trace._repr_html_().startswith("<code>&lt;Trace")
