"""Requests for gradients of a value that was outside the graph: `out.requires_grad = True`. Within the graph they are of no use, or raise."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.changes.loop.loop_code import assigned_names, names_in
from netmend.program.source.moving import taken_out
from netmend.program.text.file import File
from netmend.program.text.queries import Function, inside
from netmend.vocabulary.change import FileEdits

_MOST_CALLS = 3  # a result that is handed on through more functions than this is not followed


def without_leaf_flags(file: File, node: ast.AST) -> FileEdits:
    """Edits that take out the requests for gradients of what a part of the source computes, and of what is computed from it."""
    return tuple(dict.fromkeys(edit for flag in _flags_behind(file, node) for edit in taken_out(file, flag)))


def _flags_behind(file: File, node: ast.AST, most: int = _MOST_CALLS) -> Iterator[ast.stmt]:
    statement = node if isinstance(node, ast.stmt) else file.statement(node)
    if isinstance(statement, Function):  # nothing in it is recorded: a decorator
        yield from _flags_behind_calls(file, statement, most)
        return
    function = None if statement is None else file.function(statement)
    scope = function or file.tree
    statements = list(inside(scope, ast.stmt))
    if statement is None:
        return
    names = assigned_names(statement)
    for each in sorted(statements, key=lambda each: each.lineno):
        if each.lineno < statement.lineno:
            continue
        if isinstance(each, ast.Assign | ast.AugAssign) and names & names_in(each.value):
            names |= set() if any(map(_leaves_again, inside(each.value, ast.expr))) else assigned_names(each)
        if _asks_for_gradients(each) & names:
            yield each
    returned = [each for each in statements if isinstance(each, ast.Return)]
    if function is not None and any(each is statement or names & names_in(each) for each in returned):
        yield from _flags_behind_calls(file, function, most)


def _flags_behind_calls(file: File, function: Function, most: int) -> Iterator[ast.stmt]:
    for call in file.calls(function.name) if most else ():
        if file.function(call) is not function:
            yield from _flags_behind(file, call, most - 1)


def _asks_for_gradients(statement: ast.stmt) -> set[str]:
    """`out` of `out.requires_grad = True`, of `out.requires_grad_()` and of `out = out.requires_grad_()`."""
    held: ast.expr | None = None
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Attribute):
        is_on = isinstance(statement.value, ast.Constant) and statement.value.value is True
        target = statement.targets[0]
        held = target.value if is_on and target.attr == "requires_grad" else None
    elif isinstance(statement, ast.Expr | ast.Assign) and isinstance(statement.value, ast.Call):
        func, off = statement.value.func, statement.value.args
        if isinstance(func, ast.Attribute) and func.attr == "requires_grad_" and not off:
            held = func.value
            if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) != ast.unparse(held):
                held = None
    return {held.id} if isinstance(held, ast.Name) else set()


def _leaves_again(node: ast.AST) -> bool:
    """`fake.detach()`: a leaf of its own may be meant."""
    return isinstance(node, ast.Attribute) and node.attr in ("detach", "data")
