"""Penalties on the weights in the source: where their size is measured, and the number it is multiplied with."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.changes.case import Case
from netmend.localise.lines.follow import value_origin
from netmend.program.source.dataflow import uses
from netmend.program.text.file import File
from netmend.program.text.queries import inside, last_name, names_in, uses_of

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


def value_of(case: Case, file: File, node: ast.expr) -> float | None:
    """The number that an expression stands for, where it is written down."""
    if isinstance(node, ast.Constant):
        return float(node.value) if isinstance(node.value, int | float) else None
    site = value_origin(case.sources, file.file, node)
    lines = case.sources.lines(site.file)
    if site.column is None or site.line > len(lines) or site.end_line != site.line:
        return None
    text = lines[site.line - 1].encode()[site.column : site.end_column].decode(errors="replace")
    if not site.file.endswith(".py"):
        text = text.rpartition(":" if ":" in text else "=")[2].strip(" ,\"'")
    try:
        return float(ast.literal_eval(text))
    except (ValueError, SyntaxError, TypeError):
        return None
