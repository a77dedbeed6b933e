"""One style of help for all commands, readable at 80 columns, and shells complete commands and options."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from typing import Any

import pytest
import typer

from netmend.cli.app import app
from netmend.cli.check_options import read_request


def commands() -> Iterator[tuple[str, Any, Any]]:
    root = typer.main.get_command(app)
    context: Any = root.make_context("netmend", ["runs"], resilient_parsing=True)
    yield "netmend", root, context
    for name, command in root.commands.items():  # type: ignore[attr-defined]
        below: Any = type(context)(command, info_name=name, parent=context)
        yield name, command, below
        for own, inner in getattr(command, "commands", {}).items():
            yield f"{name} {own}", inner, type(context)(inner, info_name=own, parent=below)


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def help_of(name: str, command: Any, context: Any) -> str:
    if name != "check":
        return str(command.get_help(context))
    with redirect_stdout(io.StringIO()) as stream, pytest.raises(SystemExit):
        read_request(["--help"])
    return stream.getvalue()


def test_help_looks_alike_and_shows_no_types() -> None:
    for name, command, context in commands():
        text = help_of(name, command, context)
        assert text.startswith("Usage: "), name
        assert not re.search("<[a-z]", text) and "│" not in text, name
        for line in text.partition("CODES name")[0].splitlines():
            assert len(line) <= 80, (name, line)


def test_the_commands_are_told_in_whole_sentences() -> None:
    text = help_of(*next(commands()))
    assert "..." not in text.partition("Commands:")[2]
    assert (
        text.index("\n  run ")
        < text.index("\n  check ")
        < text.index("\n  repair ")
        < text.index("\n  bench ")
    )


def test_mend_shows_the_options_of_its_default() -> None:
    text = next(help_of(*entry) for entry in commands() if entry[0] == "mend")
    assert "--failing" in text and "--guard" in text


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("netmend rep", "repair"),
        ("netmend repair --metr", "--metric"),
        ("netmend check --unsa", "--unsafe-fixes"),
    ],
)
def test_shells_complete_commands_and_options(typed: str, offered: str) -> None:
    import subprocess
    import sys

    environment = {
        **os.environ,
        "_NETMEND_COMPLETE": "complete_bash",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(typed.split()) - 1),
    }
    ended = subprocess.run(
        [sys.executable, "-m", "netmend"], env=environment, capture_output=True, text=True, check=False
    )
    assert offered in ended.stdout.splitlines()
