"""The program's source as repairs see it: nodes found by the sites of a trace, and edits of the files they stand in."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from netmend.localise.lines.source import Function, Sources, last_name
from netmend.program.text.positions import lines_of
from netmend.vocabulary import Site
from netmend.vocabulary.change import FileEdit, FileEdits
from netmend.vocabulary.finding import Edit


@dataclass(frozen=True)
class Place:
    """Where a node stands; columns in characters."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int


class File:
    """One source file: its text, its tree, and who stands in whom. What `syntax.edits` needs to make edits."""

    def __init__(self, file: str, text: str, tree: ast.Module) -> None:
        self.file, self.text, self.tree = file, text, tree

    @cached_property
    def _parents(self) -> dict[ast.AST, ast.AST]:
        return {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    def parent(self, node: ast.AST, /) -> ast.AST | None:
        return self._parents.get(node)

    def parents(self, node: ast.AST) -> Iterator[ast.AST]:
        """What a node stands in, innermost first."""
        above = self.parent(node)
        while above is not None:
            yield above
            above = self.parent(above)

    def place(self, node: ast.AST, /) -> Place:
        line, end_line = int(node.lineno), int(node.end_lineno or node.lineno)  # type: ignore[attr-defined]
        return Place(
            self.file,
            line,
            self.column(line, node.col_offset),  # type: ignore[attr-defined]
            end_line,
            self.column(end_line, node.end_col_offset or 0),  # type: ignore[attr-defined]
        )

    def column(self, line: int, offset: int) -> int:
        """Characters where Python counts bytes."""
        return len(lines_of(self.text).content(line).encode()[:offset].decode(errors="replace"))

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The statement that a node stands in, or is."""
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

    def source(self, node: ast.AST) -> str:
        """A node's text as it stands."""
        place, lines = self.place(node), lines_of(self.text)
        start = lines.offset(place.line, place.column) or 0
        return self.text[start : lines.offset(place.end_line, place.end_column)]

    def node_at(self, site: Site) -> ast.expr | ast.stmt | None:
        """The node that spans exactly the columns of a site."""
        wanted = (site.line, site.column, site.end_line, site.end_column)
        for node in ast.walk(self.tree):
            if isinstance(node, ast.expr | ast.stmt) and wanted == (
                node.lineno,
                node.col_offset,
                node.end_lineno,
                node.end_col_offset,
            ):
                return node
        return None

    def statements_at(self, line: int) -> list[ast.stmt]:
        """Statements that begin on a line, outermost first."""
        return [node for node in ast.walk(self.tree) if isinstance(node, ast.stmt) and node.lineno == line]

    def calls(self, *names: str, inside: ast.AST | None = None) -> Iterator[ast.Call]:
        """Calls whose function's last name is one of the given (all calls when none is given)."""
        for node in ast.walk(inside or self.tree):
            if isinstance(node, ast.Call) and (not names or last_name(node.func) in names):
                yield node

    def edits(self, *edits: Edit) -> FileEdits:
        return tuple(FileEdit(self.file, edit) for edit in edits)


class Code:
    """The files of the program."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self._files: dict[str, File | None] = {}

    def file(self, name: str) -> File | None:
        """A file of the program; None when it cannot be read or parsed, or belongs to no project."""
        if name not in self._files:
            tree, text = self.sources.tree(name), self.sources.text(name)
            path = str(self.sources.path(name))
            self._files[name] = None if tree is None else File(path, text, tree)
        return self._files[name]

    def files(self, near: str = "") -> Iterator[File]:
        """The program's own files, nearest first."""
        for name in self.sources.files(near):
            file = self.file(name)
            if file is not None:
                yield file

    def call_at(self, site: Site | None) -> tuple[File, ast.Call] | None:
        """The call that a site of the trace stands for."""
        file = None if site is None else self.file(site.file)
        call = None if site is None else self.sources.call_at(site)
        return None if file is None or call is None else (file, call)

    def statement_at(self, site: Site | None) -> tuple[File, ast.stmt] | None:
        """The innermost statement that a site's line belongs to."""
        file = None if site is None else self.file(site.file)
        if site is None or file is None:
            return None
        around = [
            node
            for node in ast.walk(file.tree)
            if isinstance(node, ast.stmt) and node.lineno <= site.line <= (node.end_lineno or node.lineno)
        ]
        innermost = max(around, key=lambda node: (node.lineno, node.col_offset), default=None)
        return None if innermost is None else (file, innermost)

    def definition(
        self, name: str, kind: type[ast.ClassDef] | type[ast.FunctionDef]
    ) -> tuple[File, ast.AST] | None:
        """A class or function of the program by its name."""
        for file in self.files():
            for node in ast.walk(file.tree):
                if isinstance(node, kind) and node.name == name:
                    return file, node
        return None
