"""scripts/behaviour.py: what differs between two recordings is shown, and decides the exit code."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts/behaviour.py"


def recording(folder: Path, **texts: str) -> Path:
    (folder / "J").mkdir(parents=True)
    for name, text in texts.items():
        (folder / "J" / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
    return folder


def compare(old: Path, new: Path) -> tuple[int, str]:
    command = [sys.executable, str(SCRIPT), "compare", str(old), str(new)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def test_equal_recordings(tmp_path: Path) -> None:
    old = recording(tmp_path / "old", rings="softmax\n")
    assert compare(old, recording(tmp_path / "new", rings="softmax\n")) == (0, 'J {"equal": 1}\n')


def test_every_difference_is_shown(tmp_path: Path) -> None:
    old = recording(tmp_path / "old", rings="verdict\nsoftmax\n", moons="healthy\n", tides="healthy\n")
    new = recording(tmp_path / "new", rings="verdict\nrate\n", moons="healthy\n", houses="healthy\n")
    code, text = compare(old, new)
    assert code == 1
    assert "different: J/rings" in text
    assert "-softmax" in text and "+rate" in text and "verdict" not in text
    assert "gone: J/tides" in text
    assert "new: J/houses" in text
    assert "moons" not in text


def test_nothing_recorded_is_no_proof(tmp_path: Path) -> None:
    assert compare(tmp_path / "old", tmp_path / "new")[0] == 2


def test_help_of_a_command_is_recorded_twice_the_same(tmp_path: Path) -> None:
    for side in ("old", "new"):
        command = [
            sys.executable,
            str(SCRIPT),
            "record",
            str(tmp_path / side),
            "--kinds",
            "T",
            "--match",
            "help-check",
            "--jobs",
            "1",
        ]
        subprocess.run(command, check=True, capture_output=True)
    assert "netmend check" in gzip.decompress((tmp_path / "old/T/help-check.gz").read_bytes()).decode()
    assert compare(tmp_path / "old", tmp_path / "new")[0] == 0
