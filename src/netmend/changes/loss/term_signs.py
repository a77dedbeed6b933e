"""Which sign a term of a loss must have: squares and distances are made small, logarithms of probabilities large."""

from __future__ import annotations

import ast

from netmend.changes.loss.objective_terms import Term
from netmend.library.losses import NEVER_NEGATIVE
from netmend.program.text.queries import inside, last_name, variables_in

_DISTANCES = ("abs", "square", "norm", "dist", "cdist", *NEVER_NEGATIVE, "kl_div")
_LIKELIHOODS = ("log", "log_prob", "logsigmoid", "log_softmax", "log2", "log10")


def expected_sign(term: Term, others: list[Term], losses: frozenset[ast.AST] = frozenset()) -> int:
    """1: to be made small, -1: to be made large, 0: not known. `losses` are calls of losses of the library."""
    node = term.node
    if any(factor in losses for factor in _factors(node)):
        return 1
    scale = _scale_of(term, others)
    if scale:
        return scale
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and _is_distance(node.left):
        return 1
    factors = list(_factors(node))
    if any(_is_distance(factor) for factor in factors):
        return 1
    logs = [factor for factor in factors if _is_likelihood(factor)]
    if len(logs) == 1 and len(factors) <= 3 and not _is_entropy(logs[0], factors):
        return -1
    return 0


def _factors(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return [*_factors(node.left), *_factors(node.right)]
    return [node]


def _is_distance(node: ast.expr) -> bool:
    """`(a - b) ** 2`, `abs(a - b)`, a loss of the library."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return isinstance(node.right, ast.Constant) and node.right.value in (2, 4)
    if isinstance(node, ast.Call):
        name = last_name(node.func)
        if name == "pow":
            return any(isinstance(arg, ast.Constant) and arg.value in (2, 4) for arg in node.args)
        return name in _DISTANCES or (name.endswith("Loss") and name[:1].isupper())
    return (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Mult | ast.Div)
        and any(_is_distance(part) for part in (node.left, node.right))
    )


def _is_likelihood(node: ast.expr) -> bool:
    if isinstance(node, ast.Subscript):
        return _is_likelihood(node.value)
    if (
        isinstance(node, ast.Call)
        and last_name(node.func) in ("gather", "clamp", "squeeze", "view")
        and isinstance(node.func, ast.Attribute)
    ):
        return _is_likelihood(node.func.value)
    if not isinstance(node, ast.Call) or last_name(node.func) not in _LIKELIHOODS:
        return False
    # The logarithm of a number is a constant of the formula.
    return not (
        isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "math"
    )


def _is_entropy(log: ast.expr, factors: list[ast.expr]) -> bool:
    """`p * log(p)`: meant in either direction."""
    logged = variables_in(log)
    return any(
        isinstance(factor, ast.Name) and factor.id in logged for factor in factors if factor is not log
    )


def _scale_of(term: Term, others: list[Term]) -> int:
    """A logarithm of a scale: `v` beside `… / exp(v)` counts against its growth, beside a bare `exp(v)` for it."""
    node = term.node
    if isinstance(node, ast.Name | ast.Attribute):
        for other in others:
            for part in inside(other.node, ast.Call):
                if last_name(part.func) == "exp" and _mentions(part, last_name(node)):
                    return -1 if part is other.node else 1
        return 0
    if isinstance(node, ast.Call) and last_name(node.func) == "exp":
        names = {
            last_name(other.node) for other in others if isinstance(other.node, ast.Name | ast.Attribute)
        }
        return 1 if any(_mentions(node, name) for name in names if name) else 0
    if _is_likelihood(node) and isinstance(node, ast.Call):  # log(sigma) beside … / sigma
        names = variables_in(node) - {
            "torch",
            "F",
            "math",
            "np",
        }
        for other in others:
            divisor = (
                other.node.right
                if isinstance(other.node, ast.BinOp) and isinstance(other.node.op, ast.Div)
                else None
            )
            if divisor is not None and any(_mentions(divisor, name) for name in names):
                return 1
    return 0


def _mentions(node: ast.AST, name: str) -> bool:
    return any(last_name(part) == name for part in inside(node, ast.Name, ast.Attribute))
