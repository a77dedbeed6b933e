"""An initialiser in the user's source that is meant for one parameter, and whether it is one of several ways to choose from."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from netmend.localise.init_lines import RANDOM
from netmend.localise.source import Sources, last_name, site_of
from netmend.vocabulary import Site

_WRITING = (*RANDOM, "copy_")
_CONSTANTS = ("zeros", "ones", "full", "zeros_like", "ones_like", "full_like", "empty", "empty_like")
Branch = ast.If | ast.IfExp


@dataclass(frozen=True)
class Initialiser:
    """A line that would give a parameter its start."""

    site: Site
    condition: Site | None = None  # the `if` that it stands under
    chosen: bool = False  # another branch of that `if` deals with the same parameter


def initialiser_of(sources: Sources, script: str, attribute: str) -> Initialiser | None:
    """The first line of the program that writes values other than a constant into `….attribute`."""
    for file in sources.files(script):
        for node in sources.nodes(file):
            if isinstance(node, ast.stmt) and _writes(node, attribute):
                return _found(sources, file, node, attribute)
    return None


def _found(sources: Sources, file: str, node: ast.stmt, attribute: str) -> Initialiser:
    around = [
        branch
        for branch in sources.nodes(file)
        if isinstance(branch, ast.If)
        and any(part is node for inside in branch.body for part in ast.walk(inside))
    ]
    condition = max(around, key=lambda branch: branch.lineno, default=None)
    chosen = condition is not None and any(
        isinstance(part, ast.Attribute) and part.attr == attribute
        for other in condition.orelse
        for part in ast.walk(other)
    )
    place = None if condition is None else site_of(file, condition.test)
    return Initialiser(site_of(file, node), place, chosen)


def _writes(node: ast.stmt, attribute: str) -> bool:
    """`nn.init.normal_(m.attribute)`, `m.attribute.copy_(…)`, `m.attribute.data = …`; not a mean of old and new values."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        call = node.value
        if last_name(call.func) not in _WRITING or not isinstance(call.func, ast.Attribute):
            return False
        if _is(call.func.value, attribute):
            values: list[ast.expr] = [*call.args, *(keyword.value for keyword in call.keywords)]
        elif call.args and _is(call.args[0], attribute):
            values = call.args[1:]
        else:
            return False
        drawn = last_name(call.func) in RANDOM
        return not any(_mentions(value, attribute) or (not drawn and _constant(value)) for value in values)
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
        inside = isinstance(target, ast.Attribute) and target.attr == "data" and _is(target, attribute)
        inside = inside or (isinstance(target, ast.Subscript) and _is(target.value, attribute))
        return inside and not _mentions(node.value, attribute) and not _constant(node.value)
    return False


def _is(node: ast.expr, attribute: str) -> bool:
    """`m.attribute` or `m.attribute.data`."""
    if isinstance(node, ast.Attribute) and node.attr == "data":
        node = node.value
    return isinstance(node, ast.Attribute) and node.attr == attribute


def _mentions(node: ast.AST, attribute: str) -> bool:
    return any(isinstance(part, ast.Attribute) and part.attr == attribute for part in ast.walk(node))


def _constant(node: ast.expr) -> bool:
    return (isinstance(node, ast.Call) and last_name(node.func) in _CONSTANTS) or isinstance(
        node, ast.Constant
    )
