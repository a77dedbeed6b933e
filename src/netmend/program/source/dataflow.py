"""What is done with a value in the source: from the expression that makes it on to all that takes it, and back to where a name got it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.library.operations import VIEWS
from netmend.program.text.file import File
from netmend.program.text.queries import Function, last_name
from netmend.program.text.sources import Code

_MOST_STEPS = 60  # a value that is handed on more often than this is not followed
# Calls that hand on the same numbers, in another shape, type or place.
SHAPING = frozenset((*VIEWS, "view_as", "reshape_as", "ravel"))
PASSING = SHAPING | frozenset(
    [
        "detach", "cpu", "cuda", "numpy", "float", "double", "half", "to", "type", "contiguous", "clone", "item", "tolist",
        "cat", "concat", "concatenate", "stack", "vstack", "hstack", "array", "asarray", "tensor", "as_tensor", "from_numpy", "type_as", "data",
    ]
)  # fmt: skip
_COLLECTING = ("append", "extend")


@dataclass(frozen=True)
class Use:
    """A value and the node that takes it: a call of it, on it or with it, a comparison, an operation, a return."""

    file: File
    value: ast.expr
    user: ast.AST

    @property
    def method(self) -> str:
        """The name of the method that is called on the value; then `user` is the call."""
        if (
            isinstance(self.user, ast.Call)
            and isinstance(self.user.func, ast.Attribute)
            and self.user.func.value is self.value
        ):
            return self.user.func.attr
        return ""

    @property
    def function(self) -> str:
        """The name of the function that is called with the value; then `user` is the call."""
        if isinstance(self.user, ast.Call) and self.user.func is not self.value and not self.method:
            return last_name(self.user.func)
        return ""


def uses(code: Code, file: File, value: ast.expr, passing: frozenset[str] = PASSING) -> Iterator[Use]:
    """Everything that is done with a value as it is or reshaped: through names, lists, functions of the program and their results."""
    waiting: list[tuple[File, ast.expr]] = [(file, value)]
    known: set[ast.AST] = set()
    for _ in range(_MOST_STEPS):
        if not waiting:
            return
        here, expression = waiting.pop(0)
        if expression in known:
            continue
        known.add(expression)
        use = _use(here, expression)
        if use is None:
            continue
        yield use
        waiting.extend(_onward(code, use, passing))


def _use(file: File, value: ast.expr) -> Use | None:
    """The node that takes a value; keywords, tuples and attributes of a call are seen through."""
    above = file.parent(value)
    if isinstance(above, ast.Attribute):
        call = file.parent(above)
        return Use(file, value, call if isinstance(call, ast.Call) and call.func is above else above)
    while isinstance(above, ast.keyword | ast.Starred | ast.List) or (
        isinstance(above, ast.Tuple) and isinstance(file.parent(above), ast.Call)
    ):
        above = file.parent(above)
    return None if above is None else Use(file, value, above)


def _onward(code: Code, use: Use, passing: frozenset[str]) -> Iterator[tuple[File, ast.expr]]:
    """The expressions that hold the same value afterwards."""
    file, user = use.file, use.user
    if isinstance(user, ast.Call):
        name = use.method or use.function
        if use.method in _COLLECTING:
            return
        if name in _COLLECTING and isinstance(user.func, ast.Attribute):
            yield from _loads(file, user, last_name(user.func.value))
        elif name in passing:
            yield file, user
        elif use.function:
            yield from _inside(code, use)
    elif (
        (isinstance(user, ast.Attribute) and user.attr in passing)
        or (isinstance(user, ast.Subscript) and user.value is use.value)
        or (isinstance(user, ast.ListComp | ast.GeneratorExp) and user.elt is use.value)
        or isinstance(user, ast.IfExp | ast.NamedExpr)
    ):
        yield file, user
    elif isinstance(user, ast.Assign | ast.AnnAssign):
        for name in _names(user):
            yield from _loads(file, user, name)
    elif isinstance(user, ast.Return | ast.Tuple):
        returned = user if isinstance(user, ast.Return) else file.parent(user)
        function = file.function(user)
        if isinstance(returned, ast.Return) and function is not None and function.name != "forward":
            for other in code.files(file.file):
                for call in other.calls(function.name):
                    yield other, call


def _names(statement: ast.Assign | ast.AnnAssign) -> Iterator[str]:
    """The variables and attributes that take a value: of `out, state = f(x)` the first."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    for target in targets:
        if isinstance(target, ast.Tuple):
            target = target.elts[0]
        if isinstance(target, ast.Name | ast.Attribute):
            yield last_name(target)


def _loads(file: File, binding: ast.AST, name: str) -> Iterator[tuple[File, ast.expr]]:
    """Where a name is read after a statement that binds it and before another one does."""
    scope: ast.AST = file.function(binding) or file.tree
    end = _end(file.statement(binding) or binding)
    later = [node for node in _inner(scope) if last_name(node) == name and isinstance(node, ast.expr)]
    stores = sorted(
        _end(file.statement(node) or node)
        for node in later
        if isinstance(getattr(node, "ctx", None), ast.Store)
    )
    for node in later:
        if isinstance(getattr(node, "ctx", None), ast.Load) and _start(node) >= end:
            before = [store for store in stores if end < store <= _start(node)]
            if not before:
                yield file, node


def _inner(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a scope without those of functions inside it; a module's classes are none of its own either."""
    waiting = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, Function | ast.ClassDef):
            waiting.extend(ast.iter_child_nodes(node))


def _start(node: ast.AST) -> tuple[int, int]:
    return node.lineno, node.col_offset  # type: ignore[attr-defined]


def _end(node: ast.AST) -> tuple[int, int]:
    return node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]


def _inside(code: Code, use: Use) -> Iterator[tuple[File, ast.expr]]:
    """The parameter of a function of the program that a value is given for, where it is read."""
    call = use.user
    if not isinstance(call, ast.Call):
        return
    for file in code.files(use.file.file):
        for function in ast.walk(file.tree):
            if not isinstance(function, Function) or function.name != use.function:
                continue
            names = [argument.arg for argument in function.args.args]
            names = names[1:] if names[:1] in (["self"], ["cls"]) else names
            given = dict(zip(names, call.args, strict=False)) | {
                k.arg: k.value for k in call.keywords if k.arg
            }
            for name in (name for name, value in given.items() if value is use.value):
                for node in _inner(function):
                    if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
                        yield file, node


def bound(file: File, name: ast.expr) -> tuple[ast.stmt, ast.expr] | None:
    """The last plain assignment to a name above the place where it is read, and what it assigns."""
    scope: ast.AST | None = file.function(name)
    for around in (scope, file.tree) if scope is not None else (file.tree,):
        found: tuple[ast.stmt, ast.expr] | None = None
        for node in _inner(around):
            if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
                continue
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [last_name(target) for target in targets]
            before = (around is file.tree and scope is not None) or _end(node) <= _start(name)
            if last_name(name) in names and before and (found is None or _start(found[0]) < _start(node)):
                found = (node, node.value)
        if found is not None:
            return found
    return None


def resolved(file: File, value: ast.expr, most: int = 4) -> ast.expr:
    """The expression that a name stands for, through plain assignments."""
    for _ in range(most):
        if not isinstance(value, ast.Name):
            return value
        found = bound(file, value)
        if found is None:
            return value
        value = found[1]
    return value
