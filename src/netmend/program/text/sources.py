"""The program's own files: read once, parsed once, asked for calls, arguments and lines. Never executed."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from copy import copy
from pathlib import Path
from typing import TypeVar, overload
from weakref import WeakKeyDictionary

from netmend.program.text.file import File
from netmend.program.text.queries import Function
from netmend.vocabulary import Site, Trace

_MOST_FILES = 200  # of a project, when a value is followed into other files
_MOST_BYTES = 1_000_000  # a larger file is generated code or data
_SKIPPED = {".venv", "venv", "site-packages", "node_modules", ".git", ".netmend", "__pycache__"}
_Kind = TypeVar("_Kind", bound=ast.AST)
_Definition = TypeVar("_Definition", bound=ast.ClassDef | ast.FunctionDef)


class Sources:
    """Source files by name; a file that cannot be read or parsed has no tree and answers nothing."""

    def __init__(self, directory: str = "", script: str = "", arguments: tuple[str, ...] = ()) -> None:
        self._directory = Path(directory) if directory else Path()
        self.script = script
        self.arguments = arguments  # the program's own, as it was started
        self._files: dict[str, File | None] = {}
        self._texts: dict[str, str] = {}
        self._states: dict[str, tuple[int, int]] = {}  # of the files when they were read
        self.plain = self  # the same files without arguments
        self.evaluated: object = None  # what program.of_run makes of the files

    @classmethod
    def of(cls, trace: Trace, arguments: tuple[str, ...] = ()) -> Sources:
        """The files of a recorded program, read and evaluated once for all that ask about the trace."""
        known = _OF_TRACES.get(trace)
        if known is None or any(_state(known.path(file)) != state for file, state in known._states.items()):
            known = _OF_TRACES[trace] = cls(trace.run.working_directory, trace.run.script)
        sources = copy(known)
        sources.arguments = arguments
        return sources

    def path(self, file: str) -> Path:
        return Path(file) if Path(file).is_absolute() else self._directory / file

    def text(self, file: str) -> str:
        if file not in self._texts:
            self._states[file] = _state(self.path(file))
            self._texts[file] = _read(self.path(file))
        return self._texts[file]

    def lines(self, file: str) -> list[str]:
        return self.text(file).splitlines()

    def line(self, site: Site) -> str:
        """The text of a site's line, stripped, without its comment."""
        lines = self.lines(site.file)
        return _without_comment(lines[site.line - 1]).strip() if 0 < site.line <= len(lines) else ""

    def file(self, name: str) -> File | None:
        """A file of the program; None when it cannot be read or parsed, or belongs to no project."""
        path = str(self.path(name))
        if path not in self._files:
            text = self.text(name)
            try:
                tree = ast.parse(text) if text else None
            except (SyntaxError, ValueError, RecursionError):
                tree = None
            self._files[path] = None if tree is None else File(path, text, tree)
        return self._files[path]

    def tree(self, file: str) -> ast.Module | None:
        parsed = self.file(file)
        return None if parsed is None else parsed.tree

    @overload
    def nodes(self, file: str) -> Iterator[ast.AST]: ...
    @overload
    def nodes(self, file: str, kind: type[_Kind]) -> Iterator[_Kind]: ...
    def nodes(self, file: str, kind: type[ast.AST] = ast.AST) -> Iterator[ast.AST]:
        """All nodes of a file, or those of one kind, level by level."""
        parsed = self.file(file)
        return (node for node in (parsed.nodes if parsed is not None else ()) if isinstance(node, kind))

    def files(self, near: str = "") -> list[str]:
        """Python files of the program: the given one, the script, and what they import from beside them, nearest first."""
        found: list[str] = []
        waiting = [file for file in (near, self.script) if file]
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
            (folder, self.path(self.script).parent if self.script else folder, self._directory)
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
        file = self.file(site.file)
        return None if file is None else file.call_at(site)

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
        parsed = self.file(file)
        return iter(()) if parsed is None or not names else parsed.calls(*names)

    def function_around(self, site: Site) -> Function | None:
        """The innermost function that a line stands in."""
        file = self.file(site.file)
        around = [] if file is None else file.functions_at(site.line)
        return max(around, key=lambda node: node.lineno, default=None)

    def scope_around(self, site: Site) -> ast.Module | Function | None:
        """The innermost function that a line stands in, else its file."""
        return self.function_around(site) or self.tree(site.file)

    def loop_around(self, site: Site) -> ast.For | ast.While | None:
        """The innermost loop that a line stands in."""
        file = self.file(site.file)
        return None if file is None else file.loop_at(site.line)


_OF_TRACES: WeakKeyDictionary[Trace, Sources] = WeakKeyDictionary()


class Code:
    """The files of the program as repairs see them: nodes come with the file that edits of them belong to."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources

    def file(self, name: str) -> File | None:
        return self.sources.file(name)

    def files(self, near: str = "") -> Iterator[File]:
        """The program's own files, nearest first."""
        for name in self.sources.files(near):
            file = self.file(name)
            if file is not None:
                yield file

    def call_at(self, site: Site | None) -> tuple[File, ast.Call] | None:
        """The call that a site of the trace stands for."""
        file = None if site is None else self.file(site.file)
        call = None if site is None or file is None else file.call_at(site)
        return None if file is None or call is None else (file, call)

    def statement_at(self, site: Site | None) -> tuple[File, ast.stmt] | None:
        """The innermost statement that a site's line belongs to."""
        file = None if site is None else self.file(site.file)
        statement = None if site is None or file is None else file.statement_at(site.line)
        return None if file is None or statement is None else (file, statement)

    def definition(self, name: str, kind: type[_Definition]) -> tuple[File, _Definition] | None:
        """A class or function of the program by its name."""
        for file in self.files():
            for node in file.nodes:
                if isinstance(node, kind) and node.name == name:
                    return file, node
        return None


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


def _state(path: Path) -> tuple[int, int]:
    """What changes when a file is written."""
    try:
        state = path.stat()
    except (OSError, ValueError):
        return -1, -1
    return state.st_mtime_ns, state.st_size


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > _MOST_BYTES:
            return ""
        return path.read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return ""
