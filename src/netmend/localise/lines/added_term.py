"""The line that gives a term of an objective its sign: where it is subtracted, else where it is computed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.localise.case import Case
from netmend.program.text.queries import inside, last_name, site_of
from netmend.vocabulary import LossFact, Site


def added_term_line(case: Case, objective: LossFact) -> Site | None:
    """Where what is added to the known losses of an objective is written; None where its sum cannot be read."""
    losses = [
        loss.called
        for name in objective.settings.get("terms", ())
        for loss in case.trace.losses
        if loss.name == name
    ]
    known = next((site for site in losses if site is not None), None)
    if known is None:
        return None
    around = case.sources.function_around(known)
    scope = around if around is not None else case.sources.tree(known.file)
    if scope is None:
        return None
    made = {last_name(target): node for node in inside(scope, ast.Assign) for target in node.targets}
    for statement in ast.walk(scope):
        if not isinstance(statement, ast.Return | ast.Assign) or statement.value is None:
            continue
        terms = list(_terms(statement.value))
        holders = [made.get(last_name(term), term) for _, term in terms]
        others = [
            (added, holder)
            for (added, _), holder in zip(terms, holders, strict=True)
            if not holder.lineno <= known.line <= (holder.end_lineno or holder.lineno)
        ]
        if len(others) != 1 or len(terms) < 2:
            continue
        added, holder = others[0]
        return site_of(known.file, holder if added else statement)
    return None


def _terms(value: ast.expr, added: bool = True) -> Iterator[tuple[bool, ast.expr]]:
    """The terms of a sum, each with whether it is added; a constant factor belongs to its term."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add | ast.Sub):
        yield from _terms(value.left, added)
        yield from _terms(value.right, added == isinstance(value.op, ast.Add))
    elif isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
        named = [side for side in (value.right, value.left) if isinstance(side, ast.Name)]
        yield added, named[0] if named else value
    else:
        yield added, value
