"""The calls of the training loop in the source: which statements make them, and how these stand to each other."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from netmend.changes.case import Case
from netmend.program.source.names_of_object import known_as
from netmend.program.text.file import File, block_of, in_block
from netmend.program.text.queries import Function, inside, last_name, variables_in
from netmend.program.text.sources import Code
from netmend.vocabulary import Call, ModelFact, OptimizerFact, Pattern, Site

Loop = ast.For | ast.AsyncFor | ast.While
_MOST_CALLERS = 4  # functions between a loop and what is called in it, at most


@dataclass(frozen=True, eq=False)
class Spot:
    """One call of the program: its file, its node and the statement that it stands in."""

    file: File
    call: ast.Call
    statement: ast.stmt

    @property
    def receiver(self) -> str:
        """What the method is called on: `self.opt` of `self.opt.step()`; "" for a plain function."""
        func = self.call.func
        return self.file.source(func.value) if isinstance(func, ast.Attribute) else ""

    @property
    def method(self) -> str:
        return last_name(self.call.func)

    def is_beside(self, other: Spot) -> bool:
        """Whether both stand in one function (or both in none) of one file."""
        return self.file.file == other.file.file and self.file.function(self.call) is other.file.function(
            other.call
        )

    @property
    def is_alone(self) -> bool:
        """Whether the call is the whole statement."""
        return isinstance(self.statement, ast.Expr) and self.statement.value is self.call


def spot(code: Code, site: Site | None) -> Spot | None:
    """The call at a site of the trace."""
    if site is None:
        return None
    found = code.call_at(replace(site, file=str(code.sources.path(site.file))))
    statement = None if found is None else found[0].statement(found[1])
    return None if found is None or statement is None else Spot(*found, statement)


def protocol(
    case: Case, what: str, component: str = "", training: bool | None = None
) -> list[tuple[Pattern, Call]]:
    """Calls of one kind, most frequent first; of one component where it is named."""
    found = [
        (pattern, call)
        for pattern in case.trace.patterns
        for call in pattern.calls
        if call.what == what
        and (not component or call.component == component)
        and (training is None or call.detail.endswith(", grad") == training)
    ]
    return sorted(found, key=lambda item: -item[0].steps * item[1].times)


def spots(case: Case, what: str, component: str = "", training: bool | None = None) -> list[Spot]:
    """Where a kind of call is made, the most frequent place first."""
    sites = dict.fromkeys(
        call.site for _, call in protocol(case, what, component, training) if call.site is not None
    )
    return [found for site in sites if (found := spot(case.code, site)) is not None]


def meeting(file: File, one: ast.stmt, other: ast.stmt) -> tuple[list[ast.stmt], int, int] | None:
    """The innermost block that holds both, and at which positions; None when they share no block of one function."""
    for each in (one, *file.parents(one)):
        if isinstance(each, Function | ast.ClassDef | ast.Lambda):
            return None
        if isinstance(each, ast.stmt):
            block = block_of(file, each)
            there = in_block(file, block, other)
            if there is not None:
                return block, _index(block, each), _index(block, there)
    return None


def loops_around(file: File, node: ast.AST) -> list[Loop]:
    """Loops around a node within its function, innermost first."""
    found: list[Loop] = []
    for above in file.parents(node):
        if isinstance(above, Function | ast.Lambda | ast.ClassDef):
            break
        if isinstance(above, Loop):
            found.append(above)
    return found


def callers(code: Code, file: File, node: ast.AST) -> Iterator[Spot]:
    """Calls of the function that a node stands in."""
    function = file.function(node)
    if function is None:
        return
    name = function.name
    if name in ("__init__", "__call__", "forward"):
        return
    for other in code.files(file.file):
        for call in other.calls(name):
            statement = other.statement(call)
            if statement is not None and other.function(call) is not function:
                yield Spot(other, call, statement)


def is_repeated(code: Code, file: File, node: ast.AST, depth: int = 0) -> bool:
    """Whether a node stands in a loop, or in a function that is called in one."""
    if loops_around(file, node):
        return True
    return depth < _MOST_CALLERS and any(
        is_repeated(code, each.file, each.call, depth + 1) for each in callers(code, file, node)
    )


def reached_from(code: Code, file: File, node: ast.AST, depth: int = 0) -> Iterator[tuple[File, ast.AST]]:
    """A node, the calls of the function around it, the calls of the functions around those, …"""
    yield file, node
    if depth < _MOST_CALLERS:
        for each in callers(code, file, node):
            yield from reached_from(code, each.file, each.call, depth + 1)


def training_nodes(case: Case) -> list[tuple[File, ast.AST]]:
    """Everything in the source through which the program trains: backward and step calls, and the way to them."""
    found: list[tuple[File, ast.AST]] = []
    for what in ("backward", "step"):
        for each in spots(case, what):
            found.extend(reached_from(case.code, each.file, each.call))
    return found


def holds(file: File, outer: ast.AST, nodes: Sequence[tuple[File, ast.AST]]) -> bool:
    """Whether a part of a file holds one of some nodes."""
    return any(
        where.file == file.file and (node is outer or any(above is outer for above in where.parents(node)))
        for where, node in nodes
    )


def body_start(function: Function) -> ast.stmt:
    """The first statement of a function behind its docstring."""
    has_text = ast.get_docstring(function, clean=False) is not None and len(function.body) > 1
    return function.body[has_text]


def names_in(node: ast.AST) -> set[str]:
    return variables_in(node)


def targets_of(statement: ast.stmt) -> list[ast.expr]:
    """What a statement assigns to, tuples taken apart."""
    if isinstance(statement, ast.Assign):
        whole = list(statement.targets)
    elif isinstance(statement, ast.AugAssign | ast.AnnAssign | ast.For | ast.AsyncFor):
        whole = [statement.target]
    elif isinstance(statement, ast.With | ast.AsyncWith):
        whole = [item.optional_vars for item in statement.items if item.optional_vars is not None]
    else:
        return []
    found: list[ast.expr] = []
    while whole:
        target = whole.pop(0)
        if isinstance(target, ast.Tuple | ast.List):
            whole = [*target.elts, *whole]
        else:
            found.append(target.value if isinstance(target, ast.Starred) else target)
    return found


def assigned_names(node: ast.AST) -> set[str]:
    """Names that a part of the program assigns to, functions inside left out of account."""
    return {
        target.id
        for part in inside(node, ast.stmt)
        for target in targets_of(part)
        if isinstance(target, ast.Name)
    }


def _index(block: Sequence[ast.stmt], statement: ast.AST) -> int:
    return next(index for index, other in enumerate(block) if other is statement)


def optimizer_at(case: Case, component: str, anchor: Spot) -> str:
    """What an optimiser is called beside a call; "" when no name of it is known there."""
    fact = case.trace.get(OptimizerFact, component)
    if fact is None and len(case.trace.optimizers) == 1:
        fact = case.trace.optimizers[0]
    own = known_as(case.code, fact.created, anchor.file, anchor.call) if fact is not None else None
    if own:
        return own
    for what in ("step", "zero_grad", "unscale"):
        for each in spots(case, what, component):
            if each.is_beside(anchor):
                named = each.call.args[0] if each.call.args else None
                scaled = each.method == "unscale_" or "scale" in _methods(case)
                if scaled and isinstance(named, ast.Name | ast.Attribute) and what != "zero_grad":
                    return each.file.source(named)  # scaler.step(optimizer)
                return each.receiver
    return ""


def last_use_of_gradients(case: Case, near: Spot, statement: ast.stmt) -> ast.stmt:
    """The backward pass, or what is done to the gradients right behind it: where a step can follow."""
    block = block_of(near.file, statement)
    last = block.index(statement)
    for what in ("clip", "unscale"):
        for each in spots(case, what):
            there = in_block(near.file, block, each.call) if each.file.file == near.file.file else None
            if there is not None and each.method != "step":
                last = max(last, block.index(there))
    return block[last]


def scaler_of(case: Case) -> tuple[Spot, ast.expr] | None:
    """`scaler` in `scaler.scale(loss).backward()`, and that call."""
    for each in spots(case, "backward"):
        for part in inside(each.call, ast.Call):
            if isinstance(part.func, ast.Attribute) and part.func.attr == "scale":
                return each, part.func.value
    return None


def model_at(case: Case, component: str, anchor: Spot) -> str:
    """What a model is called beside a call; "" when no name of it is known there."""
    for each in spots(case, "forward", component):
        func = each.call.func
        if isinstance(func, ast.Attribute) and func.attr == "forward":
            func = func.value
        if each.is_beside(anchor) and isinstance(func, ast.Name | ast.Attribute):
            return each.file.source(func)
    fact = case.trace.get(ModelFact, component)
    return (known_as(case.code, fact.created, anchor.file, anchor.call) if fact is not None else None) or ""


def uncalled(file: File, near: ast.stmt, method: str) -> ast.Attribute | None:
    """`optimizer.zero_grad` without brackets, beside a statement."""
    for statement in block_of(file, near):
        value = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(value, ast.Attribute) and value.attr == method:
            return value
    return None


def _methods(case: Case) -> set[str]:
    return {part.attr for each in spots(case, "backward") for part in inside(each.call, ast.Attribute)}
