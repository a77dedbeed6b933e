"""Setting an argument of a call: at the call itself, or where its value was set.

Two faces: the patch changes the literal, constant, default, field or configuration key that the value comes from; the
intervention changes the call. A value that was given on the command line is changed there.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from netmend.program.settings import value_origin
from netmend.program.source.writing import add_argument, replace
from netmend.program.text.file import File
from netmend.program.text.positions import Lines
from netmend.program.text.queries import last_name
from netmend.program.text.sources import Code
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


def joined(faces: Iterable[Faces]) -> Faces:
    """One change of several places; of new arguments of the program the last hold, which build on those before."""
    parts = list(faces)
    edits = tuple(dict.fromkeys(edit for face in parts for edit in face.edits))
    forced = tuple(dict.fromkeys(edit for face in parts for edit in face.forced or face.edits))
    arguments = [face.arguments for face in parts if face.arguments is not None]
    return Faces(edits, forced if forced != edits else (), arguments[-1] if arguments else None)


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
    return set_value(code, file, value, text, arguments)


def set_value(code: Code, file: File, value: ast.expr, text: str, arguments: tuple[str, ...] = ()) -> Faces:
    """Give an expression another value: itself when it is a literal, else where it was set."""
    forced = replace(file, value, text)
    if _is_literal(value):
        return Faces(forced)
    origin = value_origin(code.sources, file.file, value)
    if (origin.file, origin.line, origin.column) == (file.file, value.lineno, value.col_offset):
        return Faces(forced)
    at_origin = _at_origin(code, origin, text, arguments, file, value)
    return Faces(at_origin.edits, forced, at_origin.arguments) if at_origin else Faces(forced)


def _at_origin(
    code: Code, origin: Site, text: str, arguments: tuple[str, ...], user: File, value: ast.expr
) -> Faces:
    """The change where `value`, an expression in the file `user`, was set."""
    if not origin.file.endswith(".py"):
        return Faces(_in_configuration(code, origin, text, _keys(user, value)))
    file = code.file(origin.file)
    node = None if file is None else file.node_at(origin)
    if isinstance(node, ast.Expr):  # `parser.add_argument(…)` is a statement too
        node = node.value
    if file is None or not isinstance(node, ast.expr):
        return Faces()
    option = option_around(file, node)
    if option is not None:
        given = given_for_option(arguments, option)
        if given is not None:
            index, prefix, _ = given
            changed = f"{prefix}{_unquoted(text)}"
            return Faces(arguments=(*arguments[:index], changed, *arguments[index + 1 :]))
        if node is option:  # no default: it has to be given
            long = next((name for name in _names(option) if name.startswith("--")), None)
            return Faces(arguments=(*arguments, long, _unquoted(text))) if long else Faces()
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


def option_around(file: File, node: ast.expr) -> ast.Call | None:
    """The `add_argument` call that an expression is an argument of, or is."""
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


def given_for_option(arguments: tuple[str, ...], option: ast.Call) -> tuple[int, str, str] | None:
    """Which of a program's arguments holds the value of an option, what stands before it there, and the value; the last one given holds."""
    names = _names(option)
    for index, argument in reversed(list(enumerate(arguments))):
        name, equals, text = argument.partition("=")
        if name in names and equals:
            return index, f"{name}=", text
        if name in names and index + 1 < len(arguments):
            return index + 1, "", arguments[index + 1]
    return None


def _unquoted(text: str) -> str:
    """As it is typed on a command line: `'adam'` → `adam`."""
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def _keys(file: File, value: ast.expr) -> set[str]:
    """The keys by which an expression may ask for a setting: `config["lr"]`, `config.lr`, `float(config.get("lr"))`."""
    if isinstance(value, ast.Name):
        assigned = [
            node.value
            for node in ast.walk(file.tree)
            if isinstance(node, ast.Assign)
            and any(isinstance(target, ast.Name) and target.id == value.id for target in node.targets)
        ]
        found = {key for given in assigned if not isinstance(given, ast.Name) for key in _keys(file, given)}
        return found | {value.id}
    if isinstance(value, ast.Attribute):
        return {value.attr}
    if isinstance(value, ast.Subscript):
        return {str(value.slice.value)} if isinstance(value.slice, ast.Constant) else set()
    if isinstance(value, ast.Call) and value.args:
        first = value.args[0]
        return {str(first.value)} if isinstance(first, ast.Constant) else _keys(file, first)
    return set()


_SETTING = re.compile(
    r"""(?:["'](?P<quoted>[^"']+)["']|(?<![\w.-])(?P<plain>[\w.-]+))\s*[:=]\s*"""
    r"""(?P<value>"[^"]*"|'[^']*'|\[[^\]]*\]|[^\s,#}\]{\["'](?:[^,#}\]]*[^\s,#}\]])?)(?=\s*(?:[,#}\]]|$))"""
)


def _in_configuration(code: Code, origin: Site, text: str, keys: set[str]) -> FileEdits:
    """A key of a YAML, JSON, TOML or INI file: its value on its line."""
    written = as_setting(text, Path(origin.file).suffix)
    lines = Lines(code.sources.text(origin.file))
    found = list(_SETTING.finditer(lines.content(origin.line)))
    if len(found) > 1:  # several keys on one line: the one that is asked for
        found = [match for match in found if (match["quoted"] or match["plain"]) in keys]
    if len(found) != 1 or written is None:
        return ()
    start, end = (lines.start(origin.line) + offset for offset in found[0].span("value"))
    return (FileEdit(str(code.sources.path(origin.file)), lines.edit(start, end, written)),)


def as_setting(text: str, suffix: str) -> str | None:
    """A Python literal as a configuration file writes it; None for what is no literal."""
    try:
        value = ast.literal_eval(text)
        written = str(value) if suffix in (".ini", ".cfg") else json.dumps(value)
    except (ValueError, SyntaxError, TypeError):
        return None
    if suffix in (".yaml", ".yml") and isinstance(value, float) and "e" in written and "." not in written:
        written = written.replace("e", ".0e")  # YAML takes 1e-05 for a text
    return written
