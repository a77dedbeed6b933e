"""Where weights are initialised in the user's source, and which initialiser was passed by."""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass

from netmend.program.text.queries import attributes_in, calls_of, holds, inside, last_name, site_of
from netmend.program.text.sources import Sources
from netmend.vocabulary import Site

CONSTANT = ("zeros_", "ones_", "constant_", "fill_", "zero_")
RANDOM = (
    "normal_",
    "uniform_",
    "trunc_normal_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "orthogonal_",
)
SCALING = ("mul_", "div_", "copy_")


def init_line(
    sources: Sources,
    near: Site | None,
    part: str,
    names: tuple[str, ...],
    value: float | None = None,
    layer: str = "",
) -> Site | None:
    """The call that most likely gave a `weight` or `bias` its start: by what it writes to, by the number it writes, by the layer it names."""
    if near is None:
        return None
    own = layer.rpartition(".")[2]
    best: tuple[float, Site] | None = None
    for file in sources.files(near.file):
        for node in sources.nodes(file):
            site, score = None, 0.0
            if isinstance(node, ast.Call) and last_name(node.func) in names:
                site, score = site_of(file, node), _score(node, part, value)
            elif isinstance(node, ast.Assign | ast.AugAssign):
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                text = ast.unparse(target)
                if text.endswith((".data", f".{part}", f".{part}.data")) and part in text:
                    site, score = site_of(file, node), 1.5 + _matching(node.value, value)
            if site is not None and score > 0:
                score += _names_layer(node, own)
            if site is not None and score > 0 and (best is None or score > best[0]):
                best = (score, site)
    return None if best is None else best[1]


def _names_layer(node: ast.AST, own: str) -> float:
    """`….fc1.weight` names the layer fc1, `model[0].weight` the layer 0; naming another one speaks against a line."""
    named: set[str] = set()
    for part in inside(node, ast.Attribute):
        if part.attr in ("weight", "bias"):
            holder = part.value
            if isinstance(holder, ast.Attribute):
                named.add(holder.attr)
            elif isinstance(holder, ast.Subscript) and isinstance(holder.slice, ast.Constant):
                named.add(str(holder.slice.value))
    if not own or not named:
        return 0.0
    return 0.7 if own in named else -0.3


def _score(call: ast.Call, part: str, value: float | None) -> float:
    """Above 0 if the call can write to such a part; higher where it names it and where the number fits."""
    target = _target(call)
    if target is None:
        return 0.0
    text = ast.unparse(target)
    other = "bias" if part == "weight" else "weight"
    if other in text and part not in text:
        return 0.0
    is_parameter = part in text or text.endswith(".data") or isinstance(target, ast.Name)
    if not is_parameter:
        return 0.0
    fits = max(
        (_matching(argument, value) for argument in [*call.args, *(k.value for k in call.keywords)]),
        default=0.0,
    )
    if value == 0.0 and last_name(call.func) in ("zeros_", "zero_"):
        fits = 1.0
    return (2.0 if part in text else 1.0) + fits


def _target(call: ast.Call) -> ast.expr | None:
    """`nn.init.zeros_(layer.weight)` or `layer.weight.data.zero_()`."""
    function = call.func
    if isinstance(function, ast.Attribute) and not _is_init_module(function.value):
        return function.value
    return call.args[0] if call.args else None


def _is_init_module(node: ast.expr) -> bool:
    return last_name(node) in ("init", "I", "weight_init") or (
        isinstance(node, ast.Attribute) and node.attr == "init"
    )


def _matching(node: ast.AST, value: float | None) -> float:
    if value is None:
        return 0.0
    for part in ast.walk(node):
        number = _number(part)
        if number is not None and math.isclose(number, value, rel_tol=0.05, abs_tol=1e-12):
            return 1.0
    return 0.0


def _number(node: ast.AST) -> float | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _number(node.operand)
        return None if inner is None else -inner
    if (
        isinstance(node, ast.Constant)
        and isinstance(node.value, int | float)
        and not isinstance(node.value, bool)
    ):
        return float(node.value)
    return None


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
