"""How `netmend run` speaks of programs that crash, are interrupted or are stopped, and with what code it leaves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO

CRASHES = """\
import torch, torch.nn as nn
net = nn.Sequential(nn.Linear(10, 8), nn.ReLU(), nn.Linear(8, 3))
optimizer = torch.optim.Adam(net.parameters())
for step in range(40):
    x, y = torch.randn(16, 11 if step == 30 else 10), torch.randint(0, 3, (16,))
    loss = nn.functional.cross_entropy(net(x), y)
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""

GOES_ON = """\
import torch, torch.nn as nn
net = nn.Sequential(nn.Linear(10, 8), nn.ReLU(), nn.Linear(8, 3), nn.Softmax(1))
optimizer = torch.optim.Adam(net.parameters())
for step in range(10**9):
    x = torch.randn(16, 10)
    loss = nn.functional.cross_entropy(net(x), (x[:, 0] > 0).long())
    optimizer.zero_grad(); loss.backward(); optimizer.step()
    if step == 200:
        print("goes on", flush=True)
"""


def start(folder: Path, program: str, *options: str, **variables: str) -> subprocess.Popen[str]:
    (folder / "train.py").write_text(program)
    return subprocess.Popen(
        [sys.executable, "-m", "netmend", "run", *options, "train.py"],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "100", **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ready(stream: IO[str] | None) -> None:
    assert stream is not None
    assert "goes on" in stream.readline()


def test_a_crash_is_the_verdict_and_stands_below_the_traceback(tmp_path: Path) -> None:
    running = start(tmp_path, CRASHES, "--json", "out.json")
    _, shown = running.communicate(timeout=240)
    data = json.loads((tmp_path / "out.json").read_text())
    assert running.returncode == 1
    assert data["verdict"] == "crashed"
    assert data["headline"] == "crashed at train.py:6"
    assert data["run"]["crash"]["exception"] == "RuntimeError"
    assert data["run"]["crash"]["site"]["line"] == 6
    assert data["run"]["crash"]["step"] == 30
    assert "expects 10 features but got 11" in data["run"]["crash"]["notes"][0]
    assert "The batch of step 30 has shape 16×11; that of step 0 had 16×10." in data["run"]["crash"]["notes"]
    traceback, _, report = shown.partition("mat1 and mat2 shapes cannot be multiplied (16x11 and 10x8)\n")
    assert traceback.startswith("Traceback (most recent call last)")
    assert "netmend" not in traceback
    assert "netmend  Crashed at train.py:6" in report
    assert "No fault" not in shown


def test_a_second_interrupt_skips_the_verdict_and_shows_nothing_of_ours(tmp_path: Path) -> None:
    running = start(tmp_path, GOES_ON)
    ready(running.stdout)
    running.send_signal(signal.SIGINT)
    assert running.stderr is not None
    shown = ""
    while "Ctrl-C again to skip" not in shown:
        line = running.stderr.readline()
        assert line, shown
        shown += line
    running.send_signal(signal.SIGINT)
    shown += running.communicate(timeout=240)[1]
    assert running.returncode == -signal.SIGINT
    assert shown.count("KeyboardInterrupt") == 1
    assert "src/netmend" not in shown
    assert "fault found" not in shown


def test_an_interrupted_run_is_judged_and_ends_by_the_signal(tmp_path: Path) -> None:
    running = start(tmp_path, GOES_ON, "--json", "out.json")
    ready(running.stdout)
    running.send_signal(signal.SIGINT)
    _, shown = running.communicate(timeout=240)
    data = json.loads((tmp_path / "out.json").read_text())
    assert running.returncode == -signal.SIGINT
    assert data["run"]["status"] == "interrupted"
    assert [fault["code"] for fault in data["faults"]] == ["LYR-SOFTMAX-EXTRA"]
    assert shown.index("KeyboardInterrupt") < shown.index("1 fault found")


def test_stop_on_fault_ends_with_a_line_and_a_code_of_its_own(tmp_path: Path) -> None:
    running = start(tmp_path, GOES_ON, "--stop-on", "fault", "--json", "out.json", NETMEND_LIVE_AFTER="0.1")
    _, shown = running.communicate(timeout=240)
    data = json.loads((tmp_path / "out.json").read_text())
    assert running.returncode == 3
    assert data["run"]["status"] == "stopped"
    assert data["faults"][0]["code"] == "LYR-SOFTMAX-EXTRA"
    assert "KeyboardInterrupt" not in shown
    assert "Traceback" not in shown
    assert "netmend: stopped, as --stop-on fault asks; exit code 3" in shown
