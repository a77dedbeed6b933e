"""A program of several processes, watched as a user would do it: `torchrun … -m netmend run program.py`.

A trial is one process that is forked; what a launcher starts is not, so these programs are run beside the trials and kept likewise.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from netmend.trials.fork_server import environment
from netmend.trials.trial import FAILED, FINISHED, TIMED_OUT, Outcome, from_json, to_json

_ATTEMPTS = 2  # the launcher sometimes falls over at its end, netmend or not
_TAIL = 4_000


def launched(entry: Path, trials: Path, seed: int, processes: int, seconds: float) -> tuple[Outcome, bool]:
    """The outcome, and whether it was known before."""
    key = hashlib.sha256(entry.read_bytes() + f"{seed} {processes}".encode()).hexdigest()[:24]
    folder = (
        trials.resolve() / key
    )  # the program runs in its own folder: a relative path would lead elsewhere
    with contextlib.suppress(OSError):
        known = from_json((folder / "outcome.json").read_text(encoding="utf-8"))
        if known is not None and Path(known.run).is_dir():
            return known, True
    outcome = Outcome(FAILED)
    for _ in range(_ATTEMPTS):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        outcome = _run(entry, folder, seed, processes, seconds)
        if outcome.run and outcome.status == FINISHED:
            break
    (folder / "outcome.json").write_text(to_json(outcome), encoding="utf-8")
    return outcome, False


def _run(entry: Path, folder: Path, seed: int, processes: int, seconds: float) -> Outcome:
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    watched = ["-m", "netmend", "run", "-q", "--directory", str(folder), entry.name]
    started = time.perf_counter()
    with (folder / "output.txt").open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, *launcher, *watched],
            cwd=entry.parent,
            env=environment(1) | {"SEED": str(seed)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # so that all that it starts can be ended with it
        )
        status = TIMED_OUT
        try:
            status = FAILED if process.wait(seconds) else FINISHED
        except subprocess.TimeoutExpired:
            pass
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    run = next(iter(sorted((folder / "runs").glob("*"))), None)
    tail = (folder / "output.txt").read_text(encoding="utf-8", errors="replace")[-_TAIL:]
    return Outcome(
        status,
        seconds=time.perf_counter() - started,
        exit_code=process.returncode,
        output=tail,
        run="" if run is None else str(run),
        root=str(entry.parent),
    )
