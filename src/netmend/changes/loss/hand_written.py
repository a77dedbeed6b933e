"""Losses that are written by hand: found from backward() on, told apart by their form, with their two sides."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.changes.case import Case
from netmend.changes.loss.objective_terms import KEEPING, given_to, objective, results
from netmend.program.source.dataflow import bound
from netmend.program.text.file import File
from netmend.program.text.queries import inside, last_name, variables_in
from netmend.program.text.sources import Code

CLASSES, YES_NO, SQUARED, ABSOLUTE, PICKED = "classes", "yes/no", "squared", "absolute", "picked"
_MOST_DEPTH = 24
_CUTTING = ("clamp", "clip", "clamp_min", "clamp_max")
_NORMALISING = ("softmax", "log_softmax")
_COUNTING = ("len", "size", "numel")


@dataclass(frozen=True)
class HandWritten:
    """`-(t * torch.log(p + 1e-7)).sum(1).mean()`: the whole expression, what it is, its prediction and its target."""

    kind: str
    file: File
    whole: ast.expr
    prediction: ast.expr
    target: ast.expr
    calls: tuple[tuple[File, ast.Call], ...] = ()  # of the functions that it stands in, the innermost last
    raw: bool = False  # softmax or its logarithm is a part of the expression


def hand_written(case: Case) -> HandWritten | None:
    """The first term of the objective that is a loss written by hand."""
    start = objective(case)
    return None if start is None else next(_found(case.code, *start, start[1], (), 0), None)


def _found(
    code: Code,
    file: File,
    node: ast.expr,
    whole: ast.expr,
    calls: tuple[tuple[File, ast.Call], ...],
    depth: int,
) -> Iterator[HandWritten]:
    """Down to where prediction and target meet. `whole` is what has to be replaced."""
    if depth > _MOST_DEPTH:
        return
    match = _matched(file, node)
    if match is not None:
        kind, prediction, target, raw = match
        yield HandWritten(kind, file, whole, prediction, target, calls, raw)
    elif isinstance(node, ast.Name):
        found = bound(file, node)
        if found is not None and node.id not in variables_in(found[1]):
            yield from _found(code, file, found[1], found[1] if whole is node else whole, calls, depth + 1)
        elif found is not None:  # loss = loss + penalty
            for part in (n for n in inside(found[1], ast.Name) if n.id == node.id):
                yield from _found(code, file, part, part, calls, depth + 1)
    elif isinstance(node, ast.UnaryOp):
        yield from _found(code, file, node.operand, whole, calls, depth + 1)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        for side in (node.left, node.right):
            yield from _found(code, file, side, side, calls, depth + 1)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div):
        for side, other in ((node.left, node.right), (node.right, node.left)):
            if _is_count(other) and (side is node.left or isinstance(node.op, ast.Mult)):
                yield from _found(code, file, side, whole, calls, depth + 1)
    elif isinstance(node, ast.Call):
        given = given_to(file, node) if last_name(node.func) in KEEPING else None
        if given is not None:
            yield from _found(code, file, given, whole, calls, depth + 1)
            return
        for place, value in results(code, file, node):
            yield from _found(code, place, value, value, (*calls, (file, node)), depth + 1)


def _matched(file: File, node: ast.expr) -> tuple[str, ast.expr, ast.expr, bool] | None:
    """Kind, prediction, target, and whether the expression normalises the prediction itself."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = [_product(file, side) for side in (_positive(node.left), _positive(node.right))]
        if parts[0] is not None and parts[1] is not None and _is_rest(parts[1][1]):
            return YES_NO, *parts[0]
        if parts[0] is not None and parts[1] is not None and _is_rest(parts[0][1]):
            return YES_NO, *parts[1]
    product = _product(file, node)
    if product is not None:
        return CLASSES, *product
    power = _difference(file, node)
    if power is not None:
        return *power, False
    return _picked(file, node)


def _product(file: File, node: ast.expr) -> tuple[ast.expr, ast.expr, bool] | None:
    """Prediction and target of `t * torch.log(p + eps)`."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return None
    for side, other in ((node.right, node.left), (node.left, node.right)):
        found = _logarithm(file, _positive(side))
        if found is not None and not isinstance(other, ast.Constant):
            return found[0], _positive(other), found[1]
    return None


def _logarithm(file: File, node: ast.expr, most: int = 3) -> tuple[ast.expr, bool] | None:
    """`p` of `torch.log(p.clamp(min=eps))`, and whether a softmax was taken on the way."""
    if isinstance(node, ast.Name) and most:
        found = bound(file, node)
        if found is None or node.id in variables_in(found[1]):
            return None
        return _logarithm(file, found[1], most - 1)
    if not isinstance(node, ast.Call):
        return None
    name, given = last_name(node.func), given_to(file, node)
    if given is None:
        return None
    if name == "log_softmax":
        return given, True
    if name not in ("log", "log2"):
        return None
    inner = without_guard(file, given)
    if isinstance(inner, ast.Call) and last_name(inner.func) in _NORMALISING:
        scores = given_to(file, inner)
        return None if scores is None else (scores, True)
    return inner, False


def without_guard(file: File, node: ast.expr) -> ast.expr:
    """A probability without what keeps it off 0 and 1: `p + 1e-7`, `p.clamp(1e-7, 1)`."""
    while True:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            sides = [side for side in (node.left, node.right) if not _is_small(file, side)]
            if len(sides) != 1:
                return node
            node = sides[0]
        elif isinstance(node, ast.Call) and last_name(node.func) in _CUTTING:
            given = given_to(file, node)
            if given is None:
                return node
            node = given
        else:
            return node


def _difference(file: File, node: ast.expr) -> tuple[str, ast.expr, ast.expr] | None:
    """`(p - t) ** 2`, `(p - t).pow(2)`, `torch.abs(p - t)`."""
    kind, inner = "", None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and ast.unparse(node.right) == "2":
        kind, inner = SQUARED, node.left
    elif isinstance(node, ast.Call) and last_name(node.func) in ("pow", "square", "abs"):
        kind, inner = ABSOLUTE if last_name(node.func) == "abs" else SQUARED, given_to(file, node)
    if isinstance(inner, ast.Name):
        found = bound(file, inner)
        inner = None if found is None else found[1]
    if not isinstance(inner, ast.BinOp) or not isinstance(inner.op, ast.Sub):
        return None
    return kind, inner.left, inner.right


def _picked(file: File, node: ast.expr) -> tuple[str, ast.expr, ast.expr, bool] | None:
    """The value of the right class: `p[torch.arange(n), y]`, `p.gather(1, y.unsqueeze(1))`, also of logarithms."""
    guarded = node
    if isinstance(node, ast.Call) and last_name(node.func) == "log":
        guarded = given_to(file, node) or node
        guarded = without_guard(file, guarded)
    prediction, target = None, None
    if isinstance(guarded, ast.Subscript) and isinstance(guarded.slice, ast.Tuple):
        index = guarded.slice.elts
        counts = isinstance(index[0], ast.Call) and last_name(index[0].func) in ("arange", "range")
        if len(index) == 2 and counts:
            prediction, target = guarded.value, index[1]
    elif isinstance(guarded, ast.Call) and last_name(guarded.func) == "gather":
        given = given_to(file, guarded)
        others = [a for a in guarded.args if a is not given]
        if given is not None and len(others) == 2:
            prediction, target = given, _narrow(others[1])
    if prediction is None or target is None:
        return None
    inner = _logarithm(file, prediction)
    return PICKED, *((inner[0], target, inner[1]) if inner is not None else (prediction, target, False))


def _narrow(node: ast.expr) -> ast.expr:
    """`y` of `y.unsqueeze(1)`, `y.view(-1, 1)`, `y[:, None]`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.value if node.func.attr in ("unsqueeze", "view", "reshape") else node
    return node.value if isinstance(node, ast.Subscript) else node


def _positive(node: ast.expr) -> ast.expr:
    return node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else node


def _is_rest(node: ast.expr) -> bool:
    """`1 - t`."""
    return (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Sub)
        and isinstance(node.left, ast.Constant)
        and node.left.value == 1
    )


def _is_small(file: File, node: ast.expr) -> bool:
    if isinstance(node, ast.Name):
        found = bound(file, node)
        if found is None:
            return node.id.lower() in ("eps", "epsilon")
        node = found[1]
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return 0 <= node.value < 1e-2
    return isinstance(node, ast.Attribute) and node.attr in ("eps", "epsilon", "EPS", "tiny")


def _is_count(node: ast.expr) -> bool:
    """A number, or how many samples there are."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float)
    if isinstance(node, ast.Call):
        return last_name(node.func) in _COUNTING
    return isinstance(node, ast.Subscript) and last_name(node.value) == "shape"
