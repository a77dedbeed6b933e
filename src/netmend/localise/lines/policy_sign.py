"""A policy's loss in the source: a log-likelihood times what it brought, without the minus that makes the optimiser raise it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from netmend.localise.lines.acting_source import assigned
from netmend.localise.lines.bootstrap_source import scopes
from netmend.program.text.queries import Function, children, inside, last_name, names_in, own_nodes, site_of
from netmend.program.text.sources import Sources
from netmend.vocabulary import Site

# Factors of a log-likelihood that are no reward: temperatures, costs, switches.
_OTHER = re.compile("alpha|temp|ent|coef|beta|cost|loss|penal|neg|mask", re.IGNORECASE)
_LIKELIHOODS = ("log_prob", "logp", "log_probs")


def lowered_likelihood(sources: Sources, file: str) -> Site | None:
    """`(logp * weights).mean()`, where neither the product nor what it is kept or returned as is turned."""
    tree = sources.tree(file)
    if tree is None:
        return None
    turned = {name for node in inside(tree, ast.UnaryOp, ast.BinOp) for name in _turned(node)}
    for scope in scopes(tree):
        for statement in own_nodes(scope):
            if not isinstance(statement, ast.Assign | ast.Return):
                continue
            kept = {last_name(target) for target in getattr(statement, "targets", ())}
            if isinstance(statement, ast.Return) and isinstance(scope, Function):
                kept = {scope.name}
            if kept & turned or statement.value is None:
                continue
            product = next(_products(scope, statement.value), None)
            if product is not None:
                return site_of(file, product)
    return None


def _turned(node: ast.AST) -> Iterator[str]:
    """Names that stand behind a minus somewhere."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield from names_in(node.operand)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        yield from names_in(node.right)


def _products(scope: ast.AST, node: ast.AST) -> Iterator[ast.BinOp]:
    """Products of a likelihood and a plain value, on the way to which no sign changes."""
    if isinstance(node, ast.UnaryOp):
        return
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        yield from _products(scope, node.left)
        return
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        for chance, gain in ((node.left, node.right), (node.right, node.left)):
            if _is_likelihood(scope, chance) and _is_plain(scope, gain):
                yield node
        return
    for child in children(node):
        yield from _products(scope, child)


def _is_likelihood(scope: ast.AST, node: ast.expr, hops: int = 2) -> bool:
    if isinstance(node, ast.Call):
        return last_name(node.func) == "log_prob"
    if not isinstance(node, ast.Name):
        return False
    values = list(assigned(scope, node.id))
    made = hops > 0 and any(_is_likelihood(scope, value, hops - 1) for value in values)
    return made or (not values and node.id in _LIKELIHOODS)


def _is_plain(scope: ast.AST, node: ast.expr) -> bool:
    """A name that is no temperature or cost, and was not made with a minus."""
    if not isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
        return False
    name = last_name(node.value if isinstance(node, ast.Subscript) else node)
    if not name or _OTHER.search(name):
        return False
    return not any(part for value in assigned(scope, name) for part in inside(value, ast.USub))
