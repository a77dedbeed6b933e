"""What is done with a value in the source: from the expression that makes it on to all that takes it, and back to where a name got it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from netmend.library.operations import VIEWS
from netmend.program.engine.values import Attribute, Call, Collection, Either, Instance, Item, Value
from netmend.program.engine.values import resolved as made
from netmend.program.of_run import program_of
from netmend.program.text.file import File
from netmend.program.text.queries import last_name, own_nodes, targets_of
from netmend.program.text.sources import Code

# Calls that hand on the same numbers, in another shape, type or place.
SHAPING = frozenset((*VIEWS, "view_as", "reshape_as", "ravel"))
PASSING = SHAPING | frozenset(
    [
        "detach", "cpu", "cuda", "numpy", "float", "double", "half", "to", "type", "contiguous", "clone", "item", "tolist",
        "cat", "concat", "concatenate", "stack", "vstack", "hstack", "array", "asarray", "tensor", "as_tensor", "from_numpy", "type_as", "data",
    ]
)  # fmt: skip


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
    for program in program_of(code.sources).programs(file.file):
        program.entries  # noqa: B018 - evaluates it
        seen = program.machine.seen or {}
        if id(value) not in seen:
            continue
        files = (found for module in program.machine.modules if (found := code.file(module)) is not None)
        nodes = {id(node): (where, node) for where in files for node in where.nodes}
        firsts = [first for source in seen[id(value)] for first in _first(source)]
        makers = [
            where.function(node)
            for first in firsts
            for where, node in [nodes.get(id(first.node), (file, value))]
        ]
        reach = _Reach([*seen[id(value)], *firsts], passing)
        for number, values in seen.items():
            where, node = nodes.get(number, (file, None))
            if isinstance(node, ast.expr) and _is_read(where, node) and any(map(reach.holds, values)):
                use = _use(where, node)
                is_inside = bool(makers) and where.function(node) in makers and node is not value
                if use is not None and not is_inside:  # what a function does with its result is no use of it
                    yield use
        return


def _first(source: Value) -> list[Value]:
    """`out` of `out, state = model(x)`."""
    whole = made(source)
    return whole.items[:1] if isinstance(whole, Collection) and whole.kind == "tuple" else []


def _is_read(file: File, node: ast.expr) -> bool:
    above = file.parent(node)
    is_method = isinstance(node, ast.Attribute) and isinstance(above, ast.Call) and above.func is node
    return not is_method and not isinstance(getattr(node, "ctx", None), ast.Store)


class _Reach:
    """What some values are handed on as."""

    def __init__(self, sources: Sequence[Value], passing: frozenset[str]) -> None:
        self._known = {id(source): True for source in sources}
        self._paths = [set(map(id, source.options)) for source in sources if isinstance(source, Either)]
        self._passing = passing

    def holds(self, value: Value) -> bool:
        if id(value) not in self._known:
            self._known[id(value)] = False  # while it is looked into
            same = isinstance(value, Either) and set(map(id, value.options)) in self._paths
            self._known[id(value)] = same or any(map(self.holds, self._inputs(value)))
        return self._known[id(value)]

    def _inputs(self, value: Value) -> tuple[Value, ...]:
        """The values of which one may be the same, reshaped or gathered."""
        if isinstance(value, Either):
            return value.options
        if isinstance(value, Item) or (isinstance(value, Attribute) and value.name in self._passing):
            return (value.base,)
        if isinstance(value, Collection) and value.kind in ("list", "tuple"):
            return tuple(value.items)
        if not isinstance(value, Call):
            return ()
        if value.result is not None:
            # What a model gives is another value than what is computed in it.
            is_model = (
                isinstance(value.function, Instance) or getattr(value.function, "name", "") == "forward"
            )
            return () if is_model else (value.result,)
        if last_name(value.node and value.node.func) not in self._passing:
            return ()
        return (value.receiver,) if value.receiver is not None else value.args


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


def bound(file: File, name: ast.expr) -> tuple[ast.stmt, ast.expr] | None:
    """The last plain assignment to a name above the place where it is read, and what it assigns."""
    function = file.function(name)
    for scope in (function, file.tree) if function is not None else (file.tree,):
        own = (node for node in own_nodes(scope) if isinstance(node, ast.Assign | ast.AnnAssign))
        made = [
            (node, node.value)
            for node in own
            if node.value is not None
            and last_name(name) in map(last_name, targets_of(node))
            and ((scope is not function and function is not None) or _end(node) <= _start(name))
        ]
        if made:
            return max(made, key=lambda item: _start(item[0]))
    return None


def _start(node: ast.AST) -> tuple[int, int]:
    return node.lineno, node.col_offset  # type: ignore[attr-defined]


def _end(node: ast.AST) -> tuple[int, int]:
    return node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]


def resolved(file: File, value: ast.expr, most: int = 4) -> ast.expr:
    """The expression that a name stands for, through plain assignments."""
    for _ in range(most):
        found = bound(file, value) if isinstance(value, ast.Name) else None
        if found is None:
            return value
        value = found[1]
    return value
