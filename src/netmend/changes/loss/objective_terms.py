"""Terms of an objective, with the sign that each has and the one that it should have."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.changes.case import Case
from netmend.library.losses import NEVER_NEGATIVE
from netmend.library.operations import HINGES, SHAPES
from netmend.program.source.dataflow import bound
from netmend.program.source.naming import qualified
from netmend.program.source.writing import replace, united
from netmend.program.text.file import File
from netmend.program.text.queries import Function, inside, last_name, variables_in
from netmend.program.text.sources import Code
from netmend.vocabulary.change import FileEdits

_MOST_DEPTH = 24
# Functions that keep the sign of what they are given.
KEEPING = ("mean", "sum", *SHAPES, "nanmean", "to", "float", "item", "div", "backward", "unscale")


@dataclass(frozen=True)
class Term:
    """One summand of the objective and the sign with which it counts."""

    file: File
    node: ast.expr
    sign: int
    # The unary minus signs and the right sides of + and - that it stands in, outermost first: turning one turns the term.
    path: tuple[tuple[File, ast.UnaryOp | ast.BinOp], ...] = ()


def objective(case: Case) -> tuple[File, ast.expr] | None:
    """The expression on which backward() is called."""
    site = next((loss.backward for loss in case.trace.losses if loss.backward is not None), None)
    found = case.code.call_at(site)
    if found is None:
        return None
    file, call = found
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "backward":
        return None
    value = call.func.value
    if isinstance(value, ast.Call) and last_name(value.func) == "scale" and value.args:  # of a GradScaler
        value = value.args[0]
    return (
        (file, call.args[0])
        if qualified(file, call.func).startswith("torch") and call.args
        else (file, value)
    )


def terms(case: Case) -> list[Term]:
    start = objective(case)
    return [] if start is None else list(_terms(case.code, *start, 1, 0))


def _within(found: Iterator[Term], file: File, node: ast.UnaryOp | ast.BinOp) -> Iterator[Term]:
    for term in found:
        yield Term(term.file, term.node, term.sign, ((file, node), *term.path))


def _terms(code: Code, file: File, node: ast.expr, sign: int, depth: int) -> Iterator[Term]:
    if depth > _MOST_DEPTH:
        return
    deeper = depth + 1
    if isinstance(node, ast.Name | ast.Attribute):
        found = bound(file, node) if isinstance(node, ast.Name) else None
        if found is None or _contains(found[1], node):
            yield Term(file, node, sign)
        else:
            yield from _terms(code, file, found[1], sign, deeper)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield from _within(_terms(code, file, node.operand, -sign, deeper), file, node)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        yield from _terms(code, file, node.left, sign, deeper)
        other = -sign if isinstance(node.op, ast.Sub) else sign
        yield from _within(_terms(code, file, node.right, other, deeper), file, node)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div):
        yield from _product(code, file, node, sign, deeper)
    elif isinstance(node, ast.Call):
        yield from _call(code, file, node, sign, deeper)
    else:
        yield Term(file, node, sign)


def _product(code: Code, file: File, node: ast.BinOp, sign: int, depth: int) -> Iterator[Term]:
    """A sum or a value times a plain number is followed; anything else is one term."""
    for factor, other in ((node.left, node.right), (node.right, node.left)):
        number = _number(file, factor)
        if number is not None and (other is node.left or isinstance(node.op, ast.Mult)):
            yield from _terms(code, file, other, sign if number >= 0 else -sign, depth)
            return
    inner = node.left if _is_sum(node.left) else node.right if _is_sum(node.right) else None
    if inner is not None and isinstance(node.op, ast.Div) and inner is node.left:
        yield from _terms(code, file, inner, sign, depth)
        return
    yield Term(file, node, sign)


def _call(code: Code, file: File, call: ast.Call, sign: int, depth: int) -> Iterator[Term]:
    name = last_name(call.func)
    if name in KEEPING:
        given = given_to(file, call)
        if given is not None:
            yield from _terms(code, file, given, sign, depth)
            return
    returned = list(results(code, file, call))
    if not returned:
        yield Term(file, call, sign)
    for other, value in returned:
        yield from _terms(code, other, value, sign, depth)


def results(code: Code, file: File, call: ast.Call) -> Iterator[tuple[File, ast.expr]]:
    """What a function or a loss module of the program returns."""
    name = last_name(call.func)
    if not name or qualified(file, call.func).startswith("torch"):
        return
    for other in code.files(file.file):
        for node in inside(other.tree, ast.FunctionDef, ast.AsyncFunctionDef):
            if node.name == name:
                yield from ((other, value) for value in _returned(node))
                return
    for other in code.files(file.file):  # a lambda, or an object of a class of the program
        for assigned in inside(other.tree, ast.Assign):
            if name in map(last_name, assigned.targets):
                made = assigned.value
                if isinstance(made, ast.Lambda):
                    yield other, made.body
                    return
                found = (
                    code.definition(last_name(made.func), ast.ClassDef)
                    if isinstance(made, ast.Call)
                    else None
                )
                if found is not None and isinstance(found[1], ast.ClassDef):
                    for method in found[1].body:
                        if isinstance(method, Function) and method.name in ("forward", "__call__"):
                            yield from ((found[0], value) for value in _returned(method))
                    return


def _returned(function: Function) -> list[ast.expr]:
    return [node.value for node in inside(function, ast.Return) if node.value is not None]


def given_to(file: File, call: ast.Call) -> ast.expr | None:
    """What a function or method works on."""
    if isinstance(call.func, ast.Attribute) and not qualified(file, call.func):
        return call.func.value
    return call.args[0] if call.args else None


def _contains(node: ast.expr, name: ast.expr) -> bool:
    return any(part.id == last_name(name) for part in inside(node, ast.Name))


def _is_sum(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub)


def _number(file: File, node: ast.expr) -> float | None:
    """The value of a number, also of a named one."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _number(file, node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value)
    if isinstance(node, ast.Name):
        found = bound(file, node)
        if found is not None and isinstance(found[1], ast.Constant | ast.UnaryOp):
            return _number(file, found[1])
    return None


def hinge(file: File, node: ast.expr) -> ast.expr | None:
    """The expression that is cut off at zero: `1 - score * target` of `clamp(1 - score * target, min=0)`."""
    if not isinstance(node, ast.Call) or last_name(node.func) not in HINGES:
        return None
    given = given_to(file, node)
    return given if given is not None and _is_sum(given) else None


def all_turned(wrong: list[Term], right: list[Term]) -> FileEdits:
    """The wrong terms turned: at the outermost sign that no right term shares, else each at its own place."""
    edits: list[FileEdits] = []
    waiting = list(wrong)
    while waiting:
        term = waiting[0]
        shared = [
            (file, node)
            for file, node in term.path
            if not any(node is other for kept in right for _, other in kept.path)
        ]
        if shared:
            file, node = shared[0]
            edits.append(_sign_turned(file, node))
            waiting = [other for other in waiting if not any(node is seen for _, seen in other.path)]
        else:
            edits.append(turned(term.file, term.node))
            waiting = waiting[1:]
    return united(edits)


def turned(file: File, node: ast.expr) -> FileEdits:
    """The sign of a summand turned at its own operator, or by a minus before it."""
    holder = file.parent(node)
    if isinstance(holder, ast.UnaryOp) and isinstance(holder.op, ast.USub):
        return _sign_turned(file, holder)
    if isinstance(holder, ast.BinOp) and holder.right is node and isinstance(holder.op, ast.Add | ast.Sub):
        return _sign_turned(file, holder)
    text = file.source(node)
    simple = isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript) or (
        isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div | ast.Pow)
    )
    return replace(file, node, f"-{text}" if simple else f"-({text})")


def _sign_turned(file: File, node: ast.UnaryOp | ast.BinOp) -> FileEdits:
    """A unary minus taken away; + for - and - for + between two summands."""
    if isinstance(node, ast.UnaryOp):
        bare = isinstance(node.operand, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
        text = file.source(node.operand)
        return replace(file, node, text if bare else f"({text})")
    start = file.span(node.left)[1]
    between = file.text[start : file.span(node.right)[0]]
    old = "+" if isinstance(node.op, ast.Add) else "-"
    at = between.find(old)
    if at < 0 or "#" in between:
        return ()
    return file.edit(start + at, start + at + 1, "-" if old == "+" else "+")


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
        names = variables_in(node) - {"torch", "F", "math", "np"}
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
