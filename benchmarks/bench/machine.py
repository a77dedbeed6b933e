"""What a result was measured with: enough to judge its times, nothing that names the machine."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from datetime import datetime, timezone

from netmend.version import VERSION


def machine(jobs: int) -> dict[str, str | int]:
    """Cores, trainings at once, and versions; no host, no user, no path."""
    return {
        "cpus": os.cpu_count() or 1,
        "jobs": jobs,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "torch": _version("torch"),
        "numpy": _version("numpy"),
        "netmend": VERSION,
    }


def today() -> str:
    return datetime.now(timezone.utc).date().isoformat()


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
