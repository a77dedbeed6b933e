"""The line at which inputs and labels part ways: shuffled on their own, or cut at different places."""

from __future__ import annotations

import ast

from netmend.localise.case import Case
from netmend.program.text.queries import inside, last_name, site_of
from netmend.vocabulary import Site

_LABELS_OF_DATA_SETS = ("targets", "labels")  # of torchvision's
_SHUFFLES = ("randperm", "permutation", "shuffle", "shuffled", "roll", "sample")


def label_line(case: Case) -> Site | None:
    """A line that moves labels but not inputs, or cuts the two at different places; None when none is found."""
    model = next(iter(case.trace.models), None)
    near = model.called.file if model is not None and model.called is not None else ""
    for file in case.sources.files(near=near):
        for node in case.sources.nodes(file):
            if isinstance(node, ast.Assign | ast.Expr | ast.Return) and (
                _cut_differently(node) or _moved_alone(node)
            ):
                return site_of(file, node)
    return None


def labels_moved(case: Case) -> Site | None:
    """The line that surely moves labels apart: `y = y[torch.randperm(n)]`, an order that nothing else can share.

    Labels are what a data set of the library calls so, or what follows the inputs in a call: `TensorDataset(x, y)`, `zip(x, y)`.
    """
    model = next(iter(case.trace.models), None)
    near = model.called.file if model is not None and model.called is not None else ""
    for file in case.sources.files(near=near):
        for node in case.sources.nodes(file):
            if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not _drawn_anew(node.value):
                continue
            target, name = node.targets[0], last_name(node.targets[0])
            labels = isinstance(target, ast.Attribute) and name in _LABELS_OF_DATA_SETS
            if labels or (isinstance(target, ast.Name) and _second_argument(case, file, name)):
                return site_of(file, node)
    return None


def _drawn_anew(value: ast.expr) -> bool:
    """`y[torch.randperm(n)]`: indexed by a permutation that has no name."""
    return (
        isinstance(value, ast.Subscript)
        and isinstance(value.slice, ast.Call)
        and last_name(value.slice.func) in ("randperm", "permutation")
    )


def _second_argument(case: Case, file: str, name: str) -> bool:
    return any(
        len(call.args) >= 2
        and isinstance(call.args[1], ast.Name)
        and call.args[1].id == name
        and isinstance(call.args[0], ast.Name)
        and call.args[0].id != name
        for call in case.sources.calls_named(file, "TensorDataset", "zip", "train_test_split")
    )


def rewritten_argument(case: Case, called: Site | None, position: int) -> Site | None:
    """The last assignment before a call that makes its argument anew; None where the call itself holds the expression."""
    call = case.sources.call_at(called) if called is not None else None
    if called is None or call is None or position >= len(call.args):
        return None
    given, around = call.args[position], case.sources.function_around(called)
    scope = around if around is not None else case.sources.tree(called.file)
    if not isinstance(given, ast.Name) or scope is None:
        return None
    made = [
        node
        for node in inside(scope, ast.Assign)
        if node.lineno < called.line and given.id in map(last_name, node.targets)
    ]
    return site_of(called.file, max(made, key=lambda node: node.lineno)) if made else None


def _cut_differently(statement: ast.stmt) -> bool:
    """`x[i:i + n], y[i + 1:i + n + 1]`: slices of two names in one statement that do not agree."""
    value = getattr(statement, "value", None)
    if isinstance(value, ast.Yield):
        value = value.value
    if not isinstance(value, ast.Tuple) or len(value.elts) != 2:
        return False
    first, second = value.elts
    if not (isinstance(first, ast.Subscript) and isinstance(second, ast.Subscript)):
        return False
    if not (isinstance(first.slice, ast.Slice) and isinstance(second.slice, ast.Slice)):
        return False
    # The halves of a split differ too; those are cut from one name, or have an open end.
    if ast.dump(first.value) == ast.dump(second.value) or None in (first.slice.lower, second.slice.lower):
        return False
    return ast.dump(first.slice) != ast.dump(second.slice)


def _moved_alone(statement: ast.stmt) -> bool:
    """`y = y[torch.randperm(len(y))]`: an order drawn for one name and used up at once."""
    value = getattr(statement, "value", None)
    if not isinstance(statement, ast.Assign | ast.Expr) or value is None:
        return False
    if isinstance(statement, ast.Expr):
        call = statement.value
        return isinstance(call, ast.Call) and last_name(call.func) == "shuffle" and len(call.args) == 1
    return any(
        isinstance(node.slice, ast.Call) and last_name(node.slice.func) in _SHUFFLES
        for node in inside(value, ast.Subscript)
    ) or (isinstance(value, ast.Call) and last_name(value.func) in ("roll", "shuffled"))
