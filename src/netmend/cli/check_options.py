"""The options of `netmend check`. Read with argparse: typer takes longer to load than most checks take."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NoReturn

from netmend.errors import UsageError
from netmend.trials.options import Option, option

ABOUT = "Find training mistakes in source. Nothing of the source is imported or executed."
AFTER = """\
CODES are rule codes (S201), prefixes (S2), families (loop), causes
(LYR-SOFTMAX-EXTRA) or ALL, separated by commas; `netmend explain` lists them.
The most specific choice wins. `# netmend: ignore[S201]` at the end of a line
silences a rule there. Settings: [tool.netmend.check] in pyproject.toml.

Exit code 0: no findings. 1: findings, or a file that could not be checked.
2: wrong usage, or no file could be checked.
"""


_CONVERTERS: dict[str, Any] = {"Path | None": Path, "int | None": int}  # by the type of a field


@dataclass(frozen=True)
class Request:
    """What was typed after `netmend check`."""

    paths: tuple[str, ...] = option(
        (".",),
        "files, folders, notebooks, or - for standard input (default: .)",
        metavar="PATH",
        is_argument=True,
        group="Files",
    )
    watch: bool = option(False, "check again whenever a file changes")
    stdin_name: str = option("", "the file name of standard input", "--stdin-filename", metavar="NAME")
    force_exclude: bool = option(False, "skip excluded files even when named on the command line")
    cache: bool = option(True, "check every file again", "--no-cache")
    cache_folder: Path | None = option(
        None, "where results are kept (default: .netmend/cache)", "--cache-dir", metavar="DIR"
    )
    jobs: int | None = option(None, "processes (default: one per core)", "-j", "--jobs", metavar="N")
    select: tuple[str, ...] = option((), "only these rules", metavar="CODES", group="Rules")
    ignore: tuple[str, ...] = option((), "all but these rules", metavar="CODES")
    extend_select: tuple[str, ...] = option((), "these rules too", metavar="CODES")
    preview: bool = option(False, "rules too that have not proved themselves yet")
    fix: bool = option(False, "apply the safe fixes", group="Fixes")
    diff: bool = option(
        False, "show what --fix would change and write nothing; exit code 1 if there is anything"
    )
    unsafe_fixes: bool = option(False, "also apply fixes that should be reviewed")
    show_fixes: bool = option(False, "list what --fix changed")
    form: str = option(
        "text",
        "text, concise (a line each), json, sarif, github or gitlab",
        "--format",
        "--output-format",
        metavar="FORMAT",
        group="Output",
    )
    output: Path | None = option(
        None, "write to a file instead of the terminal", "-o", "--output", metavar="FILE"
    )
    statistics: bool = option(False, "count the findings of each rule instead of listing them")
    quiet: bool = option(False, "print only the findings, no summary", "-q", "--quiet")
    exit_zero: bool = option(False, "exit with 0 even if there are findings")
    baseline: Path | None = option(None, "leave out the findings listed in this file", metavar="FILE")
    write_baseline: bool = option(False, "write all current findings to the baseline")


def read_request(arguments: Sequence[str]) -> Request:
    """What was asked for; UsageError for what is not understood. `--help` prints and leaves."""
    given = vars(_parser().parse_intermixed_args(list(arguments)))
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in given.items()
    }
    return Request(**{**values, "paths": values["paths"] or (".",)})


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{_in_our_words(message, self)} Try: netmend check --help")


def _in_our_words(message: str, parser: argparse.ArgumentParser) -> str:
    start = "unrecognized arguments: "
    if not message.startswith(start):
        return f"{message}."
    from netmend.check.select import did_you_mean

    wrong = message.removeprefix(start).split()[0].split("=")[0]
    known = [name for action in parser._actions for name in action.option_strings]
    return f"there is no option {wrong}{did_you_mean(wrong, known)}"


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="netmend check",
        usage="netmend check [OPTIONS] [PATH]…",
        description=ABOUT,
        epilog=AFTER,
        formatter_class=_Help,
        allow_abbrev=False,
        add_help=False,
    )
    for each in fields(Request):
        declared: Option = each.metadata["option"]
        if declared.group:
            group = parser.add_argument_group(declared.group)
        names = declared.names or (f"--{each.name.replace('_', '-')}",)
        settings: dict[str, Any] = {"dest": each.name, "metavar": declared.metavar, "default": each.default}
        if declared.is_argument:
            names, settings = (each.name,), {"metavar": declared.metavar, "nargs": "*"}
        elif isinstance(each.default, bool):
            settings = {"dest": each.name, "action": "store_false" if each.default else "store_true"}
        elif isinstance(each.default, tuple):
            settings |= {"action": "append", "default": []}
        else:
            settings |= {"type": _CONVERTERS.get(str(each.type), str)}
        group.add_argument(*names, help=declared.help, **settings)
        if each.name == "quiet":
            group.add_argument("-h", "--help", action="help", help="show this message and exit")
    return parser


def option_help() -> list[tuple[str, str]]:
    """Every long option with its help, for the completion of shells."""
    actions = _parser()._actions
    return [
        (name, action.help or "")
        for action in actions
        for name in action.option_strings
        if name.startswith("--")
    ]


class _Help(argparse.RawDescriptionHelpFormatter):
    """Looks like the help of the other commands."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26)

    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None = None) -> None:
        super().add_usage(usage, actions, groups, "Usage: ")

    def _format_action_invocation(self, action: argparse.Action) -> str:
        value = f" {action.metavar or action.dest.upper()}" if action.nargs != 0 else ""
        return (", ".join(action.option_strings) + value) if action.option_strings else str(action.metavar)

    def _expand_help(self, action: argparse.Action) -> str:
        text = super()._expand_help(action)
        return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"
