"""Edits as repairs make them: those of `syntax.edits`, in the file they belong to. An empty result: it cannot be done."""

from __future__ import annotations

import ast

from netmend.repair.code import File
from netmend.syntax import edits
from netmend.syntax.positions import lines_of
from netmend.vocabulary.change import FileEdits


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
    if not isinstance(call.func, ast.Attribute):
        return ()
    return replace(file, call, file.source(call.func.value))


def delete_argument(file: File, call: ast.Call, argument: ast.expr | ast.keyword) -> FileEdits:
    """Take an argument out of a call, with its comma."""
    return file.edits(*edits.delete_argument(file, call, argument))


def delete_element(file: File, sequence: ast.List | ast.Tuple | ast.Set, element: ast.expr) -> FileEdits:
    """Take an element out of a list, tuple or set, with its comma."""
    return file.edits(*edits.delete_list_element(file, sequence, element))


def delete_statement(file: File, statement: ast.stmt) -> FileEdits:
    """Take a statement out with its line; the only one of a block becomes `pass`."""
    return file.edits(*edits.delete_statement(file, statement))


def insert_before(file: File, statement: ast.stmt, text: str) -> FileEdits:
    """Put lines before a statement, indented like it."""
    return file.edits(*edits.insert_before(file, statement, text))


def insert_after(file: File, statement: ast.stmt, text: str) -> FileEdits:
    """Put lines after a statement and its block, indented like it."""
    return file.edits(*edits.insert_after(file, statement, text))


def add_argument(file: File, call: ast.Call, text: str) -> FileEdits:
    """Put an argument behind the last one of a call: `lr=0.1`."""
    last = max((*call.args, *(keyword.value for keyword in call.keywords)), key=_position, default=None)
    source = file.source(call)
    end = file.place(call)
    if last is None:
        inside = source.rstrip()[:-1].rstrip()
        if not inside.endswith("("):
            return ()
        return replace(file, call, f"{inside}{text})")
    place = file.place(last)
    lines = lines_of(file.text)
    start, stop = lines.offset(place.end_line, place.end_column), lines.offset(end.end_line, end.end_column)
    if start is None or stop is None:
        return ()
    # Brackets of the argument itself may follow it.
    rest = file.text[start:stop]
    closing = rest[: len(rest.rstrip()) - 1]
    own = len(closing) - len(closing.lstrip(") "))
    return file.edits(lines.edit(start + own, start + own, f", {text}"))


def add_argument_first(file: File, call: ast.Call, text: str) -> FileEdits:
    """Put an argument before the first one of a call."""
    first = min(_arguments(call), key=_position, default=None)
    if first is None:
        return add_argument(file, call, text)
    place, lines = file.place(first), lines_of(file.text)
    start = lines.offset(place.line, place.column)
    if start is None:
        return ()
    alone = not lines.content(place.line)[: place.column].strip()
    between = "\n" + " " * place.column if alone else " "
    return file.edits(lines.edit(start, start, f"{text},{between}"))


def insert_argument_after(file: File, argument: ast.expr, text: str) -> FileEdits:
    """Put an argument or element behind another one, on a line of its own where that one has its own."""
    place, lines = file.place(argument), lines_of(file.text)
    end = lines.offset(place.end_line, place.end_column)
    if end is None:
        return ()
    alone = not lines.content(place.line)[: place.column].strip()
    between = "\n" + " " * place.column if alone else " "
    return file.edits(lines.edit(end, end, f",{between}{text}"))


def _position(node: ast.expr | ast.keyword) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


def _arguments(call: ast.Call) -> list[ast.expr | ast.keyword]:
    return [*call.args, *call.keywords]
