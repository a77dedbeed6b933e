"""The second process of a long run: it leaves with the run, holds no stream of the user, and speaks through the run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

TRAINING = """\
import time
import torch
from torch import nn

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
while True:
    optimizer.zero_grad()
    nn.functional.mse_loss(model(torch.ones(8, 4)), torch.ones(8, 1)).backward()
    optimizer.step()
    time.sleep(0.01)
"""


def _children(parent: int) -> list[int]:
    listed = Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="ascii")
    return [int(number) for number in listed.split()]


def _companions(parent: int) -> list[int]:
    """Those that have become what they are to be: before, a child is a copy of its parent."""
    return [
        one for one in _children(parent) if b"netmend.cli.live" in Path(f"/proc/{one}/cmdline").read_bytes()
    ]


def _gone(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def _until(seconds: float, what) -> bool:
    end = time.monotonic() + seconds
    while not what() and time.monotonic() < end:
        time.sleep(0.05)
    return bool(what())


@pytest.fixture
def run(tmp_path):
    if not Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").exists():
        pytest.skip("the system does not list the children of a process")
    (tmp_path / "train.py").write_text(TRAINING, encoding="utf-8")
    running = subprocess.Popen(
        [sys.executable, "-m", "netmend", "run", "train.py"],
        cwd=tmp_path,
        env={**os.environ, "OMP_NUM_THREADS": "1", "NETMEND_LIVE_AFTER": "0.5"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    assert _until(90, lambda: _companions(running.pid)), "no companion was started"
    yield running
    if running.poll() is None:
        running.kill()
        running.wait()
    running.stdout.close()


def test_a_killed_run_takes_its_companion_along_and_frees_the_streams(run):
    (companion,) = _companions(run.pid)
    ours = {Path(f"/proc/{run.pid}/fd/{stream}").readlink() for stream in (1, 2)}
    assert not ours & {Path(f"/proc/{companion}/fd/{stream}").readlink() for stream in (0, 1, 2)}
    run.kill()
    run.stdout.read()  # ends only when nobody holds the stream any more
    assert _until(10, lambda: _gone(companion))  # 0.5 s on a machine that is not busy


def test_an_interrupt_of_the_whole_group_shows_no_trace_of_the_companion(run):
    (companion,) = _companions(run.pid)
    os.killpg(run.pid, signal.SIGINT)
    said = run.stdout.read().decode()
    assert "live.py" not in said and said.count("Traceback") == 1  # the program's own
    assert _until(10, lambda: _gone(companion))


def test_what_is_found_is_said_through_the_run(tmp_path):
    from netmend.cli.companion import Companion

    with (tmp_path / "log.txt").open("w+", encoding="utf-8") as log:
        companion = Companion(log, quiet=False, stop=False)
        companion._process = subprocess.Popen(
            [sys.executable, "-c", "print('netmend: a fault', flush=True)"], stdout=subprocess.PIPE
        )
        companion._process.wait()
        companion.stop()
        log.seek(0)
        assert log.read() == "netmend: a fault\n"
