"""A value that is cut for all who use it: which backward passes see it, and which of them may go on to where it comes from.

`fake = G(z).detach()` is right for the discriminator and wrong for the generator. With the cut gone for both, the second backward pass would
go through a graph that the first one has freed, and each network would learn from the other's loss.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from netmend.program.source.bindings import binding_of
from netmend.program.source.writing import replace
from netmend.program.text.file import File, block_of
from netmend.program.text.queries import inside
from netmend.program.text.sources import Code
from netmend.vocabulary.change import FileEdits


@dataclass(frozen=True, eq=False)
class _Pass:
    """A backward pass: the optimisers that step behind it, and where the value is used for it."""

    optimizers: frozenset[str]
    uses: tuple[ast.Name, ...]


def cut_for_the_others(code: Code, file: File, cut: ast.expr, value: ast.expr) -> FileEdits | None:
    """What goes with the removal of a cut: the cut again at each use for another network's backward pass. None: the cut has to stay."""
    statement = file.statement(cut)
    passes = [] if statement is None else _passes(file, statement)
    seen = [each for each in passes if each.uses] if _name_of(statement) else passes[:1]
    if not seen:
        return ()
    own, others = _optimizers(code, file, value)
    if len(seen) == 1:
        return None if own and seen[0].optimizers and seen[0].optimizers <= others else ()
    wanted = [each for each in seen if each.optimizers & own]
    if len(wanted) != 1 or not all(each.optimizers for each in seen) or wanted[0].optimizers & others:
        return None
    uses = [use for each in seen if each is not wanted[0] for use in each.uses]
    return tuple(
        edit for use in uses if not _is_cut(file, use) for edit in replace(file, use, f"{use.id}.detach()")
    )


def _passes(file: File, statement: ast.stmt) -> list[_Pass]:
    """The backward passes behind a statement, in the same block, in their order."""
    block, name = block_of(file, statement), _name_of(statement)
    found: list[_Pass] = []
    uses: list[ast.Name] = []
    steps: set[str] = set()
    is_over = False  # its backward call was seen
    for each in block[block.index(statement) :]:
        for node in sorted(_names_and_calls(each), key=_end):
            method = node.func if isinstance(node, ast.Call) else None
            is_backward = isinstance(method, ast.Attribute) and method.attr == "backward"
            is_use = isinstance(node, ast.Name) and node.id == name and each is not statement
            if is_over and (is_backward or is_use):
                found.append(_Pass(frozenset(steps), tuple(uses)))
                uses, steps, is_over = [], set(), False
            is_over = is_over or is_backward
            if is_use and isinstance(node, ast.Name):
                uses.append(node)
            elif isinstance(method, ast.Attribute) and method.attr == "step" and is_over:
                steps.add(file.source(method.value))
    return [*found, _Pass(frozenset(steps), tuple(uses))] if is_over else found


def _names_and_calls(statement: ast.stmt) -> list[ast.Name | ast.Call]:
    return [
        node
        for node in inside(statement, ast.Call, ast.Name)
        if isinstance(node, ast.Call) or isinstance(node.ctx, ast.Load)
    ]


def _end(node: ast.expr) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


def _name_of(statement: ast.stmt | None) -> str:
    """`fake` of `fake = G(z).detach()`."""
    alone = isinstance(statement, ast.Assign) and len(statement.targets) == 1
    target = statement.targets[0] if alone and isinstance(statement, ast.Assign) else None
    return target.id if isinstance(target, ast.Name) else ""


def _optimizers(code: Code, file: File, value: ast.expr) -> tuple[frozenset[str], frozenset[str]]:
    """The names of the optimisers of the network that a value comes from, and of the others."""
    if isinstance(value, ast.Name):
        bound = binding_of(file, value)
        value = value if bound is None or bound.path or bound.value is None else bound.value
    networks: set[str] = set()
    func: ast.expr | None = value.func if isinstance(value, ast.Call) else None
    while isinstance(func, ast.Attribute | ast.Name):  # `G` of `G(z)`, `self.G` of `self.G.sample(z)`
        networks.add(ast.unparse(func))
        func = func.value if isinstance(func, ast.Attribute) else None
    own: set[str] = set()
    others: set[str] = set()
    for each in code.files():
        for node in inside(each.tree, ast.Assign):
            if isinstance(node.value, ast.Call):
                given = _given_parameters(node.value)
                names = {ast.unparse(target) for target in node.targets}
                (own if given & (networks - {"self"}) else others if given else set()).update(names)
    return frozenset(own), frozenset(others - own)


def _given_parameters(call: ast.Call) -> set[str]:
    """`G` of `Adam(G.parameters())`."""
    return {
        ast.unparse(node.value)
        for node in inside(call, ast.Attribute)
        if node.attr in ("parameters", "named_parameters")
    }


def _is_cut(file: File, use: ast.Name) -> bool:
    holder = file.parent(use)
    return isinstance(holder, ast.Attribute) and holder.attr in ("detach", "data")
