"""The user's source files: read once, parsed once, asked for calls, arguments and lines. Never executed."""

from __future__ import annotations

import ast
import io
import tokenize
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from netmend.vocabulary import Site

_MOST_FILES = 200  # of a project, when a value is followed into other files
_MOST_BYTES = 1_000_000  # a larger file is generated code or data
_SKIPPED = {".venv", "venv", "site-packages", "node_modules", ".git", ".netmend", "__pycache__"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Sources:
    """Source files by name; a file that cannot be read or parsed has no tree and answers nothing."""

    def __init__(self, directory: str = "", script: str = "", arguments: tuple[str, ...] = ()) -> None:
        self._directory = Path(directory) if directory else Path()
        self._script = script
        self.arguments = arguments  # the program's own, as it was started
        self._trees: dict[str, ast.Module | None] = {}
        self._texts: dict[str, str] = {}

    def path(self, file: str) -> Path:
        return Path(file) if Path(file).is_absolute() else self._directory / file

    def text(self, file: str) -> str:
        if file not in self._texts:
            self._texts[file] = _read(self.path(file))
        return self._texts[file]

    def lines(self, file: str) -> list[str]:
        return self.text(file).splitlines()

    def line(self, site: Site) -> str:
        """The text of a site's line, stripped, without its comment."""
        lines = self.lines(site.file)
        return _without_comment(lines[site.line - 1]).strip() if 0 < site.line <= len(lines) else ""

    def tree(self, file: str) -> ast.Module | None:
        if file not in self._trees:
            try:
                self._trees[file] = ast.parse(self.text(file)) if self.text(file) else None
            except (SyntaxError, ValueError, RecursionError):
                self._trees[file] = None
        return self._trees[file]

    def nodes(self, file: str) -> Iterator[ast.AST]:
        tree = self.tree(file)
        return iter(()) if tree is None else ast.walk(tree)

    def files(self, near: str = "") -> list[str]:
        """Python files of the program: the given one, the script, and what they import from beside them, nearest first."""
        found: list[str] = []
        waiting = [file for file in (near, self._script) if file]
        while waiting and len(found) < _MOST_FILES:
            file = str(self.path(waiting.pop(0)))
            if file not in found and Path(file).is_file():
                found.append(file)
                waiting.extend(self._imported(file))
        return found

    def _imported(self, file: str) -> Iterator[str]:
        """The project's own files that a file imports."""
        folder = Path(file).parent
        roots = dict.fromkeys(
            (folder, self.path(self._script).parent if self._script else folder, self._directory)
        )
        for node in self.nodes(file):
            names: list[str] = []
            places = list(roots)
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                base = node.module or ""
                names = [base, *(f"{base}.{alias.name}".strip(".") for alias in node.names)]
                if node.level:
                    places = [folder.parents[node.level - 2] if node.level > 1 else folder]
            for name in filter(None, names):
                relative = Path(*name.split("."))
                for place in places:
                    for path in (place / relative.with_suffix(".py"), place / relative / "__init__.py"):
                        if path.is_file() and not _SKIPPED.intersection(path.relative_to(place).parts):
                            yield str(path)

    def call_at(self, site: Site) -> ast.Call | None:
        """The call that a site stands for: by its columns where known, else the first call on the line."""
        calls = [
            node
            for node in self.nodes(site.file)
            if isinstance(node, ast.Call) and node.lineno <= site.line <= (node.end_lineno or node.lineno)
        ]
        if site.column is not None:
            exact = [
                call
                for call in calls
                if (call.lineno, call.col_offset, call.end_lineno, call.end_col_offset)
                == (site.line, site.column, site.end_line, site.end_column)
            ]
            if exact:
                return exact[0]
        starting = [call for call in calls if call.lineno == site.line] or calls
        return min(starting, key=lambda call: (call.col_offset, -(call.end_col_offset or 0)), default=None)

    def argument(self, call: ast.Call, name: str, position: int | None = None) -> ast.expr | None:
        """The expression given for an argument, by keyword or by position; None when its default holds."""
        for keyword in call.keywords:
            if keyword.arg == name:
                return keyword.value
        if position is not None and position < len(call.args):
            given = call.args[position]
            return None if isinstance(given, ast.Starred) else given
        return None

    def calls_named(self, file: str, *names: str) -> Iterator[ast.Call]:
        """Calls whose function's last name is one of the given: `optimizer.zero_grad(...)` for "zero_grad"."""
        for node in self.nodes(file):
            if isinstance(node, ast.Call) and last_name(node.func) in names:
                yield node

    def function_around(self, site: Site) -> Function | None:
        """The innermost function that a line stands in."""
        around = [
            node
            for node in self.nodes(site.file)
            if isinstance(node, Function) and node.lineno <= site.line <= (node.end_lineno or node.lineno)
        ]
        return max(around, key=lambda node: node.lineno, default=None)

    def scopes_around(self, site: Site) -> list[ast.Module | Function]:
        """Where a name in a line may have its value from: the functions around it, innermost first, then the file."""
        around: list[ast.Module | Function] = [
            node
            for node in self.nodes(site.file)
            if isinstance(node, Function) and node.lineno <= site.line <= (node.end_lineno or node.lineno)
        ]
        tree = self.tree(site.file)
        return [*reversed(around), *([] if tree is None else [tree])]

    def loop_around(self, site: Site) -> ast.For | ast.While | None:
        """The innermost loop that a line stands in."""
        around = [
            node
            for node in self.nodes(site.file)
            if isinstance(node, ast.For | ast.While) and node.lineno <= site.line <= (node.end_lineno or 0)
        ]
        return max(around, key=lambda node: node.lineno, default=None)


def site_of(file: str, node: ast.expr | ast.stmt | ast.keyword | ast.arg) -> Site:
    return Site(file, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)


def own_nodes(scope: ast.Module | Function) -> Iterator[ast.AST]:
    """What belongs to a scope itself: names in functions and classes within it are others."""
    waiting: deque[ast.AST] = deque([scope])
    while waiting:
        node = waiting.popleft()
        yield node
        if node is scope or not isinstance(node, Function | ast.ClassDef | ast.Lambda):
            waiting.extend(ast.iter_child_nodes(node))


def last_name(node: ast.AST) -> str:
    """`lr_scheduler.StepLR` → "StepLR"; "" for anything that is no name."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _without_comment(line: str) -> str:
    if "#" not in line:
        return line
    try:
        for token in tokenize.generate_tokens(io.StringIO(line.lstrip()).readline):
            if token.type == tokenize.COMMENT:
                return line.lstrip()[: token.start[1]]
    except (tokenize.TokenError, SyntaxError):
        pass  # a part of a longer statement: as it stands
    return line


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > _MOST_BYTES:
            return ""
        return path.read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return ""
