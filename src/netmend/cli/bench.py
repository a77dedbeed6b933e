"""`netmend bench`: the published benchmarks, which stand beside the package in a checkout and are not installed with it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import typer
from typer.main import get_command

import netmend
from netmend.cli.command_help import PlainGroup
from netmend.errors import UsageError


class Benchmarks(PlainGroup):
    """Gives way to the group of commands in the checkout as soon as it is asked for."""

    def make_context(self, *arguments: Any, **settings: Any) -> Any:
        folder = Path(netmend.__file__).resolve().parents[2] / "benchmarks"
        if not (folder / "bench" / "commands").is_dir():
            raise UsageError(
                "the published benchmarks are not installed with netmend; they are run from a checkout of its "
                "repository: pip install -e . there, then netmend bench"
            )
        sys.path.append(str(folder))
        from bench.commands.app import app as commands

        return get_command(commands).make_context(*arguments, **settings)


app = typer.Typer(cls=Benchmarks, invoke_without_command=True)


@app.callback()
def bench() -> None:
    """Published benchmarks of fault localisation and repair, each run by one command."""
