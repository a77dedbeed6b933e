"""One look at everything: this machine and this Python, what the project asks for, the paths of data."""

from __future__ import annotations

import platform
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from netmend.environment import machine
from netmend.environment.dataset_paths import DataPath, look_at, problems_with
from netmend.environment.facts import Environment, Problem
from netmend.environment.known_bad import problems_of
from netmend.environment.machine import devices
from netmend.environment.packages import installed, torch_build, unmet


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


@dataclass(frozen=True)
class Checked:
    environment: Environment
    problems: tuple[Problem, ...]
    paths: tuple[DataPath, ...] = ()

    @property
    def bad(self) -> bool:
        return any(problem.level == "bad" for problem in self.problems)


def check(folder: Path, paths: Sequence[Path] = (), environment: Environment | None = None) -> Checked:
    """Check this machine for the project in `folder` and the data at `paths`."""
    environment = environment or collect(folder)
    looked = tuple(look_at(path) for path in paths)
    of_paths = [problem for one in looked for problem in problems_with(one)]
    found = [*problems_of(environment), *unmet(folder, environment), *of_paths]
    return Checked(environment, tuple(sorted(found, key=lambda one: one.level != "bad")), looked)


def concerning(problems: Iterable[Problem], names: Iterable[str]) -> tuple[Problem, ...]:
    """Those problems that are about some of the named libraries or parts."""
    wanted = [name.lower() for name in names]
    return tuple(one for one in problems if any(name in f"{one.about} {one.what}".lower() for name in wanted))
