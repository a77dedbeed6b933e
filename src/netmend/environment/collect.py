"""Everything about this machine and this Python, in one look."""

from __future__ import annotations

import platform
import sys
import tempfile
from pathlib import Path

from netmend.environment import machine
from netmend.environment.facts import Environment
from netmend.environment.machine import devices
from netmend.environment.packages import installed, torch_build


def collect(folder: Path) -> Environment:
    """The environment as it is now. `folder` is where the project lies; its file system is one of those told."""
    driver, gpus = devices()
    packages, conflicts = installed()
    total, free = machine.memory()
    places = dict.fromkeys((folder.resolve(), Path(tempfile.gettempdir()).resolve()))
    spaces = tuple(space for place in places if (space := machine.space(place)) is not None)
    shared = Path("/dev/shm")
    return Environment(
        python=platform.python_version(),
        implementation=platform.python_implementation(),
        executable=sys.executable,
        system=machine.system_name(),
        release=machine.system_release(),
        machine=platform.machine(),
        libc=machine.libc(),
        packages=packages,
        torch=torch_build(),
        driver=driver,
        gpus=gpus,
        cores=machine.cores(),
        memory=total,
        memory_free=free,
        spaces=spaces,
        shared_memory=machine.space(shared) if shared.is_dir() else None,
        open_files=machine.open_files(),
        variables=machine.variables(),
        conflicts=conflicts,
    )
