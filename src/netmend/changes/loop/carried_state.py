"""Variables that carry a tensor with its graph from one round of the training loop to the next."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.changes.loop.loop_code import Loop, names_in, targets_of
from netmend.library.operations import LEAVES_GRAPH
from netmend.program.text.file import File
from netmend.program.text.queries import Function, inside, last_name
from netmend.program.text.sources import Code

_MAKERS = (
    "zeros",
    "randn",
    "ones",
    "rand",
    "zeros_like",
    "new_zeros",
    "empty",
    "tensor",
    "full",
    "stack",
    "cat",
)
_CUTS = (*LEAVES_GRAPH, "data", "size", "shape", "argmax")


def carried(loop: Loop, backward: ast.AST) -> list[str]:
    """Names that reach the loss, were set in an earlier round, and are set again from what was computed in this one."""
    statements = [
        node for node in inside(loop, ast.Assign, ast.AugAssign, ast.AnnAssign) if node.value is not None
    ]
    needs: dict[str, set[str]] = {}
    for statement in statements:
        value = statement.value
        read = set() if value is None else tracked_names(value)
        for target in targets_of(statement):
            if isinstance(target, ast.Name):
                needs.setdefault(target.id, set()).update(read)
                if isinstance(statement, ast.AugAssign):
                    needs[target.id].add(target.id)
    reached = _closure(needs, names_in(backward))
    found = []
    for name in needs:
        if name in reached and name in _closure(needs, needs[name]) and _read_first(loop, name):
            found.append(name)
    return found


def tracked_names(value: ast.AST) -> set[str]:
    """Names that a value depends on through the graph: not through `.item()`, `.detach()` and their like."""
    if isinstance(value, ast.Attribute) and value.attr in _CUTS:
        return set()
    if isinstance(value, ast.Name):
        return {value.id}
    if isinstance(value, ast.Constant):
        return set()
    if isinstance(value, ast.Call) and last_name(value.func) in ("float", "int", "len", "range", "print"):
        return set()
    return {name for part in ast.iter_child_nodes(value) for name in tracked_names(part)}


def _closure(needs: dict[str, set[str]], start: set[str]) -> set[str]:
    reached, waiting = set(start), list(start)
    while waiting:
        for name in needs.get(waiting.pop(), ()):
            if name not in reached:
                reached.add(name)
                waiting.append(name)
    return reached


def _read_first(loop: Loop, name: str) -> bool:
    """Whether a round of a loop reads a name before it sets it."""
    for node in _in_order(loop.body):
        if node.id == name:
            return isinstance(node.ctx, ast.Load)
    return False


def _in_order(nodes: list[ast.stmt]) -> Iterator[ast.Name]:
    """Names in the order in which they are used; what is assigned comes behind the value."""
    for statement in nodes:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            yield from _names(statement.value)
            for target in targets_of(statement):
                yield from _names(target)
        elif isinstance(statement, ast.AugAssign):
            if isinstance(statement.target, ast.Name):
                yield ast.Name(statement.target.id, ast.Load())
            yield from _names(statement.value)
        elif isinstance(statement, ast.For | ast.AsyncFor):
            yield from _names(statement.iter)
            yield from _names(statement.target)
            yield from _in_order(statement.body)
        elif isinstance(statement, ast.If | ast.While):
            yield from _names(statement.test)
            # A name that only one branch sets may still come from the round before.
            both = {n.id for n in _in_order(statement.body)} & {n.id for n in _in_order(statement.orelse)}
            for name in (*_in_order(statement.body), *_in_order(statement.orelse)):
                if isinstance(name.ctx, ast.Load) or name.id in both:
                    yield name
        elif isinstance(statement, ast.With):
            for item in statement.items:
                yield from _names(item.context_expr)
            yield from _in_order(statement.body)
        elif not isinstance(statement, Function | ast.ClassDef):
            yield from _names(statement)


def _names(node: ast.AST) -> Iterator[ast.Name]:
    return (part for part in inside(node, ast.Name))


def form_of(code: Code, file: File, name: str, near: ast.AST, is_pair: bool) -> str:
    """Whether a state is a "tensor", a "tuple" or a "list", by what it starts with; `is_pair` where that is not known."""
    scope = file.function(near) or file.tree
    for node in inside(scope, ast.Assign, ast.AnnAssign):
        if node.value is None:
            continue
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            place = _place(file, target, name)
            form = "" if place is None else _form(code, file, node.value, place)
            if form:
                return form
    return "tuple" if is_pair else "tensor"


def _place(file: File, target: ast.expr, name: str) -> list[int] | None:
    """Where a name stands in what is assigned to: [] when it is all of it; None when it is not there."""
    if isinstance(target, ast.Tuple | ast.List):
        for index, part in enumerate(target.elts):
            inner = _place(file, part, name)
            if inner is not None:
                return [index, *inner]
        return None
    return [] if file.source(target) == name else None


def _form(code: Code, file: File, value: ast.expr, place: list[int]) -> str:
    if place and isinstance(value, ast.Tuple | ast.List) and place[0] < len(value.elts):
        return _form(code, file, value.elts[place[0]], place[1:])
    if not place and isinstance(value, ast.Tuple):
        return "tuple"
    if not place and isinstance(value, ast.List | ast.ListComp):
        return "list"
    if not isinstance(value, ast.Call):
        return ""
    called = last_name(value.func)
    if called in _MAKERS:
        return "tensor"
    if called in ("tuple", "list") and not place:
        return called
    if called in ("to", "cuda", "requires_grad_", "clone") and isinstance(value.func, ast.Attribute):
        return _form(code, file, value.func.value, place)
    for other in code.files(file.file) if called not in ("forward", "") else ():
        for node in inside(other.tree, ast.FunctionDef, ast.AsyncFunctionDef):
            if node.name == called:
                for part in inside(node, ast.Return):
                    if part.value is not None:
                        form = _form(code, other, part.value, place)
                        if form:
                            return form
    return ""


def detached(name: str, form: str) -> str:
    """`h = h.detach()`, for each part of a tuple or list."""
    if form == "tensor":
        return f"{name} = {name}.detach()"
    part = "part" if name != "part" else "each"
    if form == "list":
        return f"{name} = [{part}.detach() for {part} in {name}]"
    return f"{name} = tuple({part}.detach() for {part} in {name})"
