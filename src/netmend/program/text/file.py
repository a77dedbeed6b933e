"""One source file: its text, its tree, what a node stands in, and where it stands."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from netmend.program.text.positions import Lines
from netmend.program.text.queries import Function, calls_of, inside, last_name, spans, walk
from netmend.vocabulary import Site
from netmend.vocabulary.change import FileEdit, FileEdits
from netmend.vocabulary.finding import Edit


@dataclass(frozen=True)
class Place:
    """Where a node stands, in characters: lines from 1, columns from 0."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int


class File:
    """One source file. It is what `program.text.edits` needs to make edits."""

    __slots__ = ("__weakref__", "_chains", "_lines", "_nodes", "file", "text", "tree")

    def __init__(self, file: str, text: str, tree: ast.Module) -> None:
        self.file, self.text, self.tree = file, text, tree
        self._lines: Lines | None = None
        self._nodes: tuple[ast.AST, ...] = ()
        self._chains: dict[int, tuple[ast.AST, list[ast.AST] | None]] = {}

    @property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes, level by level."""
        self._nodes = self._nodes or tuple(walk(self.tree))
        return self._nodes

    @property
    def lines(self) -> Lines:
        if self._lines is None:
            self._lines = Lines(self.text)
        return self._lines

    # -- what a node stands in

    def holds(self, node: ast.AST) -> bool:
        return self.chain(node) is not None

    def chain(self, node: ast.AST) -> list[ast.AST] | None:
        """The nodes around a node, outermost first; None when it is not of this file.

        Found by going down along the lines: a map of all nodes would cost as much as parsing.
        """
        if node is self.tree:
            return []
        known = self._chains.get(id(node))
        if known is None or known[0] is not node:
            line = getattr(node, "lineno", None)
            found = _descend(self.tree, node, line, getattr(node, "end_lineno", line)) if line else None
            known = self._chains[id(node)] = (node, found)
        return known[1]

    def parent(self, node: ast.AST, /) -> ast.AST | None:
        chain = self.chain(node)
        return chain[-1] if chain else None

    def parents(self, node: ast.AST) -> Iterator[ast.AST]:
        """What a node stands in, innermost first."""
        return reversed(self.chain(node) or [])

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The innermost statement that a node stands in, or is."""
        if isinstance(node, ast.stmt):
            return node
        return next((above for above in self.parents(node) if isinstance(above, ast.stmt)), None)

    def function(self, node: ast.AST) -> Function | None:
        """The innermost function around a node."""
        return next((above for above in self.parents(node) if isinstance(above, Function)), None)

    def owner(self, node: ast.AST) -> ast.ClassDef | None:
        """The class that a node stands in."""
        return next((above for above in self.parents(node) if isinstance(above, ast.ClassDef)), None)

    def loop(self, node: ast.AST) -> ast.For | ast.While | None:
        """The innermost loop around a node."""
        return next((above for above in self.parents(node) if isinstance(above, ast.For | ast.While)), None)

    # -- where a node stands

    def place(self, node: ast.AST, /) -> Place:
        line: int = getattr(node, "lineno", 1)
        end_line: int = getattr(node, "end_lineno", None) or line
        start, end = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", None) or 0
        return Place(self.file, line, self.column(line, start), end_line, self.column(end_line, end))

    def column(self, line: int, offset: int) -> int:
        """Characters where Python counts bytes."""
        text = self.lines.content(line)
        return offset if text.isascii() else len(text.encode("utf-8")[:offset].decode("utf-8", "ignore"))

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Where a node begins and ends, as offsets into the text."""
        place = self.place(node)
        start, end = (
            self.lines.offset(place.line, place.column),
            self.lines.offset(place.end_line, place.end_column),
        )
        return start or 0, len(self.text) if end is None else end

    def source(self, node: ast.AST) -> str:
        """A node's text as it stands."""
        start, end = self.span(node)
        return self.text[start:end]

    # -- what stands at a place

    def node_at(self, site: Site) -> ast.expr | ast.stmt | None:
        """The node that spans exactly the columns of a site."""
        wanted = (site.line, site.column, site.end_line, site.end_column)
        for node in self.nodes:
            if isinstance(node, ast.expr | ast.stmt) and wanted == _columns(node):
                return node
        return None

    def call_at(self, site: Site) -> ast.Call | None:
        """The call that a site stands for: by its columns where known, else the first call on the line."""
        calls = [node for node in self.nodes if isinstance(node, ast.Call) and spans(node, site.line)]
        if site.column is not None:
            wanted = (site.line, site.column, site.end_line, site.end_column)
            exact = next((call for call in calls if _columns(call) == wanted), None)
            if exact is not None:
                return exact
        starting = [call for call in calls if call.lineno == site.line] or calls
        return min(starting, key=lambda call: (call.col_offset, -(call.end_col_offset or 0)), default=None)

    def statement_at(self, line: int) -> ast.stmt | None:
        """The innermost statement that a line belongs to."""
        around = [node for node in self.nodes if isinstance(node, ast.stmt) and spans(node, line)]
        return max(around, key=lambda node: (node.lineno, node.col_offset), default=None)

    def functions_at(self, line: int) -> list[Function]:
        """The functions that a line stands in, outermost first."""
        return [node for node in self.nodes if isinstance(node, Function) and spans(node, line)]

    def loop_at(self, line: int) -> ast.For | ast.While | None:
        """The innermost loop that a line stands in."""
        around = [node for node in self.nodes if isinstance(node, ast.For | ast.While) and spans(node, line)]
        return max(around, key=lambda node: node.lineno, default=None)

    def calls(self, *names: str, inside: ast.AST | None = None) -> Iterator[ast.Call]:
        """Calls whose function's last name is one of the given (all calls when none is given)."""
        if inside is not None:
            return calls_of(inside, *names) if names else _calls(inside)
        calls = (node for node in self.nodes if isinstance(node, ast.Call))
        return (call for call in calls if not names or last_name(call.func) in names)

    def edit(self, start: int, end: int, text: str) -> FileEdits:
        """Another text between two offsets."""
        return self.edits(self.lines.edit(start, end, text))

    def edits(self, *edits: Edit) -> FileEdits:
        return tuple(FileEdit(self.file, edit) for edit in edits)


class _WithParents(Protocol):
    def parent(self, node: ast.AST, /) -> ast.AST | None: ...


def block_of(file: _WithParents, statement: ast.stmt) -> list[ast.stmt]:
    """The statements among which one stands."""
    parent = file.parent(statement)
    for _, value in ast.iter_fields(parent) if parent is not None else ():
        if isinstance(value, list) and any(other is statement for other in value):
            return value
    return [statement]


def in_block(file: File, block: Sequence[ast.stmt], node: ast.AST) -> ast.stmt | None:
    """The statement of a block that a node stands in, or is."""
    around = {id(above) for above in (node, *file.parents(node))}
    return next((own for own in block if id(own) in around), None)


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    return inside(node, ast.Call)


def _columns(node: ast.expr | ast.stmt) -> tuple[int, int, int | None, int | None]:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def _descend(tree: ast.AST, wanted: ast.AST, first: int, last: int) -> list[ast.AST] | None:
    path: list[tuple[ast.AST, list[ast.AST]]] = [(tree, _around(tree, first, last))]
    while path:
        _, waiting = path[-1]
        if not waiting:
            path.pop()
            continue
        node = waiting.pop()
        if node is wanted:
            return [step for step, _ in path]
        path.append((node, _around(node, first, last)))
    return None


def _around(node: ast.AST, first: int, last: int) -> list[ast.AST]:
    """The children whose lines hold the given ones; nodes without lines may hold anything."""
    found: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        for child in value if type(value) is list else (value,):
            if isinstance(child, ast.AST):
                start = getattr(child, "lineno", None)
                if start is None:
                    if child._fields:
                        found.append(child)
                    continue
                decorators = getattr(child, "decorator_list", None)
                if decorators:
                    start = min(start, decorators[0].lineno)
                if start <= first and last <= (child.end_lineno or start):  # type: ignore[attr-defined]
                    found.append(child)
    found.reverse()
    return found
