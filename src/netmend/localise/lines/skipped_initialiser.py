"""An initialiser in the user's source that is meant for one parameter, and whether it is one of several ways to choose from."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from netmend.localise.lines.init_lines import RANDOM
from netmend.program.text.queries import attributes_in, calls_of, holds, inside, last_name, site_of
from netmend.program.text.sources import Sources
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


@dataclass(frozen=True)
class Held:
    """A parameter: what it is called, and the module that holds it."""

    attribute: str
    kind: str = ""  # class of the module
    module: str = ""  # "model.mixer"


def initialiser_of(sources: Sources, script: str, held: Held) -> Initialiser | None:
    """The first line of the program that writes values other than a constant into this module's parameter."""
    for file in sources.files(script):
        for node in sources.nodes(file, ast.stmt):
            owner = _written(node, held.attribute)
            if owner is not None and _is_meant(sources, file, node, owner, held):
                return _found(sources, file, node, held.attribute)
    return None


def _is_meant(sources: Sources, file: str, node: ast.stmt, owner: ast.expr, held: Held) -> bool:
    """Whether the owner of `owner.attribute` can be the module: by class for `self`, by name for `self.mixer`, by its guard for `m`."""
    around = [part for part in sources.nodes(file) if part is not node and _contains(part, node)]
    if isinstance(owner, ast.Name) and owner.id == "self":
        classes = [part.name for part in around if isinstance(part, ast.ClassDef)]
        return not classes or not held.kind or classes[-1] == held.kind
    if not isinstance(owner, ast.Name):
        parts = {part.attr for part in inside(owner, ast.Attribute)}
        return not parts or not held.module or not parts.isdisjoint(held.module.split("."))
    guards = [part.test for part in around if isinstance(part, ast.If)]
    asked = [kind for test in guards for kind in _classes_asked(test, owner.id)]
    if asked and held.kind:
        return held.kind in asked
    # Every layer of the framework has a weight: without a guard the name does not say whose.
    return held.attribute not in ("weight", "bias")


def _contains(part: ast.AST, node: ast.stmt) -> bool:
    first, last = getattr(part, "lineno", None), getattr(part, "end_lineno", None)
    return first is not None and last is not None and first <= node.lineno and (node.end_lineno or 0) <= last


def _classes_asked(test: ast.expr, name: str) -> list[str]:
    """`Linear`, `Conv2d` of `isinstance(name, (nn.Linear, nn.Conv2d))` in a condition."""
    found = []
    for call in calls_of(test, "isinstance"):
        if len(call.args) == 2 and isinstance(call.args[0], ast.Name) and call.args[0].id == name:
            kinds = call.args[1].elts if isinstance(call.args[1], ast.Tuple) else [call.args[1]]
            found += [last_name(kind) for kind in kinds]
    return found


def _found(sources: Sources, file: str, node: ast.stmt, attribute: str) -> Initialiser:
    around = [
        branch
        for branch in sources.nodes(file, ast.If)
        if any(holds(statement, node) for statement in branch.body)
    ]
    condition = max(around, key=lambda branch: branch.lineno, default=None)
    chosen = condition is not None and any(attribute in attributes_in(other) for other in condition.orelse)
    place = None if condition is None else site_of(file, condition.test)
    return Initialiser(site_of(file, node), place, chosen)


def _written(node: ast.stmt, attribute: str) -> ast.expr | None:
    """`m` of `nn.init.normal_(m.attribute)`, `m.attribute.copy_(…)`, `m.attribute.data = …`; not for a mean of old and new values."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        call = node.value
        if last_name(call.func) not in _WRITING or not isinstance(call.func, ast.Attribute):
            return None
        owner = _owner(call.func.value, attribute)
        values: list[ast.expr] = [*call.args, *(keyword.value for keyword in call.keywords)]
        if owner is None and call.args:
            owner, values = _owner(call.args[0], attribute), call.args[1:]
        drawn = last_name(call.func) in RANDOM
        old = any(_mentions(value, attribute) or (not drawn and _constant(value)) for value in values)
        return None if old else owner
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
        if isinstance(target, ast.Subscript):
            target = target.value
        elif not (isinstance(target, ast.Attribute) and target.attr == "data"):
            return None
        old = _mentions(node.value, attribute) or _constant(node.value)
        return None if old else _owner(target, attribute)
    return None


def _owner(node: ast.expr, attribute: str) -> ast.expr | None:
    """`m` of `m.attribute` or `m.attribute.data`."""
    if isinstance(node, ast.Attribute) and node.attr == "data":
        node = node.value
    return node.value if isinstance(node, ast.Attribute) and node.attr == attribute else None


def _mentions(node: ast.AST, attribute: str) -> bool:
    return any(part.attr == attribute for part in inside(node, ast.Attribute))


def _constant(node: ast.expr) -> bool:
    return (isinstance(node, ast.Call) and last_name(node.func) in _CONSTANTS) or isinstance(
        node, ast.Constant
    )
