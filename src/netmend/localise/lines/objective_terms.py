"""Terms of an objective in the user's source: penalties on weights with their factors, and terms that are added or subtracted."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.localise.case import Case
from netmend.program.settings import value_origin
from netmend.program.text.queries import inside, last_name, site_of
from netmend.vocabulary import LossFact, Site

_SIZES = ("abs", "pow", "norm", "square", "square_", "vector_norm", "l1_loss")


def penalty_line(case: Case, file: str, layer: str = "") -> Site | None:
    """`sum(p.abs().sum() for p in model.parameters())`: a comprehension or loop over parameters that measures their size; for one layer,
    `model.fc1.weight.abs().sum()`."""
    for other in case.sources.files(near=file) if layer else ():
        for part in case.sources.nodes(other, ast.expr):
            if _measures_size(part) and _weight_of(part, layer):
                return site_of(other, part)
    for other in case.sources.files(near=file):
        for node in case.sources.nodes(other):
            if isinstance(node, ast.GeneratorExp | ast.ListComp | ast.For):
                over = node.iter if isinstance(node, ast.For) else node.generators[0].iter
                body = node.body if isinstance(node, ast.For) else [node.elt]
                sizes = any(_measures_size(part) for written in body for part in inside(written, ast.expr))
                if sizes and any(
                    last_name(part) in ("parameters", "named_parameters") or _weight_of(part, layer)
                    for part in inside(over, ast.expr)
                ):
                    inner = node.body[0] if isinstance(node, ast.For) else node
                    return site_of(other, inner)
    return None


def _weight_of(node: ast.AST, layer: str) -> bool:
    """Whether `….fc1.weight` or `model[0].weight` stands in it, by the last part of the layer's name."""
    own = layer.rpartition(".")[2]
    for part in inside(node, ast.Attribute):
        if part.attr == "weight" and own:
            holder = part.value
            if isinstance(holder, ast.Subscript) and isinstance(holder.slice, ast.Constant):
                named = str(holder.slice.value)
            else:
                named = last_name(holder)
            if named == own:
                return True
    return False


def _name_at(case: Case, site: Site) -> str:
    """The name that a line's value is given: `penalty = …`."""
    for node in case.sources.nodes(site.file, ast.Assign):
        if node.lineno <= site.line <= (node.end_lineno or node.lineno):
            return last_name(node.targets[0])
    return ""


def factor_line(case: Case, penalty: Site | None) -> Site | None:
    """Where the strength of a penalty is set: the factor it is multiplied with, at or around the line that measures it.

    A penalty that a function returns is multiplied where that function is called.
    """
    if penalty is None:
        return None
    function = case.sources.function_around(penalty)
    wanted = [] if function is None else [function.name]
    named = _name_at(case, penalty)
    for file in case.sources.files(near=penalty.file):
        for node in case.sources.nodes(file):
            if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
                continue
            for side, factor in ((node.right, node.left), (node.left, node.right)):
                called = isinstance(side, ast.Call) and last_name(side.func) in wanted
                called = called or (isinstance(side, ast.Name) and side.id == named and file == penalty.file)
                here = file == penalty.file and side.lineno <= penalty.line <= (
                    side.end_lineno or side.lineno
                )
                if (called or (here and isinstance(side, ast.Call))) and isinstance(
                    factor, ast.Constant | ast.Name | ast.Attribute
                ):
                    return value_origin(case.sources, file, factor)
    return penalty


def _measures_size(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return last_name(node.func) in _SIZES
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow)


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
