"""Edits as repairs make them: those of `syntax.edits`, in the file they belong to. An empty result: it cannot be done."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from netmend.program.text import edits
from netmend.program.text.edit_source import shares_brackets, span_of
from netmend.program.text.edits import item_of
from netmend.program.text.file import File
from netmend.program.text.positions import lines_of
from netmend.program.text.queries import Function
from netmend.vocabulary.change import FileEdit, FileEdits


def replace(file: File, node: ast.AST, text: str) -> FileEdits:
    """Put a text in the place of a node."""
    return file.edits(*edits.replace(file, node, text))


def wrap(file: File, node: ast.expr, before: str, after: str) -> FileEdits:
    """Put something around an expression; brackets come where needed."""
    return file.edits(*edits.wrap(file, node, before, after))


def unwrap_call(file: File, call: ast.Call, argument: ast.expr | ast.keyword) -> FileEdits:
    """Put an argument in the place of the whole call: `softmax(x, dim=1)` → `x`."""
    return file.edits(*edits.unwrap_call(file, call, argument))


def unwrap_method(file: File, call: ast.Call) -> FileEdits:
    """Put the object in the place of a call of its method: `x.sigmoid()` → `x`."""
    span, method = span_of(file, call), span_of(file, call.func)
    if not isinstance(call.func, ast.Attribute) or span is None or method is None:
        return ()
    dot = file.text.rindex(".", span[0], method[1])
    before = file.text[:dot].rstrip()  # brackets of the object are kept: `2 * (a + b).sigmoid()`
    start = dot if "#" in file.text[before.rfind("\n") + 1 : len(before)] else len(before)
    return file.edits(lines_of(file.text).edit(start, span[1], ""))


def delete_argument(file: File, call: ast.Call, argument: ast.expr | ast.keyword) -> FileEdits:
    """Take an argument out of a call, with its comma."""
    return file.edits(*edits.delete_argument(file, call, argument))


def delete_element(file: File, sequence: ast.List | ast.Tuple | ast.Set, element: ast.expr) -> FileEdits:
    """Take an element out of a list, tuple or set, with its comma."""
    return file.edits(*edits.delete_list_element(file, sequence, element))


def delete_statement(file: File, statement: ast.stmt) -> FileEdits:
    """Take a statement out with its line; the only one of a block becomes `pass`."""
    return file.edits(*edits.delete_statement(file, statement))


def delete_lines(file: File, first: int, last: int) -> FileEdits:
    """Take whole lines out."""
    return file.edit(file.lines.start(first), file.lines.start(last + 1), "")


def rename(file: File, node: ast.Attribute | Function, name: str) -> FileEdits:
    """Another name for a method that is called, or for a function where it is defined."""
    if isinstance(node, ast.Attribute):
        end = file.span(node)[1]
        return file.edit(end - len(node.attr), end, name)
    start = file.text.index(node.name, file.span(node)[0] + len("def"))
    return file.edit(start, start + len(node.name), name)


def insert_text(file: File, node: ast.AST, text: str) -> FileEdits:
    """Put a text straight before a node, in its line."""
    start, _ = file.span(node)
    return file.edit(start, start, text)


def insert_before(file: File, statement: ast.stmt, text: str) -> FileEdits:
    """Put lines before a statement, indented like it."""
    return file.edits(*edits.insert_before(file, statement, text))


def insert_after(file: File, statement: ast.stmt, text: str) -> FileEdits:
    """Put lines after a statement and its block, indented like it."""
    return file.edits(*edits.insert_after(file, statement, text))


def add_argument(file: File, call: ast.Call, text: str) -> FileEdits:
    """Put an argument behind the last one of a call: `lr=0.1`."""
    last = max(_arguments(call), key=_position, default=None)
    if last is None:
        inside = file.source(call).rstrip()[:-1].rstrip()
        if not inside.endswith("("):
            return ()
        return replace(file, call, f"{inside}{text})")
    end = _end(file, last)
    return () if end is None else file.edits(lines_of(file.text).edit(end, end, f", {text}"))


def add_argument_first(file: File, call: ast.Call, text: str) -> FileEdits:
    """Put an argument before the first one of a call."""
    first = min(_arguments(call), key=_position, default=None)
    if first is None:
        return add_argument(file, call, text)
    found = item_of(file, call, first)
    if found is None or shares_brackets(file, first):
        return ()
    lines, start = lines_of(file.text), found[1].start
    line, column = lines.place(start)
    alone = not lines.content(line)[:column].strip()
    between = "\n" + " " * column if alone else " "
    return file.edits(lines.edit(start, start, f"{text},{between}"))


def insert_argument_after(file: File, argument: ast.expr, text: str) -> FileEdits:
    """Put an argument or element behind another one, on a line of its own where that one has its own."""
    place, lines = file.place(argument), lines_of(file.text)
    end = _end(file, argument)
    if end is None:
        return ()
    alone = not lines.content(place.line)[: place.column].strip()
    between = "\n" + " " * place.column if alone else " "
    return file.edits(lines.edit(end, end, f",{between}{text}"))


def _end(file: File, argument: ast.expr | ast.keyword) -> int | None:
    """Where an argument or element ends, brackets of its own included; None where nothing can stand behind it."""
    around, place = file.parent(argument), file.place(argument)
    if isinstance(around, ast.Call | ast.List | ast.Tuple | ast.Set):
        if shares_brackets(file, argument):
            return None
        found = item_of(file, around, argument)
        if found is not None:
            return found[1].end
    return lines_of(file.text).offset(place.end_line, place.end_column)


def _position(node: ast.expr | ast.keyword) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


def _arguments(call: ast.Call) -> list[ast.expr | ast.keyword]:
    return [*call.args, *call.keywords]


def once(edits: Iterable[FileEdit]) -> FileEdits:
    """Edits without repetitions."""
    return tuple(dict.fromkeys(edits))


def united(parts: Iterable[FileEdits]) -> FileEdits:
    """All edits of several places, each once: layers that are made in a loop share their line."""
    return tuple(dict.fromkeys(edit for part in parts for edit in part))
