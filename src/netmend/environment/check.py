"""One check of everything: the environment, the project's wishes, the paths of data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from netmend.environment.collect import collect
from netmend.environment.dataset_paths import DataPath, look_at, problems_with
from netmend.environment.facts import Environment, Problem
from netmend.environment.known_bad import problems_of
from netmend.environment.requirements import unmet


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
