"""Bad input gets one clear line and the right exit code, never a traceback of ours."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest
from launching import OWN_SOURCE, PROGRAMS, Outcome, netmend_command, plain_and_watched

from netmend.store import RunWriter
from netmend.vocabulary import RunFact


def assert_one_clear_line(outcome: Outcome, *words: str) -> None:
    assert outcome.code == 2, outcome
    assert outcome.out == ""
    assert len(outcome.error_lines) == 1, outcome.err
    for word in words:
        assert word in outcome.err


def make_run(home: Path, name: str = "run-a") -> Path:
    """A readable run without any training in it."""
    directory = home / ".netmend" / "runs" / name
    RunWriter.create(directory, RunFact(name=name, script="train.py", status="finished")).close()
    return directory


def test_script_that_does_not_exist(tmp_path: Path) -> None:
    (tmp_path / "train.py").touch()
    assert_one_clear_line(netmend_command(tmp_path, "run", "trian.py"), "trian.py")
    assert not (tmp_path / ".netmend").exists()


def test_directory_instead_of_script(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    assert_one_clear_line(netmend_command(tmp_path, "run", "project"), "project")


def test_module_that_does_not_exist(tmp_path: Path) -> None:
    outcome = netmend_command(tmp_path, "run", "-m", "no_such_package.train")
    assert outcome.code in (1, 2)
    assert len(outcome.error_lines) == 1
    assert "no_such_package" in outcome.err


def test_no_script_at_all(tmp_path: Path) -> None:
    outcome = netmend_command(tmp_path, "run")
    assert outcome.code == 2
    assert "Traceback" not in outcome.err
    assert "script" in outcome.err.lower()


@pytest.mark.parametrize(
    "source", ["def train(:\n    pass\n", "if True:\nprint(1)\n", "x = 'never closed\n", "print('nul')\0"]
)
def test_syntax_error(source: str, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text(source)
    plain, watched = plain_and_watched(tmp_path, "broken.py")
    assert plain.code == 1
    assert watched == plain  # the user's own error, in Python's own words


def test_binary_file_as_script(tmp_path: Path) -> None:
    (tmp_path / "model.pt").write_bytes(bytes(range(256)) * 10)
    outcome = netmend_command(tmp_path, "run", "-q", "model.pt")
    assert outcome.code in (1, 2)
    assert OWN_SOURCE not in outcome.err


@pytest.mark.parametrize("program", ["never_trains.py", "inference_only.py", "zero_steps.py"])
def test_program_without_training(program: str, tmp_path: Path) -> None:
    plain, watched = plain_and_watched(tmp_path, str(PROGRAMS / program), options=())
    assert (watched.code, watched.out) == (plain.code, plain.out)
    assert "Traceback" not in watched.err
    assert re.search("nothing was recorded|no optimiser step", watched.err)
    shown = netmend_command(tmp_path, "show", "last")
    assert "Traceback" not in shown.err
    assert shown.code in (0, 2)


@pytest.mark.parametrize("value", ["abc", "-5%", "nan", "", "1%%"])
def test_bad_overhead(value: str, tmp_path: Path) -> None:
    outcome = netmend_command(tmp_path, "run", "--overhead", value, str(PROGRAMS / "never_trains.py"))
    assert_one_clear_line(outcome, "--overhead", value)


@pytest.mark.parametrize("value", ["0", "-3", "often"])
def test_bad_every(value: str, tmp_path: Path) -> None:
    outcome = netmend_command(tmp_path, "run", "--every", value, str(PROGRAMS / "never_trains.py"))
    assert_one_clear_line(outcome, "--every", value)


def test_unknown_option_and_command(tmp_path: Path) -> None:
    for arguments in (("run", "--overhaed", "1%", "x.py"), ("shwo",), ("runs", "--nothing")):
        outcome = netmend_command(tmp_path, *arguments)
        assert outcome.code == 2
        assert "Traceback" not in outcome.err
        assert outcome.out == ""


@pytest.mark.parametrize("command", [("show",), ("export", "--to", "json")])
def test_unknown_run(command: tuple[str, ...], tmp_path: Path) -> None:
    make_run(tmp_path)
    outcome = netmend_command(tmp_path, command[0], "no-such-run", *command[1:])
    assert_one_clear_line(outcome, "no-such-run")


def test_no_runs_yet(tmp_path: Path) -> None:
    listed = netmend_command(tmp_path, "runs")
    assert listed.code == 0
    assert "Traceback" not in listed.err
    assert_one_clear_line(netmend_command(tmp_path, "show", "last"))


@pytest.mark.parametrize(
    "damage",
    ["garbage", "empty file", "truncated", "no file", "other database", "directory in place of the file"],
)
def test_corrupt_run(damage: str, tmp_path: Path) -> None:
    trace = make_run(tmp_path) / "trace.sqlite"
    whole = trace.read_bytes()
    trace.unlink()
    if damage == "garbage":
        trace.write_bytes(b"this is not a database" * 200)
    elif damage == "empty file":
        trace.touch()
    elif damage == "truncated":
        trace.write_bytes(whole[: len(whole) // 2 - 100])
    elif damage == "other database":
        with sqlite3.connect(trace) as connection:
            connection.execute("CREATE TABLE recipes (name TEXT)")
        connection.close()
    elif damage == "directory in place of the file":
        trace.mkdir()
    assert_one_clear_line(netmend_command(tmp_path, "show", "run-a"), "run-a")
    listed = netmend_command(tmp_path, "runs")  # one bad run must not hide the list
    assert listed.code == 0
    assert "run-a" in listed.out
    assert "Traceback" not in listed.err


def test_run_of_a_newer_version(tmp_path: Path) -> None:
    trace = make_run(tmp_path) / "trace.sqlite"
    with sqlite3.connect(trace) as connection:
        connection.execute("PRAGMA user_version = 999")
    connection.close()
    assert_one_clear_line(netmend_command(tmp_path, "show", "run-a"), "newer", "999")
    assert_one_clear_line(netmend_command(tmp_path, "export", "run-a", "--to", "json"), "newer")


def test_unknown_export_format(tmp_path: Path) -> None:
    make_run(tmp_path)
    outcome = netmend_command(tmp_path, "export", "run-a", "--to", "excel")
    assert outcome.code == 2
    assert "excel" in outcome.err
    assert "Traceback" not in outcome.err


def test_readable_run_is_shown(tmp_path: Path) -> None:
    """The checks above would also pass for a command that always fails."""
    make_run(tmp_path)
    shown = netmend_command(tmp_path, "show", "run-a")
    assert shown.code == 0
    assert "run-a" in shown.out
