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


def initialiser_of(sources: Sources, script: str, parameter: str, kind: str = "") -> Initialiser | None:
    """The first line of the program that writes values other than a constant into that parameter of a module of class `kind`."""
    *owners, attribute = parameter.split(".")
    files = sources.files(script)
    classes = _classes(sources, files, kind)
    for file in files:
        for node in sources.nodes(file):
            if isinstance(node, ast.stmt) and _writes(node, attribute):
                if _for_others(sources, file, node, owners, classes):
                    continue
                return _found(sources, file, node, attribute)
    return None


def _classes(sources: Sources, files: list[str], kind: str) -> set[str]:
    """The class and what it is derived from, as far as the program's files tell; empty when it is not known."""
    bases = {
        node.name: [last_name(base) for base in node.bases]
        for file in files
        for node in sources.nodes(file)
        if isinstance(node, ast.ClassDef)
    }
    found: set[str] = set()
    waiting = [kind] if kind in bases else []
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += bases.get(name, [])
    return found


def _for_others(sources: Sources, file: str, node: ast.stmt, owners: list[str], classes: set[str]) -> bool:
    """Whether the line is written for modules of another class, or for another part of the model."""
    for branch in sources.nodes(file):
        if not classes or not isinstance(branch, ast.If | ast.ClassDef):
            continue
        if not any(part is node for inside in branch.body for part in ast.walk(inside)):
            continue
        if isinstance(branch, ast.If) and (asked := _asked(branch.test)) and not asked & classes:
            return True
        if isinstance(branch, ast.ClassDef) and _of_self(node) and branch.name not in classes:
            return True
    part = _part_of_self(node)
    return bool(part and owners and part not in owners)


def _asked(test: ast.expr) -> set[str]:
    """Names of the classes in `isinstance(m, …)`."""
    if not isinstance(test, ast.Call) or last_name(test.func) != "isinstance" or len(test.args) != 2:
        return set()
    given = test.args[1]
    return {last_name(item) for item in (given.elts if isinstance(given, ast.Tuple) else [given])}


def _of_self(node: ast.stmt) -> bool:
    """`self.attribute`, not that of one of its parts or of a module in a loop."""
    return any(
        isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id == "self"
        for part in _written_to(node)
    )


def _part_of_self(node: ast.stmt) -> str:
    """`fc` of `self.fc.attribute`."""
    for part in _written_to(node):
        holder = part.value
        if (
            isinstance(holder, ast.Attribute)
            and isinstance(holder.value, ast.Name)
            and holder.value.id == "self"
        ):
            return holder.attr
    return ""


def _written_to(node: ast.stmt) -> list[ast.Attribute]:
    """The parameter that the line writes into, `.data` left out."""
    places: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        places = [target.value if isinstance(target, ast.Subscript) else target for target in node.targets]
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        call = node.value
        places = [*call.args[:1]]
        if isinstance(call.func, ast.Attribute):
            places.append(call.func.value)
    found = [place for place in places if isinstance(place, ast.Attribute)]
    return [
        place.value if place.attr == "data" and isinstance(place.value, ast.Attribute) else place
        for place in found
        if not (isinstance(place.value, ast.Name) and place.value.id == "nn")
    ]


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
