"""The check that belongs to a run: its script as it ran, and never an error."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from netmend.check import session
from netmend.check.of_run import findings_of_run
from netmend.vocabulary import RunFact

BAD = """\
import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3), nn.Softmax(dim=1))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters())
for step in range(100):
    x, y = torch.randn(8, 4), torch.randint(0, 3, (8,))
    loss = criterion(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.fixture
def run(tmp_path: Path) -> RunFact:
    (tmp_path / "train.py").write_text(BAD, encoding="utf-8")
    return RunFact("r", "train.py", working_directory=str(tmp_path), started=time.time() + 5)


def test_the_script_of_a_run_is_checked_and_files_are_absolute(run: RunFact, tmp_path: Path) -> None:
    found = findings_of_run(run)
    assert [finding.cause for finding in found] == ["LYR-SOFTMAX-EXTRA"]
    assert found[0].file == str(tmp_path / "train.py") and not list(tmp_path.glob(".netmend"))


def test_a_script_that_was_changed_since_says_nothing(run: RunFact, tmp_path: Path) -> None:
    later = run.started + 60
    os.utime(tmp_path / "train.py", (later, later))
    assert findings_of_run(run) == ()


@pytest.mark.parametrize("script", ["gone.py", "train", "-c", ""])
def test_what_is_no_file_says_nothing(run: RunFact, script: str) -> None:
    assert findings_of_run(RunFact("r", script, working_directory=run.working_directory)) == ()


def test_a_check_that_fails_says_nothing(run: RunFact, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr(session, "check_paths", broken)
    assert findings_of_run(run) == ()
