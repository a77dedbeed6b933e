"""Penalties of weights in an objective: where they are added up, and as terms with a factor."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.changes.case import Case
from netmend.changes.loss.objective_terms import KEEPING, given_to, objective, results
from netmend.program.source.dataflow import uses
from netmend.program.source.writing import delete_statement, replace
from netmend.program.text.file import File
from netmend.program.text.queries import inside, last_name, names_in, uses_of, variables_in
from netmend.program.text.sources import Code
from netmend.vocabulary.change import FileEdits

_SIZES = ("abs", "pow", "norm", "square", "square_", "vector_norm", "l1_loss")
_SUMMING = frozenset(["sum", "mean", "stack", "cat", "sqrt", "float", "to"])


def penalties(case: Case) -> Iterator[tuple[File, ast.expr]]:
    """`sum(p.abs().sum() for p in model.parameters())` as a whole, or the variable that a loop adds sizes up in."""
    for file in case.code.files():
        for node in inside(file.tree, ast.GeneratorExp, ast.ListComp, ast.For):
            if isinstance(node, ast.GeneratorExp | ast.ListComp) and _over_parameters(
                node.generators[0].iter
            ):
                holder = file.parent(node)
                if any(map(measures, inside(node.elt, ast.expr))) and isinstance(holder, ast.Call):
                    yield file, _whole(file, holder)
            elif isinstance(node, ast.For) and _over_parameters(node.iter):
                yield from _added_up(file, node)


def _whole(file: File, node: ast.expr) -> ast.expr:
    """With what sums it up: `torch.stack([…]).sum()`."""
    while True:
        holder = file.parent(node)
        call = None if holder is None else file.parent(holder)
        if isinstance(holder, ast.Call) and node in holder.args and last_name(holder.func) in _SUMMING:
            node = holder
        elif isinstance(holder, ast.Attribute) and isinstance(call, ast.Call) and holder.attr in _SUMMING:
            node = call
        else:
            return node


def _added_up(file: File, loop: ast.For) -> Iterator[tuple[File, ast.expr]]:
    """Where the variable is read after the loop."""
    for statement in inside(loop, ast.Assign, ast.AugAssign):
        if not any(map(measures, inside(statement.value, ast.expr))):
            continue
        target = statement.target if isinstance(statement, ast.AugAssign) else statement.targets[0]
        scope = file.function(loop) or file.tree
        for node in uses_of(scope, last_name(target)):
            if node.lineno > (loop.end_lineno or loop.lineno):
                yield file, node


def _over_parameters(node: ast.expr) -> bool:
    return any(name in ("parameters", "named_parameters") for name in names_in(node))


def measures(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return last_name(node.func) in _SIZES
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow)


def penalty_factors(case: Case) -> Iterator[tuple[File, ast.expr]]:
    """The number or name beside the penalty: `L1` of `fit + L1 * penalty`; also inside the sum itself."""
    for file, penalty in penalties(case):
        for part in inside(penalty, ast.BinOp):
            if isinstance(part.op, ast.Mult):
                for factor, other in ((part.left, part.right), (part.right, part.left)):
                    if _is_plain(factor) and any(map(measures, inside(other, ast.expr))):
                        yield file, factor
        for use in uses(case.code, file, penalty):
            if isinstance(use.user, ast.BinOp) and isinstance(use.user.op, ast.Mult):
                factor = use.user.left if use.user.right is use.value else use.user.right
                if _is_plain(factor):
                    yield use.file, factor


def _is_plain(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant | ast.Name | ast.Attribute | ast.Subscript)


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
        own = [value for value in values if node.id not in variables_in(value)]
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


def _is_loss(node: ast.AST) -> bool:
    """A loss of the data stands in the same expression."""
    return isinstance(node, ast.Call) and last_name(node.func).endswith(("entropy", "mse_loss", "nll_loss"))
