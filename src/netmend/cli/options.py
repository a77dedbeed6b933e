"""Options that commands share, and how sets of options become options of typer's.

What comes before the name of a script is ours, what comes after is the script's.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_origin, get_type_hints

import typer

from netmend.errors import UsageError
from netmend.trials.options import Option

if TYPE_CHECKING:
    from rich.console import RenderableType


BEFORE_SCRIPT = {"allow_extra_args": True, "ignore_unknown_options": False, "allow_interspersed_args": False}

Program = Annotated[list[str] | None, typer.Argument(metavar="SCRIPT [ARGS]…", hidden=True)]
Directory = Annotated[
    Path | None,
    typer.Option(
        "--directory", metavar="DIR", help="Where runs are kept (default: $NETMEND_DIR or ./.netmend)."
    ),
]
ResultFile = Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write the result as JSON.")]
PageFile = Annotated[Path | None, typer.Option(metavar="FILE", help="Write the result as a page.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Show nothing but errors.")]


def expanded(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with parameters as typer reads them: those that are `option(…)`, and the fields of those that are a set of options."""
    signature = inspect.signature(command)
    hints = get_type_hints(command, include_extras=True)
    parameters: list[inspect.Parameter] = []
    sets: dict[str, list[str]] = {}
    for name, parameter in signature.parameters.items():
        if is_dataclass(hints[name]):
            types = get_type_hints(hints[name], include_extras=True)
            declared = [_parameter(each.name, each, types[each.name]) for each in fields(hints[name])]
            written = [each for each in declared if each is not None]
            sets[name] = [each.name for each in written]
            parameters += written
        elif isinstance(parameter.default, Field):
            parameters += filter(None, [_parameter(name, parameter.default, hints[name])])
        else:
            parameters.append(parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY))

    @functools.wraps(command)
    def run(**values: Any) -> Any:
        for name, names in sets.items():
            values[name] = hints[name](**{each: values.pop(each) for each in names})
        return command(**values)

    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


def _parameter(name: str, each: Field[Any], kind: Any) -> inspect.Parameter | None:
    """None for a field that is not given on the command line."""
    if get_origin(kind) is not Annotated:
        declared: Option | None = each.metadata.get("option")
        if declared is None:
            return None
        written: Any = typer.Argument(metavar=declared.metavar, help=declared.help)
        if not declared.is_argument:
            names = declared.names or (f"--{name.replace('_', '-')}",)
            written = typer.Option(*names, metavar=declared.metavar, help=declared.help, min=declared.least)
        kind = Annotated[kind, written]
    default = inspect.Parameter.empty if each.default is MISSING else each.default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


@dataclass(frozen=True)
class OutputOptions:
    """What to do with the outcome."""

    json: Path | None = None
    html: Path | None = None
    quiet: bool = False

    def __post_init__(self) -> None:
        refuse_bad_file("--json", self.json)
        refuse_bad_file("--html", self.html)

    @property
    def files(self) -> tuple[Path, ...]:
        return tuple(file for file in (self.json, self.html) if file is not None)

    def show(self, result: Any, crop: bool = True) -> None:
        """Hand over a result that `shown.py` knows the forms of."""
        from netmend.report.terminal import draw
        from netmend.shown import DOCUMENT, JSON, PAGE, form

        self.hand_over(
            lambda: draw(form(result, DOCUMENT)(result)),
            lambda: str(form(result, JSON).json(result)),
            lambda: str(form(result, PAGE)(result)),
            crop,
        )

    def hand_over(
        self,
        shown: Callable[[], RenderableType],
        json: Callable[[], str],
        page: Callable[[], str] = str,
        crop: bool = True,
    ) -> None:
        """Write the files that were asked for, and print the outcome; `crop`: lines are cut to the terminal's width."""
        from netmend.report.terminal import console

        if self.json is not None:
            write_file(self.json, json())
        if self.html is not None:
            write_file(self.html, page())
        if not self.quiet:
            sys.stdout.flush()
            console(sys.stdout).print(shown(), crop=crop)


def refuse_bad_file(name: str, file: Path | None) -> None:
    """Before hours of work end in a refusal."""
    if file is not None and not file.resolve().parent.is_dir():
        raise UsageError(
            f"{name} {file}: the directory {file.resolve().parent} does not exist; create it first"
        )
    if file is not None and file.is_dir():
        raise UsageError(f"{name} {file}: that is a directory; name a file")


def write_file(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise UsageError(f"{file} cannot be written: {problem.strerror or problem}") from None


def work_folder(directory: Path | None, start: str | Path | None = None, quiet: bool = False) -> Path:
    """Where a command keeps what it works out; a line on stderr when it is another folder than meant."""
    from netmend.store.places import home, usable

    folder, warning = usable(home(directory, None if start is None else Path(start)).absolute())
    if warning and not quiet:
        sys.stderr.write(f"netmend: warning: {warning}\n")
    return folder


def refuse_what_cannot_start(exception: str) -> None:
    """A module that is not there shows only when it is started."""
    kind, _, words = exception.partition(": ")
    if kind == UsageError.__name__:
        raise UsageError(words)
