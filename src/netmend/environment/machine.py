"""The machine: operating system, cores, memory, file systems, limits, the NVIDIA driver and its devices."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

from netmend.environment.facts import Gpu, Space

# The NVIDIA driver and its devices: asked of nvidia-smi, else read from /proc. No device is a plain answer.

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


# The machine: operating system, cores, memory, file systems, limits.

VARIABLES = (
    "CUDA_VISIBLE_DEVICES", "CUDA_HOME", "CUDA_LAUNCH_BLOCKING", "LD_LIBRARY_PATH", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "PYTORCH_CUDA_ALLOC_CONF",
    "NCCL_DEBUG", "NCCL_P2P_DISABLE", "TF_CPP_MIN_LOG_LEVEL", "TF_FORCE_GPU_ALLOW_GROWTH", "XLA_FLAGS", "JAX_PLATFORMS", "PYTHONPATH", "PYTHONHASHSEED", "KERAS_BACKEND", "TF_USE_LEGACY_KERAS",
    "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION", "CUBLAS_WORKSPACE_CONFIG", "HSA_OVERRIDE_GFX_VERSION", "PYTORCH_ENABLE_MPS_FALLBACK",
)  # fmt: skip


def system_name() -> str:
    return {"win32": "windows", "darwin": "darwin", "cygwin": "windows"}.get(sys.platform, "linux")


def system_release() -> str:
    """A name that people know: Ubuntu 22.04, macOS 14.4, Windows 11."""
    if sys.platform == "darwin":
        return f"macOS {platform.mac_ver()[0]}"
    if sys.platform == "win32":
        return f"Windows {platform.release()} ({platform.version()})"
    try:
        lines = Path("/etc/os-release").read_text("utf-8", "replace").splitlines()
        named = dict(line.split("=", 1) for line in lines if "=" in line)
        name = named.get("PRETTY_NAME", "Linux").strip('"')
    except OSError:
        name = "Linux"
    return f"{name}, kernel {platform.release()}"


def libc() -> str | None:
    name, version = platform.libc_ver()
    return f"{name} {version}" if name and version else None


def memory() -> tuple[int | None, int | None]:
    """Bytes of memory: in all, and free for programs. A container's limit counts, not the host's size."""
    total = free = None
    try:
        for line in Path("/proc/meminfo").read_text("ascii", "replace").splitlines():
            name, _, rest = line.partition(":")
            if name == "MemTotal":
                total = int(rest.split()[0]) * 1024
            elif name == "MemAvailable":
                free = int(rest.split()[0]) * 1024
    except (OSError, ValueError, IndexError):
        if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
            total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for file in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            limit = int(Path(file).read_text("ascii").strip())
        except (OSError, ValueError):
            continue
        if total is None or limit < total:
            total = limit
    return total, min(free, total) if free is not None and total is not None else free


def space(path: Path) -> Space | None:
    try:
        usage = shutil.disk_usage(path)
    except OSError:
        return None
    return Space(str(path), usage.total, usage.free)


def open_files() -> int | None:
    """How many files one process may have open; None where there is no limit or no such thing."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return None if soft in (-1, resource.RLIM_INFINITY) else int(soft)


def variables() -> dict[str, str]:
    return {name: os.environ[name] for name in VARIABLES if os.environ.get(name)}


def cores() -> int | None:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()
