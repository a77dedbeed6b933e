"""`netmend bench` as a user types it; the two smallest programs are trained for real."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from netmend.cli import main


def bench(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit code, output, errors."""
    with pytest.raises(SystemExit) as left:
        main(["bench", *arguments])
    seen = capsys.readouterr()
    return int(left.value.code or 0), seen.out, seen.err


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def test_without_an_argument_the_benchmarks_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = bench(capsys)
    assert code == 0
    for name in ("faults22", "bugs21", "silent", "repair", "netmend bench setup"):
        assert name in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("faults22", "--only", "D66"), "did you mean D6"),
        (("faults22", "--json", "no/such/r.json"), "does not exist; create it first"),
        (("faults22", "--json", "."), "that is a directory"),
        (("faults22", "--read", "missing.json"), "cannot be read"),
        (("faults22", "--only", ","), "--only must name"),
        (("bugs21", "--only", "bug_1"), "did you mean"),
        (("bugs21", "--seeds", "0"), "seeds"),
        (("repair", "--budgets", "many"), "--budgets must be"),
        (("no-such-benchmark",), "no-such-benchmark"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    code, out, err = bench(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("netmend: ") and err.count("\n") == 1
    assert words in err


def test_data_that_is_missing_names_the_step_that_fetches_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NETMEND_BENCH_DATA", str(tmp_path / "nothing"))
    code, _, err = bench(capsys, "faults22", "--only", "M1", "--no-repair")
    assert code == 2 and "netmend bench setup" in err


def test_a_fault_is_trained_told_kept_and_shown_again(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    options = ("faults22", "--only", "d6", "--seeds", "1", "--stability", "2", "--no-repair", "-j", "1")
    code, out, err = bench(capsys, *options, "--json", "r.json")
    assert code == 0, err
    data = json.loads((here / "r.json").read_text())
    runs = data["faults"][0]["runs"]
    assert [(run["side"], run["seed"], run["status"]) for run in runs] == [
        ("buggy", 0, "finished"),
        ("buggy", 1, "finished"),
        ("fixed", 0, "finished"),
    ]
    assert all(isinstance(run["value"], float) and run["seconds"] > 0 for run in runs)
    assert str(here) not in json.dumps(data)
    assert "D6" in out and "always 14" in out and "3 of 3" in err
    again = bench(capsys, *options, "--read", "r.json")
    assert (again[0], again[1]) == (0, out)
    outcomes = sorted(here.glob(".netmend/bench/faults22/D6/*-trials-*/*/outcome.json"))
    assert len(outcomes) == 3
    dates = [file.stat().st_mtime_ns for file in outcomes]
    assert bench(capsys, *options, "-q")[0] == 0
    assert [file.stat().st_mtime_ns for file in outcomes] == dates  # nothing was trained again


def test_an_interruption_says_how_to_go_on_and_leaves_nothing_running(here: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "netmend",
        "bench",
        "bugs21",
        "--only",
        "bug_07",
        "--seeds",
        "40",
        "-j",
        "1",
    ]
    process = subprocess.Popen(command, cwd=here, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    limit = time.monotonic() + 60
    while not list(here.glob(".netmend/**/outcome.json")) and time.monotonic() < limit:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert "run the same command to continue" in err and "Traceback" not in err
    assert list(here.glob(".netmend/**/outcome.json"))
    assert _running_below(here) == [str(os.getpid())]


def _running_below(folder: Path) -> list[str]:
    """Processes that work in the folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").readlink().is_relative_to(folder):
                found.append(process.name)
        except OSError:
            continue
    return found


def test_elsewhere_than_in_a_checkout_one_line_says_where_benchmarks_are(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(
        "netmend.__file__", str(tmp_path / "lib" / "site-packages" / "netmend" / "__init__.py")
    )
    code, out, err = bench(capsys, "faults22", "--help")
    assert (code, out) == (2, "")
    assert err.startswith("netmend: ") and "checkout" in err and err.count("\n") == 1
