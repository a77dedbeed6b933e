"""What becomes of a value in the user's source: cut from the graph, kept, never read, reshaped, overwritten."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.library.operations import LEAVES_GRAPH, WITHOUT_DERIVATIVE
from netmend.localise.lines.blocks import spans, switches_gradients_off
from netmend.program.text.queries import (
    assignments,
    calls_of,
    inside,
    last_name,
    site_of,
    targets_of,
    variables_in,
)
from netmend.program.text.sources import Sources
from netmend.vocabulary import Site

_CUTS = (*LEAVES_GRAPH, *WITHOUT_DERIVATIVE)
_MAKERS = ("tensor", "as_tensor", "from_numpy", "array", "asarray")


def cuts_between(sources: Sources, first: Site | None, last: Site | None) -> Site | None:
    """An operation in the function or file around `last` that takes a value out of the graph, at or after the line of `first`."""
    if first is None or last is None or first.file != last.file:
        return None
    around = sources.function_around(last) or sources.tree(last.file)
    if around is None:
        return None
    low, high = min(first.line, last.line), max(first.line, last.line)
    found = [site_of(first.file, node) for node in inside(around, ast.expr) if is_cut(node)]
    near = [site for site in found if low <= site.line <= high]
    return min(near, key=lambda site: abs(site.line - high), default=None)


def cut_before_step(sources: Sources, stepped: Site | None) -> Site | None:
    """What takes a result out of the graph on the way to an optimiser's step: `fake = generator(noise).detach()`.

    Looked for between the step of another optimiser and this one; before that only where a name is given the cut value, since others
    may be meant to get it without its graph.
    """
    around: ast.AST | None = None
    if stepped is not None:
        around = sources.function_around(stepped) or sources.tree(stepped.file)
    if stepped is None or around is None:
        return None
    nodes = [node for node in ast.walk(around) if getattr(node, "lineno", stepped.line) < stepped.line]
    steps = [node.lineno for node in nodes if isinstance(node, ast.Call) and last_name(node.func) == "step"]
    since = max(steps, default=0)
    cuts = [node for node in nodes if isinstance(node, ast.With | ast.expr) and _leaves_graph(node)]
    assigned = [node.value for node in nodes if isinstance(node, ast.Assign)]
    found = [node for node in cuts if node.lineno > since]
    found = found or [node for node in cuts if isinstance(node, ast.With) or node in assigned]
    last = max(found, key=lambda node: node.lineno, default=None)
    return None if last is None else site_of(stepped.file, last)


def _leaves_graph(node: ast.expr | ast.With) -> bool:
    """`x.detach()`, `x.data` or a block without gradients: the same values, without their graph."""
    if isinstance(node, ast.With):
        return switches_gradients_off(node)
    if isinstance(node, ast.Attribute):
        return node.attr == "data" and isinstance(node.ctx, ast.Load)
    return isinstance(node, ast.Call) and last_name(node.func) in ("detach", "detach_")


def is_cut(node: ast.expr) -> bool:
    """`x.detach()`, `x.data`, `torch.tensor(x)`, `x.numpy()` and their like."""
    if isinstance(node, ast.Attribute):
        return node.attr == "data" and isinstance(node.ctx, ast.Load)
    if not isinstance(node, ast.Call):
        return False
    name = last_name(node.func)
    if isinstance(node.func, ast.Attribute) and name in _CUTS:
        return True
    return (
        name in _MAKERS
        and bool(node.args)
        and not isinstance(node.args[0], ast.Constant | ast.List | ast.Tuple)
    )


def unused_result(sources: Sources, site: Site | None) -> str:
    """The variable that takes the result of the call at a line and is not read before it is overwritten; "" if it is."""
    function = None if site is None else sources.function_around(site)
    if site is None or function is None or sources.loop_around(site) is not None:
        return ""
    for body in _bodies(function):
        for index, statement in enumerate(body):
            if not spans(statement, site) or not isinstance(statement, ast.Assign | ast.Expr):
                continue
            if isinstance(statement, ast.Expr):
                return "its result" if isinstance(statement.value, ast.Call) else ""
            target = statement.targets[0]
            if isinstance(target, ast.Name) and not _read_later(target.id, body[index + 1 :]):
                return target.id if body is function.body or not _loads(target.id, function.body) else ""
    return ""


def _bodies(function: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in inside(function, ast.stmt, ast.excepthandler):
        for name in ("body", "orelse"):
            body = getattr(node, name, None)
            if isinstance(body, list) and body:
                yield body


def _read_later(name: str, statements: list[ast.stmt]) -> bool:
    for statement in statements:
        if _loads(name, [statement]):
            return True
        if isinstance(statement, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == name for target in statement.targets
        ):
            return False
    return False


def _loads(name: str, statements: list[ast.stmt]) -> bool:
    return any(
        node.id == name and (isinstance(node.ctx, ast.Load) or isinstance(statement, ast.AugAssign))
        for statement in statements
        for node in inside(statement, ast.Name)
    )


def keeping(sources: Sources, backward: Site | None) -> Site | None:
    """The line that adds up or collects a loss as a tensor: `total += loss`, `losses.append(loss)`."""
    call = None if backward is None else sources.call_at(backward)
    loop = None if backward is None else sources.loop_around(backward)
    if backward is None or call is None or not isinstance(call.func, ast.Attribute):
        return None
    names = variables_in(call.func.value)
    if loop is None:
        return _keeping_caller(sources, backward, names)
    for node in ast.walk(loop):
        kept: list[ast.expr] = []
        if isinstance(node, ast.AugAssign) or (
            isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp)
        ):
            kept = [node.value]
        elif isinstance(node, ast.Call) and last_name(node.func) in ("append", "extend", "appendleft"):
            kept = node.args
        if any(_whole(value, names) for value in kept) and isinstance(node, ast.stmt | ast.expr):
            return site_of(backward.file, node)
    return None


def _keeping_caller(sources: Sources, backward: Site, names: set[str]) -> Site | None:
    """The line outside that adds up or collects what a function of one step returns: `total += train(x, y)`, where that is the loss itself."""
    function = sources.function_around(backward)
    returns = [node.value for node in inside(function, ast.Return)] if function else []
    if function is None or not any(isinstance(value, ast.expr) and _whole(value, names) for value in returns):
        return None
    for node in sources.nodes(backward.file, ast.Call):
        if last_name(node.func) == function.name:
            found = kept_call(sources, site_of(backward.file, node))
            if found is not None:
                return found
    return None


def kept_call(sources: Sources, site: Site | None) -> Site | None:
    """`history.append(loss_fn(…))`, `total += loss_fn(…)`: the line keeps what the call at a site returns, with its graph."""
    call = None if site is None else sources.call_at(site)
    if site is None or call is None:
        return None
    for node in sources.nodes(site.file):
        kept: list[ast.expr] = []
        if isinstance(node, ast.AugAssign):
            kept = [node.value]
        elif isinstance(node, ast.Call) and last_name(node.func) in ("append", "appendleft"):
            kept = node.args
        if any(value is call for value in kept) and isinstance(node, ast.stmt | ast.expr):
            return site_of(site.file, node)
    return None


def collecting(sources: Sources, backward: Site | None) -> Site | None:
    """The line that collects tensors computed in the loop as they are: `outputs.append(out)`."""
    loop = None if backward is None else sources.loop_around(backward)
    if backward is None or loop is None:
        return None
    made = {
        target.id
        for node in inside(loop, ast.Assign)
        if isinstance(node.value, ast.Call)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    appends = (
        call for call in calls_of(loop, "append", "appendleft") if any(_whole(v, made) for v in call.args)
    )
    return next((site_of(backward.file, call) for call in appends), None)


def cut_in_loss(sources: Sources, backward: Site | None) -> Site | None:
    """A value taken out of the graph within the expression of the objective: `loss = a + b.item()`."""
    call = None if backward is None else sources.call_at(backward)
    if backward is None or call is None or not isinstance(call.func, ast.Attribute):
        return None
    names = variables_in(call.func.value)
    around = sources.scope_around(backward)
    for node in inside(around, ast.Assign, ast.AugAssign):
        if any(isinstance(target, ast.Name) and target.id in names for target in targets_of(node)):
            for part in inside(node, ast.expr):
                if is_cut(part):
                    return site_of(backward.file, part)
    return None


def _whole(value: ast.expr, names: set[str]) -> bool:
    """Whether one of the names is used as it is, not through `.item()`, `.detach()` or `float()`."""
    if isinstance(value, ast.Name):
        return value.id in names
    if isinstance(value, ast.BinOp):
        return _whole(value.left, names) or _whole(value.right, names)
    return isinstance(value, ast.Tuple | ast.List) and any(_whole(item, names) for item in value.elts)


def given_line(sources: Sources, site: Site | None) -> Site | None:
    """The last assignment to the name that a call is given first; the call itself where it is given an expression."""
    call = None if site is None else sources.call_at(site)
    if site is None or call is None or not call.args or not isinstance(call.args[0], ast.Name):
        return site
    made = assignments(sources.scope_around(site), call.args[0].id, before=call.lineno)
    return site_of(site.file, made[-1]) if made else site


def reshaping(sources: Sources, near: Site | None) -> Site | None:
    """A `view(-1, …)` or `reshape(-1, …)` in the program: it may move values from one sample to another."""
    for file in sources.files(near.file if near is not None else ""):
        for call in sources.calls_named(file, "view", "reshape"):
            first = call.args[0] if call.args else None
            negative = isinstance(first, ast.UnaryOp) and isinstance(first.op, ast.USub)
            if negative and len(call.args) > 1:
                return site_of(file, call)
    return None


def changing_in_place(sources: Sources, near: Site | None) -> Site | None:
    """An operation in a `forward` that overwrites a tensor: `x += …`, `x.relu_()`, `x[…] = …`."""
    for file in sources.files(near.file) if near is not None else ():
        for function in sources.nodes(file):
            if not isinstance(function, ast.FunctionDef) or not function.name.endswith("forward"):
                continue
            for node in ast.walk(function):
                if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name | ast.Subscript):
                    return site_of(file, node)
                if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
                    return site_of(file, node)
                if (
                    isinstance(node, ast.Call)
                    and isinstance(node.func, ast.Attribute)
                    and node.func.attr.endswith("_")
                    and not node.func.attr.startswith("_")
                ):
                    return site_of(file, node)
    return None
