"""What a recording takes in memory and on disk, for overhead.py."""

from __future__ import annotations

import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from overhead_models import Training
from overhead_variants import VARIANTS

TRACE_STEPS = 1_000
MEMORY_REPEATS = 3
MEMORY_SECONDS = 6.0


def resident_megabytes(script: Path, model: str, watched: bool) -> float:
    """Peak memory of a child process that trains for a few seconds."""
    command = [
        sys.executable,
        str(script),
        "--child",
        model,
        "watched" if watched else "bare",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "child failed")
    return float(done.stdout.strip().splitlines()[-1])


def peak_megabytes() -> float:
    """Peak of this process's resident memory.

    On Linux not from getrusage: its number survives exec, so a child would report the size of the parent it was forked from.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(x for x in status.read_text(encoding="ascii").splitlines() if x.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / 1e6
    unit = 1 if platform.system() == "Darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def child(model: str, how: str, build: Callable[[str], Training]) -> None:
    """Train for a few seconds and print the peak of resident memory in MB."""
    torch.set_num_threads(1)
    variant = VARIANTS["default" if how == "watched" else "bare"](build(model))
    variant.enter()
    end = time.perf_counter() + MEMORY_SECONDS
    while time.perf_counter() < end:
        variant.training.step()
    variant.leave()
    print(peak_megabytes())
    variant.close()


def memory(script: Path, models: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for model in models:
        try:
            pairs = [
                (resident_megabytes(script, model, False), resident_megabytes(script, model, True))
                for _ in range(MEMORY_REPEATS)
            ]
        except RuntimeError as error:
            found[model] = {"problem": str(error)}
            continue
        bare, watched = (statistics.median(column) for column in zip(*pairs, strict=True))
        found[model] = {"bare_mb": bare, "watched_mb": watched, "extra_mb": watched - bare}
    return found


def trace_size(training: Training) -> dict[str, Any]:
    """Bytes on disk after 1,000 steps of the MLP at defaults."""
    import netmend

    with tempfile.TemporaryDirectory(prefix="netmend-overhead-") as directory:
        with netmend.watch(training.model, training.optimizer, directory=Path(directory), quiet=True):
            for _ in range(TRACE_STEPS):
                training.step()
        size = sum(path.stat().st_size for path in Path(directory).rglob("*") if path.is_file())
    return {"steps": TRACE_STEPS, "bytes": size}
