"""A program as the edits see it: where nodes stand in its text, which brackets are whose, and the items between them with commas and comments."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from netmend.program.text.file import Place
from netmend.program.text.positions import Lines, lines_of
from netmend.vocabulary.finding import Edit

Edits = tuple[Edit, ...]


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


_OPENING, _CLOSING = "([{", ")]}"
_NO_CODE = (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


@dataclass(frozen=True)
class Token:
    """A piece of code or a comment, in offsets of the whole text."""

    string: str
    start: int
    end: int
    depth: int  # brackets that are open around it, its own not counted

    @property
    def is_comment(self) -> bool:
        return self.string.startswith("#")


@dataclass(frozen=True)
class Item:
    """One argument or element with the brackets around it alone; `comma` is the one that follows."""

    start: int
    end: int
    comma: Token | None


@dataclass(frozen=True)
class Items:
    """Everything between two brackets; without brackets (`return a, b`) the ends of the expression."""

    tokens: tuple[Token, ...]  # between the brackets, comments too
    start: int
    end: int
    items: tuple[Item, ...]

    def comments(self, start: int, end: int) -> bool:
        return any(token.is_comment for token in self.tokens if start <= token.start < end)

    def before(self, offset: int) -> int:
        """Where the last token or comment before an offset ends."""
        return max((token.end for token in self.tokens if token.end <= offset), default=self.start)

    def after(self, offset: int) -> Token | None:
        """The first token or comment at or after an offset."""
        return next((token for token in self.tokens if token.start >= offset), None)


def tokens_of(text: str, start: int, end: int) -> tuple[Token, ...]:
    """The tokens of an expression that stands between two offsets."""
    # In brackets of its own, so that its line ends mean nothing; they are taken off again below.
    piece = f"({text[start:end]})"
    lines = Lines(piece)
    tokens, depth = [], 0
    for token in tokenize.generate_tokens(io.StringIO(piece, newline=None).readline):
        if token.type in _NO_CODE:
            continue
        is_bracket = token.type == tokenize.OP
        if is_bracket and token.string in _CLOSING:
            depth -= 1
        first = lines.start(token.start[0]) + token.start[1] + start - 1
        last = lines.start(token.end[0]) + token.end[1] + start - 1
        tokens.append(Token(token.string, first, last, depth - 1))
        if is_bracket and token.string in _OPENING:
            depth += 1
    return tuple(tokens[1:-1])


def items_of(text: str, start: int, end: int, nodes: Sequence[tuple[int, int]], bracketed: bool) -> Items:
    """Take the expression between two offsets apart; `nodes` are the offsets of its items, in order."""
    tokens = tokens_of(text, start, end)
    inside_start, inside_end, depth = start, end, 0
    if bracketed:
        closing = tokens[-1]
        opening = next(
            token
            for token in reversed(tokens[:-1])
            if token.depth == closing.depth and token.string in _OPENING
        )
        inside_start, inside_end, depth = opening.end, closing.start, closing.depth + 1
    inside = tuple(token for token in tokens if inside_start <= token.start < inside_end)
    commas = [
        token
        for token in inside
        if token.string == ","
        and token.depth == depth
        # A lambda's own commas stand at the same depth.
        and not any(first <= token.start < last for first, last in nodes)
    ]
    items, begin = [], inside_start
    for index in range(len(nodes)):
        comma = commas[index] if index < len(commas) else None
        limit = comma.start if comma is not None else inside_end
        own = [token for token in inside if begin <= token.start < limit and not token.is_comment]
        items.append(Item(own[0].start, own[-1].end, comma))
        begin = comma.end if comma is not None else inside_end
    return Items(inside, inside_start, inside_end, tuple(items))
