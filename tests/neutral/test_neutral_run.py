"""A neutrality analysis as a user starts it: a small program, trained for real in processes of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from netmend.cli import main

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


def call(*arguments: str) -> object:
    """The exit code."""
    settings = ("--budget", "7x", "--seeds", "2", "--depth", "1", "-j", "1")
    with pytest.raises(SystemExit) as ended:
        main(["neutral", *settings, *arguments])
    return ended.value.code


def test_another_way_to_do_what_a_fix_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(SLOW)
    kept = tmp_path / "fixes"
    kept.mkdir()
    (kept / "fixed.py").write_text(SLOW.replace("lr=1e-4", "lr=0.1"))
    files = ("--json", "o.json", "--html", "o.html")
    assert call("--fix", str(kept / "fixed.py"), *files, "train.py") == 0
    data = json.loads(Path("o.json").read_text())
    knobs = [one["knobs"] for one in data["alternatives"] if one["minimal"]]
    assert any(names == ["optimizer.lr"] for names in knobs)
    assert data["goal"]["kind"] == "fix" and data["goal"]["value"] > data["nodes"][0]["mean"] + 0.2
    assert "lr=1e-4" in data["alternatives"][0]["patch"]
    assert data["trainings"] <= 7 and data["failures"] == []
    assert "known fix" in capsys.readouterr().out and "<svg" in Path("o.html").read_text()
    assert Path("train.py").read_text() == SLOW and not Path("log.txt").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "name the script to analyse: netmend neutral train.py"),
        (("train.py",), "no file"),
        (("--metric", "acc", "train.py"), "one group"),
        (("--metric", "(", "train.py"), "regular expression"),
        (("--metric", "a(.)", "--metric-file", "x", "train.py"), "not both"),
        (("--time-limit", "0", "train.py"), "--time-limit"),
        (("--budget", "lots", "train.py"), "--budget"),
        (("--json", "nowhere/o.json", "train.py"), "does not exist"),
        (("--html", ".", "train.py"), "directory"),
    ],
)
def test_mistakes_are_told_before_anything_is_trained(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert call(*arguments) == 2
    assert words in capsys.readouterr().err
