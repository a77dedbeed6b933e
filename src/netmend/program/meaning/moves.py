"""Fixes that put a statement of a training loop where it belongs."""

from __future__ import annotations

import ast

from netmend.program.engine.history import Event
from netmend.program.engine.program import Program
from netmend.program.text.edit_source import Edits
from netmend.program.text.edits import delete_statement, insert_after, insert_before


def alone(program: Program, event: Event) -> ast.stmt | None:
    """The statement of an event, if it consists of nothing but the call and stands in the checked file."""
    node = event.node
    if not program.module.holds(node):
        return None
    statement = program.statement(node)
    return statement if isinstance(statement, ast.Expr) and statement.value is node else None


def within(program: Program, event: Event) -> ast.stmt | None:
    """The simple statement that an event stands in, of the checked file."""
    if not program.module.holds(event.node):
        return None
    statement = program.statement(event.node)
    return statement if isinstance(statement, ast.Expr | ast.Assign | ast.AugAssign | ast.AnnAssign) else None


def is_beside(program: Program, one: ast.AST, other: ast.AST) -> bool:
    """Do two statements stand in the same list of statements?"""
    above = program.parent(one)
    if above is None or above is not program.parent(other):
        return False
    return any(
        isinstance(value, list)
        and any(part is one for part in value)
        and any(part is other for part in value)
        for _, value in ast.iter_fields(above)
    )


def moved_before(program: Program, statement: ast.stmt, place: ast.stmt) -> Edits:
    """Take a statement out and put it before another; nothing where it cannot be done."""
    out, put = delete_statement(program, statement), insert_before(program, place, program.source(statement))
    return (*out, *put) if out and put else ()


def moved_after(program: Program, statement: ast.stmt, place: ast.stmt) -> Edits:
    out, put = delete_statement(program, statement), insert_after(program, place, program.source(statement))
    return (*out, *put) if out and put else ()


def optimiser_text(program: Program, step: Event) -> str:
    """How the program writes the optimiser of a step: `self.opt`; "" where it is more than a name."""
    node = step.node
    if (
        not isinstance(node, ast.Call)
        or not isinstance(node.func, ast.Attribute)
        or not program.module.holds(node)
    ):
        return ""
    written: ast.AST = node.args[0] if node.args else node.func.value
    part = written
    while isinstance(part, ast.Attribute):
        part = part.value
    return program.source(written) if isinstance(part, ast.Name) else ""


def function_of(program: Program, node: ast.AST) -> ast.AST | None:
    """The function that a node is written in; None at the top level."""
    return next(
        (above for above in program.above(node) if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef)),
        None,
    )
