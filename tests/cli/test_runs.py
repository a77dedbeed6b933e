"""`netmend runs` and `netmend show`: verdicts are kept with the run, sorted, chosen, and fit narrow terminals."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from netmend.cli import main
from netmend.diagnose.checked import NOT_APPLICABLE, PASSED, SPOKE, TOO_SHORT, checks
from netmend.diagnose.detector import DETECTORS
from netmend.store import RunWriter
from netmend.store.runs import Judged, KeptFault, read_judged, write_judged
from netmend.vocabulary import RunFact, Trace
from netmend.watching import judge

FAULT = KeptFault("LYR-SOFTMAX-EXTRA", "softmax or sigmoid is applied twice", 0.99, "train.py:32")


def record(root: Path, number: int, judged: Judged | None, script: str = "train.py") -> Path:
    name = f"2026-11-18-1200{number:02}-ab{number % 10}"
    run = RunFact(name, script, started=1e9 + number, status="finished", steps=100 + number, seconds=3.0)
    RunWriter.create(root / "runs" / name, run).close()
    if judged is not None:
        write_judged(root / "runs" / name, judged)
    return root / "runs" / name


@pytest.fixture
def root(tmp_path: Path) -> Path:
    record(tmp_path, 1, Judged("healthy", loss=0.5, metric=0.9, metric_name="accuracy"))
    record(
        tmp_path, 2, Judged("faulty", faults=(FAULT, FAULT), loss=0.25, metric=0.8, metric_name="accuracy")
    )
    record(tmp_path, 3, None, "a_script_with_a_long_name.py")
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    try:
        main(list(arguments))
    except SystemExit as ended:
        assert not ended.code
    return capsys.readouterr().out


@pytest.mark.parametrize("width", [60, 80])
def test_verdict_loss_and_script_fit_a_narrow_terminal(
    root: Path, width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    text = said(capsys, "runs", "--directory", str(root))
    assert max(map(len, text.splitlines())) <= width
    for word in ("train.py", "2 faults", "no fault", "not judged", "0.250", "2026-11-18-120001"):
        assert word in text
    assert ("2026-11-18-120001-ab1" in text) == (width == 80)  # the end of the id goes before the script


def test_runs_are_sorted_and_chosen(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def order(*options: str) -> list[str]:
        text = said(capsys, "runs", "--directory", str(root), *options)
        return [line[16] for line in text.splitlines() if line.startswith("2026")]

    assert order() == ["3", "2", "1"]
    assert order("--sort", "loss") == ["2", "1", "3"]
    assert order("--sort", "metric") == ["1", "2", "3"]
    assert order("--where", "verdict=faulty") == ["2"]
    assert order("--where", "fault=LYR") == ["2"]
    assert order("--where", "script=a_", "--where", "status=finished") == ["3"]
    with pytest.raises(SystemExit):
        main(["runs", "--where", "verdct=faulty"])
    assert "did you mean verdict?" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["runs", "--directory", str(root), "--sort", "lss"])


def test_show_lists_the_faults(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = " ".join(said(capsys, "show", "2026-11-18-120002", "--directory", str(root)).split())
    assert "softmax or sigmoid is applied twice LYR-SOFTMAX-EXTRA, 99 % sure train.py:32" in text
    assert "No fault found" in said(capsys, "show", "2026-11-18-120001", "--directory", str(root))


def test_the_page_that_show_writes_has_the_verdict(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = root / "page.html"
    said(capsys, "show", "2026-11-18-120003", "--html", str(page), "--directory", str(root))
    text = page.read_text(encoding="utf-8")
    assert 'class="verdict' in text and "Undecided" in text


def test_judging_keeps_the_verdict_and_damage_does_no_harm(root: Path) -> None:
    from netmend.store import read_trace

    path = root / "runs" / "2026-11-18-120003-ab3"
    assert read_judged(path) is None
    judge(path, read_trace(path))
    kept = read_judged(path)
    assert kept is not None and kept.netmend_version
    (path / "judged.json").write_text("{")
    assert read_judged(path) is None


def test_a_thousand_runs_are_listed_quickly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import shutil

    first = record(tmp_path, 1, Judged("faulty", faults=(FAULT,), loss=0.5))
    for number in range(2, 1001):
        shutil.copytree(first, tmp_path / "runs" / f"2026-11-18-{number:06}-abc")
    started = time.process_time()
    assert said(capsys, "runs", "--directory", str(tmp_path)).count("1 fault") == 1000
    assert time.process_time() - started < 5


def test_what_was_checked_is_told_honestly() -> None:
    """Examples of detectors: a faulty one is seen; an empty trace passes nothing that needs data."""
    faulty = DETECTORS.classes()["D104"].FAULTY[0].trace
    found = {check.code: check for check in checks(faulty, DETECTORS.classes()["D104"]().examine(faulty))}
    assert found["D104"].outcome == SPOKE and found["D211"].outcome == NOT_APPLICABLE
    assert found["D211"].why == "no clip record in this run"
    healthy = DETECTORS.classes()["D104"].HEALTHY[0].trace
    assert {check.code: check.outcome for check in checks(healthy, ())}["D104"] == PASSED
    nothing = checks(Trace(), ())
    passed = [check.code for check in nothing if check.outcome == PASSED]
    assert len(nothing) == len(DETECTORS.classes()) and len(passed) <= 10, passed
    assert {check.outcome for check in nothing} <= {PASSED, NOT_APPLICABLE, TOO_SHORT}


def test_the_list_of_checks_is_printed(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "show", "--checked", "2026-11-18-120001", "--directory", str(root))
    assert "checks:" in text.splitlines()[0] and "not applicable" in text and "D104" in text
