"""Help in one plain style for all commands, and completion for `check`, which argparse reads."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

from typer.core import TyperCommand, TyperGroup

_TYPE = re.compile(r" <([a-z0-9 \[\]]+)>")
_NUMBERS = ("int", "float")


def _plain(name: str) -> str:
    """What typer calls `--top <int range>` or `run <str>` reads `--top N` and `RUN`."""
    found = _TYPE.search(name)
    if not name.startswith("-"):
        return _TYPE.sub("", name).upper()
    if found is None:
        return name
    return _TYPE.sub(" N" if found[1].startswith(_NUMBERS) else " TEXT", name)


def _help(command: Any, ctx: Any) -> str:
    formatter = ctx.make_formatter()
    written = formatter.write_dl
    formatter.write_dl = lambda rows, *more, **settings: written(
        [(_plain(name), text) for name, text in rows], *more, **settings
    )
    command.format_help(ctx, formatter)
    return str(formatter.getvalue().rstrip("\n"))


class PlainCommand(TyperCommand):
    def get_help(self, ctx: Any) -> str:
        return _help(self, ctx)


class PlainGroup(TyperGroup):
    def get_help(self, ctx: Any) -> str:
        return _help(self, ctx)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Whole sentences, wrapped; typer cuts them off at the end of the line."""
        shown = [(name, self.commands[name]) for name in self.list_commands(ctx)]
        rows = [(f"{name:<8}", _first(command)) for name, command in shown if not command.hidden]
        with formatter.section("Commands"):
            for name, text in rows:
                formatter.write(_entry(name, text, formatter))


def _first(command: Any) -> str:
    words = command.short_help or (command.help or "").partition("\n\n")[0]
    return " ".join(words.split())


def _entry(name: str, text: str, formatter: Any) -> str:
    from textwrap import fill

    head = f"{' ' * formatter.current_indent}{name}  "
    return fill(text, formatter.width, initial_indent=head, subsequent_indent=" " * len(head)) + "\n"


class ScriptCommand(PlainCommand):
    """`netmend run [OPTIONS] SCRIPT [ARGS]…`: what follows the script is the script's."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return ["[OPTIONS] SCRIPT [ARGS]…"]

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(
                "Options come before the script; everything after it is passed to the script."
            )


class CheckCommand(PlainCommand):
    """Completes the options of `check`, of which typer knows none."""

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        from netmend.cli.check_options import option_help

        # Typer brings its own copy of click in newer versions.
        package = TyperCommand.__mro__[1].__module__.rpartition(".")[0]
        item = import_module(f"{package}.shell_completion").CompletionItem
        if not incomplete.startswith("-"):
            return []  # the shell completes names of files
        return [item(name, help=text) for name, text in option_help() if name.startswith(incomplete)]
