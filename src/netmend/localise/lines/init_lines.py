"""Where weights are initialised in the user's source: calls of `nn.init` functions and in-place writes to parameters."""

from __future__ import annotations

import ast
import math

from netmend.program.text.queries import inside, last_name, site_of
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
_MOST_FILES = 30
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
    for file in _own_files(sources, near.file):
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


def _own_files(sources: Sources, file: str) -> list[str]:
    """A file and those of its project that it imports; other programs may lie in the same folder."""
    found = [file]
    for known in found:
        folder = sources.path(known).parent
        for node in sources.nodes(known):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                path = folder / (name.replace(".", "/") + ".py")
                if name and path.is_file() and str(path) not in found and len(found) < _MOST_FILES:
                    found.append(str(path))
    return found


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
