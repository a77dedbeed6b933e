"""`netmend env`: what this machine and this Python are, and what of it is known not to work."""

from __future__ import annotations

import sys
from pathlib import Path

from netmend.cli.options import expanded
from netmend.trials.options import option


@expanded
def env(
    path: list[Path] | None = option(
        None, "Data to check: exists, readable, not empty (repeatable).", metavar="DIR|FILE"
    ),
    project: Path = option(Path(), "The folder with the requirement files to compare.", metavar="DIR"),
    json: bool = option(False, "Print everything as JSON."),
) -> int:
    """Show versions, devices and limits of this machine, and known incompatibilities between them.

    Nothing heavy is imported. Exit code 0: no known problems; 1: known problems.
    """
    return show_environment(project, tuple(path or ()), json)


def show_environment(project: Path, paths: tuple[Path, ...], json: bool) -> int:
    from netmend.environment.check import check
    from netmend.errors import UsageError

    if not project.is_dir():
        raise UsageError(
            f"--project {project} is not a folder. Name the folder that holds requirements.txt or pyproject.toml."
        )
    checked = check(project, paths)
    from netmend.report.environment import ENVIRONMENT, environment_document

    if json:
        sys.stdout.write(ENVIRONMENT.json(checked))
    else:
        from netmend.report.terminal import console, draw

        console(sys.stdout).print(draw(environment_document(checked)))
    return int(checked.bad)
