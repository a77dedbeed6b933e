"""The line that a repair shows while it works, and what it says when it is interrupted."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

import netmend.repair.session
from netmend.cli import main
from netmend.cli.progress import RepairProgress


def test_the_remaining_time_is_visible_at_60_columns() -> None:
    progress = RepairProgress(console=Console(file=io.StringIO()))
    progress._stage, progress._best = "searching", 0.97
    problem: Any = SimpleNamespace(
        spent=3.2,
        affordable=16.0,
        budget=SimpleNamespace(trainings=20),
        objective=SimpleNamespace(short="validation accuracy"),
        baseline=SimpleNamespace(seconds=30.0),
        runner=SimpleNamespace(executor=SimpleNamespace(jobs=1)),
    )
    assert "at most 13 min left" in " · ".join(progress.parts(problem))[:60]


def test_an_interrupted_repair_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").touch()
    monkeypatch.setattr(netmend.repair.session, "repair", interrupted)
    with pytest.raises(SystemExit) as ended:
        main(["repair", "train.py"])
    assert ended.value.code == 130
    assert "run the same command to continue" in capsys.readouterr().err
