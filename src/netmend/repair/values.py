"""Setting an argument of a call: at the call itself, or where its value was set.

Two faces: the patch changes the literal, constant, default, field or configuration key that the value comes from; the
intervention changes the call. A value that was given on the command line is changed there.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from netmend.localise.follow import argument_origin
from netmend.localise.source import last_name
from netmend.repair.code import Code, File
from netmend.repair.writing import add_argument, replace
from netmend.syntax.positions import Lines
from netmend.vocabulary import Site
from netmend.vocabulary.change import FileEdit, FileEdits


@dataclass(frozen=True)
class Faces:
    """One change of a value: as a patch, as an intervention, or in the program's arguments."""

    edits: FileEdits = ()
    forced: FileEdits = ()
    arguments: tuple[str, ...] | None = None

    def __bool__(self) -> bool:
        return bool(self.edits) or self.arguments is not None


def set_argument(
    code: Code,
    site: Site | None,
    name: str,
    text: str,
    position: int | None = None,
    arguments: tuple[str, ...] = (),
) -> Faces:
    """Give an argument of the call at a site another value; it is added where its default held."""
    found = code.call_at(site)
    if found is None or site is None:
        return Faces()
    file, call = found
    value = code.sources.argument(call, name, position)
    if value is None:
        if any(keyword.arg is None for keyword in call.keywords) or any(
            isinstance(given, ast.Starred) for given in call.args
        ):
            return Faces()  # it may come from `**settings`
        return Faces(add_argument(file, call, f"{name}={text}"))
    forced = replace(file, value, text)
    if isinstance(value, ast.Constant) or _is_literal(value):
        return Faces(forced)
    origin = argument_origin(code.sources, site, name, position)
    if origin is None or origin.site == origin.used:
        return Faces(forced)
    at_origin = _at_origin(code, origin.site, text, arguments, name)
    return Faces(at_origin.edits, forced, at_origin.arguments) if at_origin else Faces(forced)


def set_value(code: Code, file: File, value: ast.expr, text: str, arguments: tuple[str, ...] = ()) -> Faces:
    """Give an expression another value: itself when it is a literal, else where it was set."""
    from netmend.localise.follow import value_origin

    forced = replace(file, value, text)
    if _is_literal(value):
        return Faces(forced)
    origin = value_origin(code.sources, file.file, value)
    if (origin.file, origin.line, origin.column) == (file.file, value.lineno, value.col_offset):
        return Faces(forced)
    at_origin = _at_origin(code, origin, text, arguments, "")
    return Faces(at_origin.edits, forced, at_origin.arguments) if at_origin else Faces(forced)


def _at_origin(code: Code, origin: Site, text: str, arguments: tuple[str, ...], name: str) -> Faces:
    if not origin.file.endswith(".py"):
        return Faces(_in_configuration(code, origin, text))
    file = code.file(origin.file)
    node = None if file is None else file.node_at(origin)
    if file is None or not isinstance(node, ast.expr):
        return Faces()
    option = _option_around(file, node)
    if option is not None:
        given = _given(arguments, _names(option), text)
        if given is not None:
            return Faces(arguments=given)
        if node is option:  # no default: it has to be given
            long = next((name for name in _names(option) if name.startswith("--")), None)
            return Faces(arguments=(*arguments, long, text)) if long else Faces()
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = repr(text) if text[:1] not in "'\"" else text
    elif not _is_literal(node):
        return Faces()
    return Faces(replace(file, node, text))


def _is_literal(node: ast.expr) -> bool:
    """`0.1`, `-1`, `10 ** -3`, `"sgd"`, `(0.9, 0.99)`."""
    return not any(
        isinstance(part, ast.Name | ast.Attribute | ast.Call | ast.Subscript) for part in ast.walk(node)
    )


def _option_around(file: File, node: ast.expr) -> ast.Call | None:
    for above in (node, *file.parents(node)):
        if isinstance(above, ast.Call):
            return above if last_name(above.func) == "add_argument" else None
    return None


def _names(option: ast.Call) -> list[str]:
    return [
        given.value
        for given in option.args
        if isinstance(given, ast.Constant) and isinstance(given.value, str)
    ]


def _given(arguments: tuple[str, ...], names: list[str], text: str) -> tuple[str, ...] | None:
    """The arguments with another value for an option; None when it was not given."""
    for index, argument in enumerate(arguments):
        option, equals, _ = argument.partition("=")
        if option in names:
            if equals:
                return (*arguments[:index], f"{option}={text}", *arguments[index + 1 :])
            if index + 1 < len(arguments):
                return (*arguments[: index + 1], text, *arguments[index + 2 :])
    return None


_SETTING = re.compile(
    r"""(?P<before>^.*?["']?[\w.-]+["']?\s*[:=]\s*)(?P<value>[^,#}\]\s][^,#}\]]*?)(?P<after>\s*[,#}\]].*)?$"""
)


def _in_configuration(code: Code, origin: Site, text: str) -> FileEdits:
    """A key of a YAML, JSON, TOML or INI file: its value on its line."""
    whole = code.sources.text(origin.file)
    lines = Lines(whole)
    content = lines.content(origin.line)
    match = _SETTING.match(content)
    if match is None:
        return ()
    start = lines.start(origin.line) + match.start("value")
    old = match["value"]
    if Path(origin.file).suffix == ".json" and old[:1] == '"' and text[:1] == "'":
        text = f'"{text[1:-1]}"'
    end = start + len(old)
    return (FileEdit(str(code.sources.path(origin.file)), lines.edit(start, end, text)),)
