"""The best value so far: where a program compares with it, where it starts, and whether what is compared adds up losses."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from netmend.library.operations import OFF_DEVICE, SUMMARIES
from netmend.program.engine.history import Branch
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Call,
    Collection,
    Const,
    Either,
    Operation,
    Unknown,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.loops import call_events
from netmend.program.meaning.losses import loss_use
from netmend.program.meaning.operations import behind
from netmend.program.text.queries import Function

_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
BEST = frozenset(("best", "min", "lowest", "smallest", "max", "highest", "largest"))


def best_comparisons(program: Program) -> Iterator[tuple[ast.If, ast.Compare]]:
    """Where something is compared with what is called the best so far."""
    for branch in (node for node in program.nodes if isinstance(node, ast.If)):
        for compare in comparisons(branch.test):
            if any(words_of(kept_name(side)) & BEST for side in (compare.left, compare.comparators[0])):
                yield branch, compare


def scopes_of(program: Program, branch: ast.If) -> Iterator[ast.AST]:
    """What a branch may find its variables in: its function or module, and the classes around it."""
    around = [
        node for node in program.above(branch) if isinstance(node, ast.Module | Function | ast.ClassDef)
    ]
    return (node for node in around if node is around[0] or isinstance(node, ast.ClassDef))


def comparisons(test: ast.expr) -> Iterator[ast.Compare]:
    """`a < b` and `a > b` that must hold for a test to hold."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for part in test.values:
            yield from comparisons(part)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Lt | ast.Gt):
        yield test


def kept_name(best: ast.expr) -> ast.expr:
    """`best` of `best - delta`."""
    return best.left if isinstance(best, ast.BinOp) and isinstance(best.op, ast.Sub | ast.Add) else best


def start_of(
    program: Program, scope: ast.AST, nodes: list[ast.AST], branch: ast.If, best: ast.expr, now: ast.expr
) -> ast.expr | None:
    """What the best value starts as, if nothing but the branch changes it, to the value that was compared."""
    best, in_class = kept_name(best), isinstance(scope, ast.ClassDef)
    if in_class != (isinstance(best, ast.Attribute) and ast.unparse(best.value) == "self"):
        return None
    if not isinstance(best, ast.Name | ast.Attribute) or not words_of(best) & BEST:
        return None
    name = best.attr if isinstance(best, ast.Attribute) else best.id
    if any(isinstance(node, ast.Global | ast.Nonlocal) and name in node.names for node in program.nodes):
        return None
    stores = [
        node
        for node in (program.nodes if in_class else nodes)
        if isinstance(node, type(best))
        and not isinstance(node.ctx, ast.Load)
        and name == (node.attr if isinstance(node, ast.Attribute) else node.id)
    ]
    if len(stores) != 2:
        return None
    values = {id(target): value for node in nodes for target, value in assigned_pairs(node)}
    body = [node for part in branch.body for node in ast.walk(part)]
    inside = [store for store in stores if store in body]
    first = [store for store in stores if store not in inside]
    if len(inside) != 1 or not isinstance(now, ast.Name | ast.Attribute | ast.Subscript | ast.Call):
        return None
    changed, start = values.get(id(inside[0])), values.get(id(first[0]))
    if changed is None or ast.unparse(changed) != ast.unparse(now) or start is None:
        return None
    above = list(program.above(branch))
    if in_class:
        made = next((node for node in program.above(first[0]) if isinstance(node, ast.FunctionDef)), None)
        return start if made is not None and made.name == "__init__" and made not in above else None
    loops = [node for node in above[: above.index(scope)] if isinstance(node, ast.For | ast.While)]
    is_outside = any(first[0] not in ast.walk(loop) for loop in loops) and first[0].lineno < branch.lineno
    return start if is_outside else None


def assigned_pairs(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The targets of an assignment, each with what is written for it."""
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        yield node.target, node.value
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                yield from zip(target.elts, node.value.elts, strict=False)
            else:
                yield target, node.value


def words_of(node: ast.AST) -> set[str]:
    """The words that names in an expression are made of."""
    found: set[str] = set()
    for part in ast.walk(node):
        name = getattr(part, "id", None) or getattr(part, "attr", None) or getattr(part, "value", None)
        words = _PART.findall(name) if isinstance(name, str) else ()
        found.update("loss" if word.lower().endswith("loss") else word.lower() for word in words)
    return found


_NEVER_NEGATIVE = ("cross_entropy", "bce", "bce_logits", "mse", "l1", "smooth_l1", "huber", "multi_margin")
_AS_IT_IS = (*OFF_DEVICE, *SUMMARIES, "float", "double")
_MEANS = ("float", "sum", "numpy.mean", "statistics.mean", "torch.stack", "torch.tensor", "torch.mean")


def values_compared(program: Program, branch: ast.If, compare: ast.Compare, now: ast.expr) -> Iterator[Value]:
    """What the compared expression stands for, each time the branch is reached."""
    for part in program.parts:
        if isinstance(part, Branch) and part.node is branch and isinstance(part.test, Operation):
            for test in (part.test, *part.test.operands):
                if isinstance(test, Operation) and test.node is compare and len(test.operands) == 2:
                    yield test.operands[0 if now is compare.left else 1]


def is_negated(value: Value) -> bool:
    value = behind(value, _number_of)
    return isinstance(value, Operation) and value.operator in ("neg", "-")


def _number_of(value: Value) -> Value | None:
    """`x` of `x.item()` and `x / n`."""
    if isinstance(value, Call) and value.method in _AS_IT_IS:
        return value.receiver
    return value.operands[0] if isinstance(value, Operation) and value.operator == "/" else None


def adds_losses(program: Program, value: Value, depth: int = 12) -> bool | None:
    """Is a value a sum or mean of losses that are never negative? None for zeros that a sum starts with."""
    event = call_events(program).get(id(value))
    use = loss_use(event) if event is not None else None
    if use is not None:
        return use.kind in _NEVER_NEGATIVE
    value = resolved(value)
    parts: list[Value] = []
    if depth == 0:
        return False
    if isinstance(value, Const):
        return None if constant(value) == 0 else False
    if isinstance(value, Unknown):
        return None if isinstance(value.node, ast.For | ast.While) else False
    if isinstance(value, Either):
        parts = list(value.options)
    elif isinstance(value, Collection):
        parts = value.items
    elif isinstance(value, Operation) and value.operator == "+":
        parts = list(value.operands)
    elif isinstance(value, Operation) and value.operator in ("/", "*"):
        factors = value.operands if value.operator == "*" else value.operands[:1]
        parts = [part for part in factors if adds_losses(program, part, depth - 1)]
    elif isinstance(value, Call) and value.method in _AS_IT_IS and value.receiver is not None:
        parts = [value.receiver]
    elif isinstance(value, Call) and value.qualified in _MEANS and value.args:
        parts = [value.args[0]]
    found = [adds_losses(program, part, depth - 1) for part in parts]
    return False if False in found or not found else True if True in found else None
