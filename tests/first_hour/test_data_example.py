"""The README's example of a fault in the data: told with its line, and the change that it asks for helps."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pandas")

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def run(folder: Path) -> tuple[str, float]:
    """What netmend says, and the error that the program prints."""
    command = [sys.executable, "-m", "netmend", "run", "used_tractors.py"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=True, timeout=300
    )
    printed = re.search(r"mean error on \d+ tractors: ([\d.]+)", done.stdout)
    assert printed is not None
    return done.stdout + done.stderr, float(printed[1])


def test_the_conversion_that_loses_numbers_is_told_and_the_change_helps(tmp_path: Path) -> None:
    for name in ("used_tractors.py", "used_tractors.csv"):
        shutil.copy(EXAMPLES / name, tmp_path)
    told, error = run(tmp_path)
    assert "PRE-MISS-CLEAN" in told
    assert "used_tractors.py:15" in told
    program = tmp_path / "used_tractors.py"
    program.write_text(program.read_text().replace('sep=";")', 'sep=";", thousands=",")'))
    told, mended = run(tmp_path)
    assert "No fault found" in told
    assert mended < error / 3
