"""Where a penalty on the weights is written in the user's source: the line that measures their size, and the factor it is multiplied with."""

from __future__ import annotations

import ast

from netmend.localise.case import Case
from netmend.localise.lines.follow import value_origin
from netmend.program.text.queries import inside, last_name, site_of
from netmend.vocabulary import Site

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
