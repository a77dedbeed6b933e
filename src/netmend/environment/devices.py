"""The NVIDIA driver and its devices: asked of nvidia-smi, else read from /proc. No device is a plain answer."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from netmend.environment.facts import Gpu

WAIT = 20.0  # seconds; a driver that hangs must not hang us
FIELDS = ("driver_version", "name", "memory.total", "compute_cap")
PROC = Path("/proc/driver/nvidia/version")


def devices(program: str = "nvidia-smi", proc: Path = PROC) -> tuple[str | None, tuple[Gpu, ...]]:
    """The driver's version and the devices it shows."""
    for fields in (FIELDS, FIELDS[:3]):  # old drivers do not know compute_cap
        answer = _ask(program, fields)
        if answer is not None:
            return read_devices(answer)
    return _driver_of_proc(proc), ()


def read_devices(answer: str) -> tuple[str | None, tuple[Gpu, ...]]:
    """What `nvidia-smi --query-gpu=… --format=csv,noheader,nounits` printed."""
    driver: str | None = None
    found: list[Gpu] = []
    for line in answer.splitlines():
        parts = [part.strip() for part in line.split(",")]
        if len(parts) < 3 or not re.match(r"^\d+(\.\d+)+$", parts[0]):
            continue
        driver = parts[0]
        memory = int(parts[2]) * 1024**2 if parts[2].isdigit() else None
        capability = parts[3] if len(parts) > 3 and re.match(r"^\d+\.\d+$", parts[3]) else None
        found.append(Gpu(parts[1], memory, capability))
    return driver, tuple(found)


def _ask(program: str, fields: tuple[str, ...]) -> str | None:
    path = shutil.which(program)
    if path is None:
        return None
    command = [path, f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=WAIT, check=False)
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout if answer.returncode == 0 else None


def _driver_of_proc(file: Path) -> str | None:
    try:
        found = re.search(r"\b(\d{3}\.\d+(?:\.\d+)?)\b", file.read_text("ascii", "replace"))
    except OSError:
        return None
    return found[1] if found else None
