"""The options of `netmend check`. Read with argparse: typer takes longer to load than most checks take."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from netmend.cli.check import Request
from netmend.errors import UsageError

ABOUT = "Find training mistakes in source. Nothing of the source is imported or executed."
AFTER = """\
CODES are rule codes (S201), prefixes (S2), families (loop), causes
(LYR-SOFTMAX-EXTRA) or ALL, separated by commas; `netmend explain` lists them.
The most specific choice wins. `# netmend: ignore[S201]` at the end of a line
silences a rule there. Settings: [tool.netmend.check] in pyproject.toml.

Exit code 0: no findings. 1: findings, or a file that could not be checked.
2: wrong usage, or no file could be checked.
"""


def read_request(arguments: Sequence[str]) -> Request:
    """What was asked for; UsageError for what is not understood. `--help` prints and leaves."""
    given = vars(_parser().parse_intermixed_args(list(arguments)))
    given["paths"] = given["paths"] or (".",)
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in given.items()
    }
    return Request(**values)


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
    files = parser.add_argument_group("Files")
    files.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="files, folders, notebooks, or - for standard input (default: .)",
    )
    _add_files(files)
    rules = parser.add_argument_group("Rules")
    rules.add_argument("--select", action="append", default=[], metavar="CODES", help="only these rules")
    rules.add_argument("--ignore", action="append", default=[], metavar="CODES", help="all but these rules")
    rules.add_argument(
        "--extend-select", action="append", default=[], metavar="CODES", help="these rules too"
    )
    rules.add_argument("--preview", action="store_true", help="rules too that have not proved themselves yet")
    _add_fixes(parser.add_argument_group("Fixes"))
    _add_output(parser.add_argument_group("Output"))
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


def _add_fixes(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--fix", action="store_true", help="apply the safe fixes")
    add(
        "--diff",
        action="store_true",
        help="show what --fix would change and write nothing; exit code 1 if there is anything",
    )
    add("--unsafe-fixes", action="store_true", help="also apply fixes that should be reviewed")
    add("--show-fixes", action="store_true", help="list what --fix changed")


def _add_output(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add(
        "--format",
        "--output-format",
        dest="form",
        default="text",
        metavar="FORMAT",
        help="text, concise (a line each), json, sarif, github or gitlab",
    )
    add("-o", "--output", type=Path, metavar="FILE", help="write to a file instead of the terminal")
    add("--statistics", action="store_true", help="count the findings of each rule instead of listing them")
    add("-q", "--quiet", action="store_true", help="print only the findings, no summary")
    add("-h", "--help", action="help", help="show this message and exit")
    add("--exit-zero", action="store_true", help="exit with 0 even if there are findings")
    add("--baseline", type=Path, metavar="FILE", help="leave out the findings listed in this file")
    add("--write-baseline", action="store_true", help="write all current findings to the baseline")


def _add_files(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--watch", action="store_true", help="check again whenever a file changes")
    add(
        "--stdin-filename",
        dest="stdin_name",
        default="",
        metavar="NAME",
        help="the file name of standard input",
    )
    add(
        "--force-exclude", action="store_true", help="skip excluded files even when named on the command line"
    )
    add("--no-cache", dest="cache", action="store_false", help="check every file again")
    add(
        "--cache-dir",
        dest="cache_folder",
        type=Path,
        metavar="DIR",
        help="where results are kept (default: .netmend/cache)",
    )
    add("-j", "--jobs", type=int, metavar="N", help="processes (default: one per core)")
