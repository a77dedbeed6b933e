"""Whether one layer's output goes straight into another, as the source of forward() says."""

from __future__ import annotations

import ast

from netmend.program.text.queries import last_name
from netmend.program.text.sources import Sources
from netmend.vocabulary import ModuleFact, Site, Trace

_PASSING = (
    "view",
    "reshape",
    "flatten",
    "squeeze",
    "unsqueeze",
    "contiguous",
    "dropout",
    "to",
    "float",
    "permute",
    "transpose",
)
_PASSING_KINDS = ("Dropout", "Flatten", "Identity", "BatchNorm")
_MOST_STEPS = 12


def handed_on(sources: Sources, trace: Trace, first: ModuleFact, second: ModuleFact) -> bool:
    """True only if the second layer's argument can be followed back to the first layer's call with nothing but reshaping between."""
    if first.called is None or second.called is None or first.called.file != second.called.file:
        return False
    call = _call_of(sources, second.called, _attribute(second))
    function = sources.function_around(second.called)
    if call is None or function is None or not call.args:
        return False
    kinds = {_attribute(module): module.kind for module in trace.layers() if module.model == first.model}
    return _leads(call.args[0], function, _attribute(first), kinds, call.lineno, 0)


def fed_by(sources: Sources, trace: Trace, site: Site, layer: ModuleFact) -> bool:
    """Whether a functional call at a site takes a layer's output as it is: `torch.softmax(self.fc(x), 1)`, `self.fc(x).softmax(1)`."""
    call, function = sources.call_at(site), sources.function_around(site)
    if call is None or function is None:
        return False
    kinds = {_attribute(module): module.kind for module in trace.layers() if module.model == layer.model}
    given = [*call.args[:1], *([call.func.value] if isinstance(call.func, ast.Attribute) else [])]
    return any(_leads(value, function, _attribute(layer), kinds, call.lineno + 1, 0) for value in given)


def _attribute(module: ModuleFact) -> str:
    return module.name.rpartition(".")[2]


def _call_of(sources: Sources, site: Site, attribute: str) -> ast.Call | None:
    for node in sources.nodes(site.file):
        if (
            isinstance(node, ast.Call)
            and last_name(node.func) == attribute
            and node.lineno <= site.line <= (node.end_lineno or 0)
        ):
            return node
    return None


def _leads(
    value: ast.expr, function: ast.AST, wanted: str, kinds: dict[str, str], line: int, depth: int
) -> bool:
    if depth > _MOST_STEPS:
        return False
    if isinstance(value, ast.Name):
        before = _assigned_before(function, value.id, line)
        return before is not None and _leads(before[0], function, wanted, kinds, before[1], depth + 1)
    if not isinstance(value, ast.Call):
        return False
    name = last_name(value.func)
    if name == wanted:
        return True
    if kinds.get(name, "").startswith(_PASSING_KINDS) and value.args:
        return _leads(value.args[0], function, wanted, kinds, line, depth + 1)
    if name in _PASSING:
        holder = value.func.value if isinstance(value.func, ast.Attribute) else None
        inner = (
            value.args[0]
            if holder is None or (last_name(holder) in ("torch", "F", "functional") and value.args)
            else holder
        )
        return inner is not None and _leads(inner, function, wanted, kinds, line, depth + 1)
    return False


def _assigned_before(function: ast.AST, name: str, line: int) -> tuple[ast.expr, int] | None:
    """The last plain assignment to a name above a line."""
    found: tuple[ast.expr, int] | None = None
    for node in ast.walk(function):
        if not isinstance(node, ast.Assign) or node.lineno >= line:
            continue
        named = any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
        if named and (found is None or node.lineno > found[1]):
            found = (node.value, node.lineno)
    return found
