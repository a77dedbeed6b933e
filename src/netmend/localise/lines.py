"""Lines of the user's program that matter to a fault, found in its source: loops, no_grad blocks, frozen parts, cuts."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.localise.source import Sources, last_name, site_of
from netmend.vocabulary import Site

_NO_GRAD = ("no_grad", "inference_mode")
_CUTS = ("detach", "detach_", "item", "numpy", "tolist", "argmax", "argmin", "round", "sign", "floor")
_MAKERS = ("tensor", "as_tensor", "from_numpy", "array", "asarray")


def loop_around(sources: Sources, site: Site | None) -> Site | None:
    """The line of the innermost loop that a line stands in."""
    loop = None if site is None else sources.loop_around(site)
    return None if site is None or loop is None else Site(site.file, loop.lineno, function=site.function)


def no_grad_around(sources: Sources, site: Site | None) -> Site | None:
    """The `with torch.no_grad():` or the decorator that switches gradients off for a line."""
    if site is None:
        return None
    found: Site | None = None
    for node in sources.nodes(site.file):
        if isinstance(node, ast.With | ast.AsyncWith) and _spans(node, site):
            for item in node.items:
                if _switches_off(item.context_expr):
                    found = Site(site.file, node.lineno)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _spans(node, site):
            for decorator in node.decorator_list:
                if _switches_off(decorator):
                    found = found or Site(site.file, decorator.lineno)
    return found


def grad_switched_off(sources: Sources, near: str = "") -> Site | None:
    """A `torch.set_grad_enabled(False)` that is no context manager: it stays."""
    for file in sources.files(near):
        for node in sources.nodes(file):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                call = node.value
                if last_name(call.func) == "set_grad_enabled" and _is(call.args[:1], False):
                    return site_of(file, call)
    return None


def freezing(sources: Sources, near: str = "", about: tuple[str, ...] = ()) -> Site | None:
    """The line that sets requires_grad to False; where several do, one whose surroundings name the layer."""
    found: list[tuple[bool, Site]] = []
    for file in sources.files(near):
        for node in sources.nodes(file):
            place: ast.stmt | ast.expr | None = None
            if isinstance(node, ast.Assign) and _is([node.value], False):
                if any(isinstance(t, ast.Attribute) and t.attr == "requires_grad" for t in node.targets):
                    place = node
            elif (
                isinstance(node, ast.Call)
                and last_name(node.func) == "requires_grad_"
                and (_is(node.args[:1], False) or any(_is([k.value], False) for k in node.keywords))
            ):
                place = node
            if place is not None:
                site = site_of(file, place)
                loop = sources.loop_around(site)
                first = min(loop.lineno if loop is not None else site.line, site.line)
                text = " ".join(sources.lines(file)[first - 1 : site.line])
                found.append((any(word in text for word in about), site))
    return max(found, key=lambda item: item[0], default=(False, None))[1]


def cuts_between(sources: Sources, first: Site | None, last: Site | None) -> Site | None:
    """An operation in the function around `last` that takes a value out of the graph, at or after the line of `first`."""
    if first is None or last is None or first.file != last.file:
        return None
    function = sources.function_around(last)
    if function is None:
        return None
    low, high = min(first.line, last.line), max(first.line, last.line)
    found = [
        site_of(first.file, node)
        for node in ast.walk(function)
        if isinstance(node, ast.expr) and is_cut(node)
    ]
    near = [site for site in found if low <= site.line <= high]
    return min(near, key=lambda site: abs(site.line - high), default=None)


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
    """The variable that takes the result of the call at a line and is never read afterwards; "" if it is read."""
    if site is None:
        return ""
    function = sources.function_around(site)
    if function is None:
        return ""
    for node in ast.walk(function):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _spans(node, site):
            inner = [
                n for n in ast.walk(function) if isinstance(n, ast.stmt) and n is not node and _spans(n, site)
            ]
            if not any(isinstance(n, ast.Assign | ast.Return | ast.AugAssign) for n in inner):
                return "its result"
        if not isinstance(node, ast.Assign) or not _spans(node, site):
            continue
        targets = node.targets[0]
        if not isinstance(targets, ast.Name):
            continue
        end = node.end_lineno or node.lineno
        read = [
            n
            for n in ast.walk(function)
            if isinstance(n, ast.Name)
            and n.id == targets.id
            and isinstance(n.ctx, ast.Load)
            and n.lineno > end
        ]
        if not read and sources.loop_around(site) is None:
            return targets.id
    return ""


def writes_gradients(sources: Sources, site: Site | None) -> bool:
    """Whether the program around a line puts gradients together by itself: `p.grad = …`, `p.grad.copy_(…)`."""
    if site is None:
        return False
    around: ast.AST | None = sources.function_around(site) or sources.tree(site.file)
    for node in ast.walk(around) if around is not None else ():
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AugAssign):
            targets = [node.target]
        elif (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr[-1:] == "_"
        ):
            targets = [node.func.value]
        if any(
            isinstance(n, ast.Attribute) and n.attr == "grad" for target in targets for n in ast.walk(target)
        ):
            return True
    return False


def retains_graph(sources: Sources, site: Site | None) -> bool:
    call = None if site is None else sources.call_at(site)
    for node in ast.walk(call) if call is not None else ():
        if isinstance(node, ast.keyword) and node.arg == "retain_graph":
            return _is([node.value], True)
    return False


def keeping(sources: Sources, backward: Site | None) -> Site | None:
    """The line that adds up or collects a loss as a tensor: `total += loss`, `losses.append(loss)`."""
    call = None if backward is None else sources.call_at(backward)
    loop = None if backward is None else sources.loop_around(backward)
    if backward is None or call is None or loop is None or not isinstance(call.func, ast.Attribute):
        return None
    names = {node.id for node in ast.walk(call.func.value) if isinstance(node, ast.Name)}
    for node in ast.walk(loop):
        kept: list[ast.expr] = []
        if isinstance(node, ast.AugAssign) or (isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp)):
            kept = [node.value]
        elif isinstance(node, ast.Call) and last_name(node.func) in ("append", "extend", "appendleft"):
            kept = node.args
        if any(_whole(value, names) for value in kept) and isinstance(node, ast.stmt | ast.expr):
            return site_of(backward.file, node)
    return None


def _whole(value: ast.expr, names: set[str]) -> bool:
    """Whether one of the names is used as it is, not through `.item()`, `.detach()` or `float()`."""
    if isinstance(value, ast.Name):
        return value.id in names
    if isinstance(value, ast.BinOp):
        return _whole(value.left, names) or _whole(value.right, names)
    return isinstance(value, ast.Tuple | ast.List) and any(_whole(item, names) for item in value.elts)


def plain_containers(sources: Sources, near: str = "") -> Iterator[Site]:
    """`self.layers = [nn.Linear(…), …]` in a class: layers that no module registers."""
    for file in sources.files(near):
        for node in sources.nodes(file):
            if not isinstance(node, ast.Assign) or not isinstance(
                node.value, ast.List | ast.ListComp | ast.Dict | ast.DictComp
            ):
                continue
            on_self = any(
                isinstance(t, ast.Attribute) and isinstance(t.value, ast.Name) and t.value.id == "self"
                for t in node.targets
            )
            makes = any(
                isinstance(n, ast.Call)
                and last_name(n.func)[:1].isupper()
                and last_name(n.func) != "Parameter"
                for n in ast.walk(node.value)
            )
            if on_self and makes:
                yield site_of(file, node)


def _is(values: list[ast.expr], wanted: bool) -> bool:
    return bool(values) and isinstance(values[0], ast.Constant) and values[0].value is wanted


def _spans(node: ast.stmt, site: Site) -> bool:
    return node.lineno <= site.line <= (node.end_lineno or node.lineno)


def _switches_off(node: ast.expr) -> bool:
    called = node.func if isinstance(node, ast.Call) else node
    if last_name(called) in _NO_GRAD:
        return not (isinstance(node, ast.Call) and _is(node.args[:1], False))
    return (
        isinstance(node, ast.Call) and last_name(called) == "set_grad_enabled" and _is(node.args[:1], False)
    )
