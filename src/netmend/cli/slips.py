"""Slips at the command line, each with the command that was probably meant."""

from __future__ import annotations

import difflib
import os
import re
import shlex
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import typer

from netmend.errors import UsageError

_PYTHON = re.compile(r"(?:.*/)?python(?:\d(?:\.\d+)?)?")
_LARGEST = 2_000_000  # bytes of a script that is searched for the names of options


def checked_program(
    context: typer.Context, module: str | None, program: Sequence[str], quiet: bool
) -> tuple[str, ...]:
    """Script and arguments as they were given; refuses what cannot be run, hints at options that stand too late."""
    given = tuple(program)
    if module is None and given:
        refuse_slip(context.command_path, given)
        silent = quiet or int(os.environ.get("RANK", "0")) > 0  # one voice in a distributed run
        hint = "" if silent else late_option(context, given)
        if hint:
            sys.stderr.write(f"netmend: {hint}\n")
    return given


def started_program(
    context: typer.Context, module: str | None, program: Sequence[str] | None, quiet: bool, what: str
) -> tuple[str, tuple[str, ...]]:
    """The script (or module) that a command starts, and its arguments."""
    whole = checked_program(context, module, [*(program or ()), *context.args], quiet)
    if module is not None:
        return module, whole
    if not whole:
        raise UsageError(f"name {what}: {context.command_path} train.py [ARGS]")
    return whole[0], whole[1:]


def refuse_slip(command: str, program: Sequence[str]) -> None:
    """A notebook, `python script.py`, or a script that is not there."""
    script, *arguments = program
    if script.endswith(".ipynb"):
        raise UsageError(
            f"{script} is a notebook. Check its source with: netmend check {shlex.quote(script)}. "
            "To record it, put `with netmend.watch():` around the training in its cell"
        )
    if Path(script).exists():
        return
    if _PYTHON.fullmatch(script) and arguments:
        raise UsageError(f"leave out {script!r}: {command} {shlex.join(arguments)}")
    near = _near_script(script)
    if near:
        raise UsageError(f"there is no file {script}; did you mean {near}?")


def refuse_script_as_command(arguments: Sequence[str]) -> None:
    """`netmend train.py`: the command is missing."""
    first = arguments[0] if arguments else ""
    if first.endswith(".ipynb"):
        raise UsageError(f"name a command first: netmend check {shlex.join(arguments)}")
    if first.endswith(".py"):
        raise UsageError(f"name a command first: netmend run {shlex.join(arguments)}")
    if _PYTHON.fullmatch(first) and len(arguments) > 1:
        raise UsageError(f"did you mean: netmend run {shlex.join(arguments[1:])}")


def late_option(context: typer.Context, program: Sequence[str]) -> str:
    """A sentence on an option of ours behind the script, where the script does not know it; it goes to the script as it is."""
    script, *arguments = program
    ours = {
        name for parameter in context.command.params for name in parameter.opts if name.startswith("--")
    } - {"--help"}
    late = [word for word in arguments if word.partition("=")[0] in ours]
    if not late:
        return ""
    text = _text(Path(script))
    for word in late:
        option = word.partition("=")[0]
        name = option.removeprefix("--")
        if not re.search(rf"\b{re.escape(name).replace('-', '[-_]')}\b", text):
            return (
                f"{option} stands after the script, so {Path(script).name} gets it. "
                f"Options of netmend go first: {context.command_path} {option} … {script}"
            )
    return ""


def _text(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            return stream.read(_LARGEST).decode("utf-8", "replace")
    except OSError:
        return ""


def _near_script(script: str) -> str:
    path = Path(script)
    try:
        there: Iterable[str] = [entry.name for entry in path.parent.iterdir() if entry.suffix == ".py"]
    except OSError:
        return ""
    near = difflib.get_close_matches(path.name, list(there), n=1, cutoff=0.7)
    return str(path.parent / near[0]) if near else ""
