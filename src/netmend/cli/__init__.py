"""The command `netmend`: arguments in, one call, an exit code out."""

from __future__ import annotations

import os
import sys
from typing import Any, NoReturn


def main(arguments: list[str] | None = None) -> None:
    """Entry point. A program under observation runs after the command line has been read, outside of its parser."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["check"]:
        _check(given[1:])

    from typer import Abort, BadParameter, Exit

    from netmend.cli.slips import refuse_script_as_command
    from netmend.errors import NetmendError

    # Typer brings its own copy of click in newer versions: its exceptions are reached through what typer offers.
    usage_error, click_error = BadParameter.__mro__[1:3]
    hook = sys.excepthook
    try:
        refuse_script_as_command(given)
        app = _command_line(given)
        outcome: Any = app(
            args=separate_module(given, app),
            prog_name="netmend",
            standalone_mode=False,
            default_map={"run": _configured()} if given[:1] == ["run"] else None,
        )
    except Exit as leaving:
        sys.exit(leaving.exit_code)
    except Abort:
        sys.exit(130)
    except BrokenPipeError:  # the reader of our output has gone (`netmend show | head`)
        sys.exit(1)
    except NetmendError as problem:
        _fail(str(problem))
    except Exception as problem:
        if not isinstance(problem, click_error):
            raise
        _fail(_words(problem, isinstance(problem, usage_error)))
    finally:
        sys.excepthook = hook  # typer installs its own; a program under observation must find Python's
    if callable(outcome):
        outcome()
    elif isinstance(outcome, int):
        sys.exit(outcome)


def _command_line(arguments: list[str]) -> Any:
    """A training script must not wait for commands that were not asked for."""
    if arguments[:1] == ["run"]:
        from netmend.cli.run_options import command_line

        return command_line()
    from netmend.cli.app import app

    return app


def _configured() -> dict[str, Any]:
    from pathlib import Path

    from netmend.config import read_run_settings

    try:
        folder = Path.cwd()
    except FileNotFoundError:  # it was deleted under our feet; the program may not mind
        return {}
    return read_run_settings(folder)


def leave_out_working_directory() -> None:
    """While source is checked, modules are not looked for in the folder that is being checked.

    `python -m netmend` puts the working directory first, and a file there may be called `ast.py` or `select.py`: loading
    it would execute it.
    """
    try:
        here = os.getcwd()  # noqa: PTH109 - before anything else is loaded
    except OSError:  # it has been removed
        here = ""
    sys.path[:] = [place for place in sys.path if place not in ("", here)]


def _check(arguments: list[str]) -> NoReturn:
    """Not by way of typer, which takes longer to load than most checks take."""
    leave_out_working_directory()
    from netmend.cli.check import check_arguments
    from netmend.errors import NetmendError

    try:
        code = check_arguments(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:  # the reader of our output has gone (`netmend check | head`)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes once more at its end
        sys.exit(1)
    except NetmendError as problem:
        _fail(str(problem))
    sys.exit(code)


def separate_module(arguments: list[str], app: Any) -> list[str]:
    """`run -m package --lr 1`: what follows the module is the program's, so a `--` is put before it."""
    if "-m" not in arguments or arguments[0] not in ("run", "repair", "neutral", "mutate"):
        return arguments
    from typer.main import get_group

    parameters = get_group(app).commands[arguments[0]].params
    with_value = {name for each in parameters if not getattr(each, "is_flag", True) for name in each.opts}
    index = 1
    while index < len(arguments) and arguments[index].startswith("-") and arguments[index] != "--":
        if arguments[index] == "-m":
            return [*arguments[: index + 2], "--", *arguments[index + 2 :]]
        index += 2 if arguments[index] in with_value else 1
    return arguments


def _words(problem: Any, usage: bool) -> str:
    context = getattr(problem, "ctx", None)
    command = context.command_path if context is not None else "netmend"
    message: str = problem.format_message()
    return f"{message} Try: {command} --help" if usage else message


def _fail(message: str) -> NoReturn:
    sys.stderr.write(f"netmend: {message}\n")
    sys.exit(2)
