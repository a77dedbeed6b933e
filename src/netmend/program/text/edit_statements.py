"""Edits of whole statements: lines that come and go with the right indentation, and `a(); b()` on one line."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from netmend.program.text.edit_source import Edits, Source, span_of
from netmend.program.text.positions import lines_of

_DECORATED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_BLOCKS = (
    ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.Match, *_DECORATED
)  # fmt: skip


def delete_statement(program: Source, statement: ast.stmt) -> Edits:
    """Take a statement out with its line; the only one of a block becomes `pass`. A comment behind it stays."""
    where = _Where.of(program, statement)
    if where is None:
        return ()
    lines, text = lines_of(program.text), program.text
    if where.is_alone:
        return (lines.edit(where.start, where.end, "pass"),)
    if where.next_start is not None:
        return (lines.edit(where.start, where.next_start, ""),)
    if where.previous_end is not None:
        return (lines.edit(where.previous_end, where.end, ""),)
    if not where.is_first_on_line:
        return ()
    first, last = lines.place(where.start)[0], lines.place(where.end)[0]
    rest = text[where.end : lines.end(last)].lstrip(" \t\f;")
    if rest:
        return (lines.edit(where.start, lines.end(last) - len(rest), ""),)
    return (lines.edit(lines.start(first), lines.start(last + 1), ""),)


def insert_before(program: Source, statement: ast.stmt, text: str) -> Edits:
    """Put statements before another; the text's lines are indented like it."""
    where = _Where.of(program, statement)
    if where is None:
        return ()
    lines = lines_of(program.text)
    if not where.is_first_on_line:
        return (lines.edit(where.start, where.start, f"{text}; "),) if _is_simple(text) else ()
    line_start = lines.start(lines.place(where.start)[0])
    return (lines.edit(line_start, line_start, f"{_indented(text, where.indentation)}\n"),)


def insert_after(program: Source, statement: ast.stmt, text: str) -> Edits:
    """Put statements after another, behind all of its block; the text's lines are indented like it."""
    where = _Where.of(program, statement)
    if where is None:
        return ()
    lines = lines_of(program.text)
    if not where.is_first_on_line or where.next_start is not None:
        return (lines.edit(where.end, where.end, f"; {text}"),) if _is_simple(text) else ()
    line_end = lines.end(lines.place(where.end)[0])
    return (lines.edit(line_end, line_end, f"\n{_indented(text, where.indentation)}"),)


class _Where:
    """A statement among its neighbours, in offsets."""

    def __init__(
        self, program: Source, statement: ast.stmt, span: tuple[int, int], block: Sequence[ast.stmt]
    ) -> None:
        lines = lines_of(program.text)
        index = next(index for index, other in enumerate(block) if other is statement)
        self.start, self.end = span
        self.is_alone = len(block) == 1 and not isinstance(
            program.parent(statement), (ast.Module, type(None))
        )
        before = program.text[lines.start(lines.place(self.start)[0]) : self.start]
        self.is_first_on_line = not before.strip(" \t\f\ufeff")
        self.indentation = before.strip("\ufeff") if self.is_first_on_line else ""
        self.previous_end = self.next_start = None
        if index > 0:
            previous = span_of(program, block[index - 1])
            if previous is not None and lines.place(previous[1])[0] == lines.place(self.start)[0]:
                self.previous_end = previous[1]
        if index + 1 < len(block):
            following = span_of(program, block[index + 1])
            if following is not None and lines.place(following[0])[0] == lines.place(self.end)[0]:
                self.next_start = following[0]

    @classmethod
    def of(cls, program: Source, statement: ast.stmt) -> _Where | None:
        """None where lines cannot be put or taken: an `elif`, a line that continues another, a node of another file."""
        span = span_of(program, statement)
        if span is None:
            return None
        start, end = span
        if isinstance(statement, _DECORATED) and statement.decorator_list:
            decorator = span_of(program, statement.decorator_list[0])
            if decorator is None:
                return None
            start = program.text.rindex("@", 0, decorator[0])
        text, lines = program.text, lines_of(program.text)
        line = lines.place(start)[0]
        is_elif = isinstance(statement, ast.If) and text.startswith("elif", start)
        if is_elif or (line > 1 and lines.content(line - 1).endswith("\\")):
            return None
        block = _block(program.parent(statement), statement)
        return None if block is None else cls(program, statement, (start, end), block)


def _block(parent: ast.AST | None, statement: ast.stmt) -> Sequence[ast.stmt] | None:
    """The list of statements that this one stands in."""
    for _, value in ast.iter_fields(parent) if parent is not None else ():
        if isinstance(value, list) and any(other is statement for other in value):
            return value
    return None


def _is_simple(text: str) -> bool:
    """Whether a text may stand beside others on a line."""
    return "\n" not in text and not any(isinstance(statement, _BLOCKS) for statement in ast.parse(text).body)


def _indented(text: str, indentation: str) -> str:
    return "\n".join(f"{indentation}{line}" if line.strip() else "" for line in text.rstrip("\n").split("\n"))
