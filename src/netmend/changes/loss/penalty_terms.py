"""Summands of the objective that measure weights, in whatever form they are written; found from backward() on."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.changes.case import Case
from netmend.changes.loss.objective_terms import KEEPING, given_to, objective, results
from netmend.changes.loss.penalties import measures
from netmend.program.source.writing import delete_statement, replace
from netmend.program.text.file import File
from netmend.program.text.queries import inside, last_name, variables_in
from netmend.program.text.sources import Code
from netmend.vocabulary.change import FileEdits

_MOST_DEPTH = 16
_WEIGHTS = ("weight", "bias", "parameters", "named_parameters", "weights", "kernel")


@dataclass(frozen=True)
class Penalty:
    """One summand, and the edits that take it out of the sum."""

    file: File
    term: ast.expr
    removal: FileEdits


def penalty_terms(case: Case) -> list[Penalty]:
    start = objective(case)
    if start is None:
        return []
    return list({id(found.term): found for found in _search(case.code, *start, 0)}.values())


def _search(code: Code, file: File, node: ast.expr, depth: int) -> Iterator[Penalty]:
    if depth > _MOST_DEPTH:
        return
    deeper = depth + 1
    if isinstance(node, ast.Name):
        yield from _through_name(code, file, node, deeper)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        for side, other in ((node.left, node.right), (node.right, node.left)):
            if is_penalty(code, file, side) and not is_penalty(code, file, other):
                text = file.source(other)
                yield Penalty(file, side, replace(file, node, text))
            else:
                yield from _search(code, file, side, deeper)
    elif isinstance(node, ast.BinOp):
        for side in (node.left, node.right):
            yield from _search(code, file, side, deeper)
    elif isinstance(node, ast.Call):
        given = given_to(file, node) if last_name(node.func) in KEEPING else None
        if given is not None:
            yield from _search(code, file, given, deeper)
        else:
            for place, value in results(code, file, node):
                yield from _search(code, place, value, deeper)


def _through_name(code: Code, file: File, name: ast.Name, depth: int) -> Iterator[Penalty]:
    """All that is assigned or added to a variable."""
    for statement in _changes(file, name):
        if isinstance(statement, ast.Assign):
            yield from _search(code, file, statement.value, depth + 6 if _same(statement, name) else depth)
        elif isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add):
            if is_penalty(code, file, statement.value):
                yield Penalty(file, statement.value, delete_statement(file, statement))
            else:
                yield from _search(code, file, statement.value, depth)


def _same(statement: ast.Assign, name: ast.Name) -> bool:
    """`loss = loss + …`: the name leads back to itself."""
    return name.id in variables_in(statement.value)


def _changes(file: File, name: ast.Name) -> list[ast.Assign | ast.AugAssign]:
    scope = file.function(name) or file.tree
    found: list[ast.Assign | ast.AugAssign] = []
    for node in inside(scope, ast.Assign, ast.AugAssign):
        if (isinstance(node, ast.Assign) and name.id in map(last_name, node.targets)) or (
            isinstance(node, ast.AugAssign) and last_name(node.target) == name.id
        ):
            found.append(node)
    return [statement for statement in found if file.function(statement) is file.function(name)]


def is_penalty(code: Code, file: File, node: ast.expr, depth: int = 0) -> bool:
    """Whether a value measures weights and nothing else."""
    if depth > _MOST_DEPTH:
        return False
    deeper = depth + 1
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        return is_penalty(code, file, node.left, deeper) and is_penalty(code, file, node.right, deeper)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div):
        return is_penalty(code, file, node.left, deeper) or is_penalty(code, file, node.right, deeper)
    if isinstance(node, ast.Name):
        values = [s.value for s in _changes(file, node) if not isinstance(s.value, ast.Constant)]
        own = [value for value in values if not _reads(value, node.id)]
        return bool(own) and all(is_penalty(code, file, value, deeper) for value in own)
    if isinstance(node, ast.Call) or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow)):
        parts = list(inside(node, ast.expr))
        if any(map(measures, parts)) and any(last_name(part) in _WEIGHTS for part in parts):
            return not any(_is_loss(part) for part in parts)
        if isinstance(node, ast.Call):
            given = given_to(file, node) if last_name(node.func) in (*KEEPING, "sqrt", "stack") else None
            if given is not None:
                return is_penalty(code, file, given, deeper)
            values_of_call = list(results(code, file, node))
            return bool(values_of_call) and any(
                is_penalty(code, other, value, deeper) for other, value in values_of_call
            )
    return False


def _reads(node: ast.expr, name: str) -> bool:
    return name in variables_in(node)


def _is_loss(node: ast.AST) -> bool:
    """A loss of the data stands in the same expression."""
    return isinstance(node, ast.Call) and last_name(node.func).endswith(("entropy", "mse_loss", "nll_loss"))
