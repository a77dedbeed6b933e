"""What a program does with outputs: reading that follows when they change from probabilities to scores, and scores for the loss alone."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from netmend.changes.case import Case
from netmend.changes.loss.losses import criterion_of
from netmend.diagnose.measures.heads import Head
from netmend.program.source.dataflow import Use, uses
from netmend.program.source.naming import spelled
from netmend.program.source.writing import once, replace, wrap
from netmend.program.text.file import File
from netmend.program.text.queries import last_name
from netmend.program.text.sources import Code
from netmend.vocabulary import LossFact
from netmend.vocabulary.change import FileEdit, FileEdits

_ROUNDING = ("round", "rint", "bool", "around")
_LOGARITHMS = ("log", "log2", "log10")  # of probabilities; scores may be negative
_ORDER = ast.Gt | ast.GtE | ast.Lt | ast.LtE
Value = tuple[File, ast.expr]


def beside(edits: Iterable[FileEdit], others: Iterable[FileEdit]) -> FileEdits:
    """The edits that do not lie within one of the others."""
    taken = list(others)
    return tuple(edit for edit in edits if not any(_holds(other, edit) for other in taken))


def innermost(edits: Iterable[FileEdit]) -> FileEdits:
    """Edits without those that others lie within."""
    found = once(edits)
    return tuple(e for e in found if not any(o is not e and _holds(e, o) for o in found))


def _holds(outer: FileEdit, inner: FileEdit) -> bool:
    first, second = outer.edit, inner.edit
    return (
        outer.file == inner.file
        and (first.line, first.column) <= (second.line, second.column)
        and (second.end_line, second.end_column) <= (first.end_line, first.end_column)
    )


def scores_for_probabilities(code: Code, values: Iterable[Value], function: str = "sigmoid") -> FileEdits:
    """Values were probabilities and are scores now: thresholds and rounding have to follow."""
    edits: list[FileEdit] = []
    for file, value in values:
        for use in uses(code, file, value):
            edits.extend(_follow(use, function))
    return once(edits)


def _follow(use: Use, function: str) -> Iterator[FileEdit]:
    file, user = use.file, use.user
    if isinstance(user, ast.Compare) and len(user.ops) == 1 and isinstance(user.ops[0], _ORDER):
        limit = user.comparators[0] if user.left is use.value else user.left
        number = limit.value if isinstance(limit, ast.Constant) else None
        if isinstance(number, int | float) and not 0 < number < 1:
            return
        if number == 0.5 and function == "sigmoid":
            yield from replace(file, limit, "0") or in_f_string(file, user, ("0.5", "0"))
        elif isinstance(limit, ast.Constant | ast.Name | ast.Attribute):
            yield from probabilities(file, use.value, function)
    elif (use.method or use.function) in (*_ROUNDING, *_LOGARITHMS):
        yield from probabilities(file, use.value, function)


def in_f_string(file: File, node: ast.expr, change: tuple[str, str]) -> FileEdits:
    """Change a part of an expression inside an f-string, where nodes have no places of their own before Python 3.12."""
    around = next((above for above in file.parents(node) if isinstance(above, ast.JoinedStr)), None)
    wanted = ast.unparse(node)
    if around is None or wanted.count(change[0]) != 1:
        return ()
    source = file.source(around)
    if source.count(wanted) != 1:
        return ()
    start = file.span(around)[0] + source.index(wanted) + wanted.index(change[0])
    return file.edit(start, start + len(change[0]), change[1])


def probabilities(file: File, value: ast.expr, function: str) -> FileEdits:
    """Put the function around a value: `out` → `torch.sigmoid(out)`."""
    inner = value
    if function == "softmax":  # over the classes, so before one of them is picked
        while isinstance(inner, ast.Subscript | ast.Call) and not isinstance(inner, ast.Name):
            below = inner.value if isinstance(inner, ast.Subscript) else _object(inner)
            if below is None:
                break
            inner = below
    name, extra = spelled(file, f"torch.{function}")
    return (*wrap(file, inner, f"{name}(", ", dim=1)" if function == "softmax" else ")"), *extra)


def _object(call: ast.Call) -> ast.expr | None:
    """What a method is called on, when it only reshapes or moves."""
    plain = ("squeeze", "view", "reshape", "cpu", "detach", "numpy", "flatten", "float")
    if isinstance(call.func, ast.Attribute) and last_name(call.func) in plain:
        return call.func.value
    return None


# The softmax of the logarithms of probabilities is these probabilities; what else reads them stays as it is.
_LOGARITHM = ".clamp_min(1e-8).log()"


def scores_again(case: Case, head: Head) -> FileEdits:
    """The logarithm around what cross entropy is given, in every call that was seen with probabilities or not seen at all."""
    criterion = criterion_of(case, head.loss)
    if criterion is None or criterion.kind != "cross_entropy":
        return ()
    if head.class_axis not in head.given.normalised_axes or (head.width or 0) < 2:
        return ()
    seen = [p for p in criterion.pairs if p.fact is None or _takes_probabilities(p.fact, head.class_axis)]
    return once(edit for pair in seen for edit in wrap(pair.file, pair.prediction, "", _LOGARITHM))


def _takes_probabilities(fact: LossFact, axis: int) -> bool:
    return any(operand.role == "prediction" and axis in operand.normalised_axes for operand in fact.operands)
