"""Questions to nodes of a tree: the name a call ends in, what a scope holds, which names are mentioned or given a value."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterator
from typing import TypeVar, overload

from netmend.vocabulary import Site

Function = ast.FunctionDef | ast.AsyncFunctionDef
Scope = ast.Module | Function
A = TypeVar("A", bound=ast.AST)
B = TypeVar("B", bound=ast.AST)
C = TypeVar("C", bound=ast.AST)
D = TypeVar("D", bound=ast.AST)


def last_name(node: ast.AST | None) -> str:
    """`lr_scheduler.StepLR` → "StepLR"; "" for anything that is no name."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def site_of(file: str, node: ast.expr | ast.stmt | ast.keyword | ast.arg) -> Site:
    return Site(file, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)


@overload
def inside(node: ast.AST | None, kind: type[A], /) -> Iterator[A]: ...
@overload
def inside(node: ast.AST | None, one: type[A], other: type[B], /) -> Iterator[A | B]: ...
@overload
def inside(node: ast.AST | None, one: type[A], two: type[B], three: type[C], /) -> Iterator[A | B | C]: ...
@overload
def inside(
    node: ast.AST | None, one: type[A], two: type[B], three: type[C], four: type[D], /
) -> Iterator[A | B | C | D]: ...
def inside(node: ast.AST | None, *kinds: type[ast.AST]) -> Iterator[ast.AST]:
    """A node and all below it that are of one of the kinds, level by level; nothing of None."""
    return (part for part in walk(node) if isinstance(part, kinds)) if node is not None else iter(())


def walk(node: ast.AST) -> list[ast.AST]:
    """A node and all below it, level by level, as `ast.walk` gives them, in half its time."""
    nodes = [node]
    for above in nodes:
        for name in above._fields:
            value = getattr(above, name, None)
            if isinstance(value, ast.AST):
                nodes.append(value)
            elif isinstance(value, list):
                nodes.extend(item for item in value if isinstance(item, ast.AST))
    return nodes


def methods(owner: ast.ClassDef) -> dict[str, Function]:
    """The methods of a class by their names."""
    return {node.name: node for node in owner.body if isinstance(node, Function)}


def without_text(function: Function) -> list[ast.stmt]:
    """The body of a function without texts that stand alone in it, such as its docstring."""
    texts = (ast.Constant, ast.JoinedStr)
    return [s for s in function.body if not (isinstance(s, ast.Expr) and isinstance(s.value, texts))]


def own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """A scope and what belongs to itself: names in functions and classes within it are others."""
    waiting: deque[ast.AST] = deque([scope])
    while waiting:
        node = waiting.popleft()
        yield node
        if node is scope or not isinstance(node, Function | ast.ClassDef | ast.Lambda):
            waiting.extend(ast.iter_child_nodes(node))


def children(node: ast.AST) -> Iterator[ast.AST]:
    """What stands directly in a node."""
    return ast.iter_child_nodes(node)


def spans(node: ast.stmt | ast.expr, line: int) -> bool:
    """Whether a line is one of the node's."""
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def calls_of(node: ast.AST | None, *names: str) -> Iterator[ast.Call]:
    """Calls in a part of a program whose function's last name is one of the given: `optimizer.step()` for "step"."""
    return (call for call in inside(node, ast.Call) if last_name(call.func) in names)


def holds(whole: ast.AST | None, part: ast.AST | None) -> bool:
    """Whether a node is another one or stands somewhere in it."""
    return any(node is part for node in (walk(whole) if whole is not None else ()))


def uses_of(node: ast.AST | None, name: str) -> list[ast.Name]:
    """Where a variable is read, in a part of a program."""
    return [part for part in inside(node, ast.Name) if part.id == name and isinstance(part.ctx, ast.Load)]


def stored_in(node: ast.AST | None) -> set[str]:
    """The variables that are given a value in a part of a program, by whatever way."""
    return {part.id for part in inside(node, ast.Name) if isinstance(part.ctx, ast.Store)}


def attributes_in(node: ast.AST | None) -> set[str]:
    """The names of all attributes in a part of a program."""
    return {part.attr for part in inside(node, ast.Attribute)}


def names_in(node: ast.AST | None) -> Iterator[str]:
    """Every name and attribute that is mentioned in a part of a program."""
    for part in inside(node, ast.Name, ast.Attribute):
        yield last_name(part)


def variables_in(node: ast.AST | None) -> set[str]:
    """Every variable that is mentioned in a part of a program."""
    return {part.id for part in inside(node, ast.Name)}


def targets_of(statement: ast.AST) -> list[ast.expr]:
    """What an assignment gives a value to; tuples are left whole."""
    if isinstance(statement, ast.Assign):
        return statement.targets
    return [statement.target] if isinstance(statement, ast.AugAssign | ast.AnnAssign) else []


def elements_of(target: ast.expr) -> list[ast.expr]:
    """The members of a tuple or list; anything else is its own one member."""
    return target.elts if isinstance(target, ast.Tuple | ast.List) else [target]


def assignments(node: ast.AST | None, name: str, before: int | None = None) -> list[ast.Assign]:
    """Plain assignments to a variable or attribute of a name in a part of a program, in their order; above a line if one is given."""
    found = [
        part
        for part in inside(node, ast.Assign)
        if name in map(last_name, part.targets) and (before is None or part.lineno < before)
    ]
    return sorted(found, key=lambda part: part.lineno)


def results_of(function: ast.AST | None) -> list[ast.Return | ast.Yield]:
    """What gives a value out of a function: its own returns and yields with a value."""
    nodes = own_nodes(function) if function is not None else ()
    return [node for node in nodes if isinstance(node, ast.Return | ast.Yield) and node.value is not None]


def arguments_of(function: Function) -> list[str]:
    """The names of a function's parameters, `*args` and `**kwargs` aside."""
    given = function.args
    return [argument.arg for argument in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
