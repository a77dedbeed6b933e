"""A neutrality analysis as a user starts it: a small program, trained for real in processes of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from netmend.cli.neutral import Wishes, neutral_program
from netmend.errors import UsageError

SLOW = """\
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(200, 4)
y = (x[:, :2].sum(1) > 0).float().unsqueeze(1)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
for step in range(60):
    optimizer.zero_grad()
    loss = nn.functional.binary_cross_entropy_with_logits(model(x[:150]), y[:150])
    loss.backward()
    optimizer.step()
with torch.no_grad():
    accuracy = ((model(x[150:]) > 0) == (y[150:] > 0)).float().mean()
print(f"val acc {accuracy:.3f}")
open("log.txt", "w").write("trained")
"""


def call(*program: str, **given: Any) -> int:
    options: dict[str, Any] = {
        "budget": "7x", "fix": None, "like": None, "seeds": 2, "width": 5, "depth": 1, "metric": "",
        "metric_file": "", "maximize": None, "jobs": 1, "threads": 1, "network": False, "memory": None,
        "time_limit": None, "executor": "local", "address": None, "directory": None, "wishes": Wishes(),
    }  # fmt: skip
    return neutral_program(None, program, **(options | given))


def test_another_way_to_do_what_a_fix_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(SLOW)
    kept = tmp_path / "fixes"
    kept.mkdir()
    (kept / "fixed.py").write_text(SLOW.replace("lr=1e-4", "lr=0.1"))
    wishes = Wishes(Path("o.json"), Path("o.html"))
    assert call("train.py", fix=kept / "fixed.py", wishes=wishes) == 0
    data = json.loads(Path("o.json").read_text())
    knobs = [one["knobs"] for one in data["alternatives"] if one["minimal"]]
    assert any(names == ["optimizer.lr"] for names in knobs)
    assert data["goal"]["kind"] == "fix" and data["goal"]["value"] > data["nodes"][0]["mean"] + 0.2
    assert "lr=1e-4" in data["alternatives"][0]["patch"]
    assert data["trainings"] <= 7 and data["failures"] == []
    assert "known fix" in capsys.readouterr().out and "<svg" in Path("o.html").read_text()
    assert Path("train.py").read_text() == SLOW and not Path("log.txt").exists()


@pytest.mark.parametrize(
    ("program", "given", "words"),
    [
        ((), {}, "name the script"),
        (("train.py",), {}, "no file"),
        (("train.py",), {"metric": "acc"}, "one group"),
        (("train.py",), {"metric": "("}, "regular expression"),
        (("train.py",), {"metric": "a(.)", "metric_file": "x"}, "not both"),
        (("train.py",), {"time_limit": 0.0}, "--time-limit"),
        (("train.py",), {"budget": "lots"}, "--budget"),
        (("train.py",), {"wishes": Wishes(json=Path("nowhere/o.json"))}, "does not exist"),
        (("train.py",), {"wishes": Wishes(html=Path())}, "directory"),
    ],
)
def test_mistakes_are_told_before_anything_is_trained(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    program: tuple[str, ...],
    given: dict[str, Any],
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=words):
        call(*program, **given)
