"""A program as the edits see it: its text, where nodes stand in it, and which brackets are whose."""

from __future__ import annotations

import ast
from typing import Protocol

from netmend.program.text.items import tokens_of
from netmend.program.text.positions import lines_of
from netmend.vocabulary.finding import Edit

Edits = tuple[Edit, ...]


class Place(Protocol):
    """Where a node stands; columns in characters."""

    @property
    def file(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def column(self) -> int: ...
    @property
    def end_line(self) -> int: ...
    @property
    def end_column(self) -> int: ...


class Source(Protocol):
    """What is needed of a program."""

    @property
    def text(self) -> str: ...
    @property
    def file(self) -> str: ...
    def place(self, node: ast.AST, /) -> Place: ...
    def parent(self, node: ast.AST, /) -> ast.AST | None: ...


def span_of(program: Source, node: ast.AST) -> tuple[int, int] | None:
    """Offsets of a node; None for a node of another file, whose text is not at hand, and inside an f-string."""
    place = program.place(node)
    # Before Python 3.12 places inside an f-string are not those in the text.
    if place.file != program.file or _is_in_f_string(program, node):
        return None
    lines = lines_of(program.text)
    start, end = lines.offset(place.line, place.column), lines.offset(place.end_line, place.end_column)
    return None if start is None or end is None else (start, end)


def _is_in_f_string(program: Source, node: ast.AST) -> bool:
    above = program.parent(node)
    while above is not None and not isinstance(above, (ast.stmt, ast.JoinedStr)):
        above = program.parent(above)
    return isinstance(above, ast.JoinedStr)


def is_bare(program: Source, node: ast.Tuple) -> bool:
    """Whether a tuple has no brackets; those of `(a), b` are its items'."""
    span = span_of(program, node)
    first = span_of(program, node.elts[0]) if node.elts else None
    return (
        span is not None
        and first is not None
        and (span[0] == first[0] or program.text[span[0]] != "(" or _closes_early(program, span))
    )


def _closes_early(program: Source, span: tuple[int, int]) -> bool:
    tokens = tokens_of(program.text, *span)
    first_closing = next((token for token in tokens[1:] if token.depth == 0 and token.string == ")"), None)
    return first_closing is not tokens[-1]


def shares_brackets(program: Source, node: ast.AST) -> bool:
    """A generator that is the only argument has no brackets but those of the call."""
    parent = program.parent(node)
    if not isinstance(node, ast.GeneratorExp) or not isinstance(parent, ast.Call):
        return False
    span, whole = span_of(program, node), span_of(program, parent)
    return span is not None and whole is not None and span[1] == whole[1]
