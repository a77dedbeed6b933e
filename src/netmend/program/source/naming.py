"""How a library's name is written in a file: by what the file imports, with a new import where nothing fits."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from itertools import chain, count, takewhile

from netmend.program.source.writing import insert_after, insert_before, replace
from netmend.program.text.file import File
from netmend.program.text.positions import lines_of
from netmend.program.text.queries import attributes_in, inside, variables_in
from netmend.vocabulary.change import FileEdits
from netmend.vocabulary.finding import Edit


def spelled(file: File, qualified: str, like: ast.expr | None = None) -> tuple[str, FileEdits]:
    """The name to write for `torch.optim.Adam` and the edits that make it known.

    `like` is a name in use whose neighbour is wanted: beside `SGD` that was imported from torch.optim, `Adam` is imported
    the same way; beside `optim.SGD`, it is `optim.Adam`.
    """
    package, _, name = qualified.rpartition(".")
    known = _known_at(file, like)
    for local, full in known.items():
        if full == qualified:
            return local, ()
    if isinstance(like, ast.Attribute) and _full(like.value, known) == package:
        return f"{file.source(like.value)}.{name}", ()
    best = _through(known, qualified)
    if not isinstance(like, ast.Name) and best:
        return best, ()
    for statement in file.tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.module == package and not statement.level:
            last = statement.names[-1]
            if last.name != "*":
                return name, file.edits(*_after_alias(file, last, name))
    if best:
        return best, ()
    line = f"from {package} import {name}"
    body = [s for s in file.tree.body if not _is_text(s)]
    # Those at the top: others may stand below the place where the name is used.
    found = list(takewhile(lambda s: isinstance(s, ast.Import | ast.ImportFrom), body))
    if found:
        return name, insert_after(file, found[-1], line)
    return name, insert_before(file, body[0], line) if body else ()


def new_variable(file: File, *wanted: str) -> str:
    """The first of some names that the file does not use yet, else the last of them with a number."""
    parameters = {argument.arg for argument in inside(file.tree, ast.arg)}
    return _unused(variables_in(file.tree) | parameters | set(imports(file)), wanted)


def new_attribute(owner: ast.AST, *wanted: str) -> str:
    """The first of some attributes that a class does not have yet, else the last of them with a number."""
    return _unused(attributes_in(owner), wanted)


def _unused(used: set[str], wanted: tuple[str, ...]) -> str:
    numbered = (f"{wanted[-1]}{number}" for number in count(2))
    return next(name for name in chain(wanted, numbered) if name not in used)


def imports(file: File) -> dict[str, str]:
    """Local names and what they stand for: {"nn": "torch.nn", "Adam": "torch.optim.Adam"}."""
    return _named(ast.walk(file.tree))


def _known_at(file: File, place: ast.expr | None) -> dict[str, str]:
    """Without those that only another function imports for itself."""
    around = [] if place is None else list(file.parents(place))
    own = (node for node in ast.walk(file.tree) if isinstance(node, ast.Import | ast.ImportFrom))
    return _named(node for node in own if (function := file.function(node)) is None or function in around)


def _named(nodes: Iterable[ast.AST]) -> dict[str, str]:
    known: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                local = alias.asname or alias.name.partition(".")[0]
                known[local] = alias.name if alias.asname else local
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                known[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return known


def qualified(file: File, node: ast.expr) -> str:
    """The full name that an expression stands for: `optim.Adam` → "torch.optim.Adam"; "" when it is none."""
    return _full(node, imports(file))


def _full(node: ast.expr, known: dict[str, str]) -> str:
    if isinstance(node, ast.Name):
        return known.get(node.id, "")
    if isinstance(node, ast.Attribute):
        base = _full(node.value, known)
        return f"{base}.{node.attr}" if base else ""
    return ""


def _through(known: dict[str, str], qualified: str) -> str:
    """The shortest way to a name through what is imported: `optim.Adam`, `torch.optim.Adam`."""
    ways = [
        local + qualified[len(full) :] for local, full in known.items() if qualified.startswith(f"{full}.")
    ]
    return min(ways, key=len, default="")


def _after_alias(file: File, alias: ast.alias, name: str) -> tuple[Edit, ...]:
    place, lines = file.place(alias), lines_of(file.text)
    end = lines.offset(place.end_line, place.end_column) or 0
    return (lines.edit(end, end, f", {name}"),)


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def rename_callee(file: File, call: ast.Call, qualified_name: str) -> FileEdits:
    """Let a call call something else: `optim.SGD(…)` → `optim.Adam(…)`; the arguments stay."""
    name, extra = spelled(file, qualified_name, like=call.func)
    return (*replace(file, call.func, name), *extra)
