"""Batches that are cut by hand, put into a random order."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from netmend.changes.case import Case
from netmend.changes.data.data_holders import holder, is_array, training_inputs, training_targets
from netmend.changes.data.data_origins import Flow, Step
from netmend.program.source.bindings import binding_of
from netmend.program.source.naming import imports, new_variable, spelled
from netmend.program.source.writing import insert_before, replace
from netmend.program.text.file import File
from netmend.program.text.queries import inside, last_name, stored_in, variables_in
from netmend.vocabulary.change import FileEdits

_PIECES = ("split", "chunk")
_ORDERS = ("arange", "range")


def in_random_order(case: Case) -> FileEdits:
    """Edits that let each pass over the data draw its batches from a fresh permutation; none where it cannot be told how."""
    inputs, targets = training_inputs(case), training_targets(case)
    for flow in inputs:
        for step in flow:
            edits: FileEdits = ()
            if isinstance(step.node, ast.Subscript):
                edits = _slices(flow, step, targets) or _rows(flow, step)
            elif isinstance(step.node, ast.Call) and last_name(step.node.func) in _PIECES:
                edits = _pieces(flow, step, targets)
            elif isinstance(step.node, ast.Call) and last_name(step.node.func) == "zip":
                edits = _side_by_side(flow, step)
            if edits:
                return edits
    if not inputs:  # a network that is no module: only its loss was seen
        for flow in targets:
            for step in flow:
                if isinstance(step.node, ast.Subscript) and (edits := _slices(flow, step, targets)):
                    return edits
    return ()


def first_index(node: ast.Subscript) -> ast.expr:
    """How rows are chosen: `i : j` of `x[i : j, 0]`."""
    return node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice


def _slices(flow: Flow, step: Step, targets: Iterable[Flow]) -> FileEdits:
    """`x[i : i + size]` → `x[order[i : i + size]]`, and the same for everything that is cut alike."""
    file, node = step.file, step.node
    loop = file.loop(node)
    if loop is None or not isinstance(node, ast.Subscript):
        return ()
    index = first_index(node)
    if not isinstance(index, ast.Slice) or not moves(index, loop):
        return ()
    cuts = [
        other
        for other in inside(loop, ast.Subscript)
        if isinstance(other.ctx, ast.Load) and ast.dump(first_index(other)) == ast.dump(index)
    ]
    # Inputs alone in a new order would part them from their targets.
    known = {id(part.node) for target in targets for part in target}
    if len(cuts) < 2 or not any(id(other) in known for other in cuts):
        return ()
    order, first, extra = _permutation(file, flow, node.value)
    edits = insert_before(file, loop, f"{order} = {first}")
    for other in cuts:
        at = first_index(other)
        text = f"{order}[{file.source(at)}]"
        edits = (*edits, *replace(file, at, text))
    return (*edits, *extra)


def moves(index: ast.expr, loop: ast.For | ast.While) -> bool:
    """Whether an index depends on something that changes from round to round."""
    return not variables_in(index).isdisjoint(stored_in(loop))


def _rows(flow: Flow, step: Step) -> FileEdits:
    """`for i in range(len(x))` with `x[i]`, or `rows = order[i:j]` with an order that is none."""
    file, node = step.file, step.node
    if not isinstance(node, ast.Subscript) or file.loop(node) is None:
        return ()
    index = first_index(node)
    if not isinstance(index, ast.Name):
        return ()
    binding = binding_of(file, index)
    if binding is None:
        return ()
    value = binding.value
    if isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name):  # rows = order[i:j]
        made = binding_of(file, value.value)
        value = made.value if made is not None and not made.path else value
    elif isinstance(value, ast.Call) and last_name(value.func) in _PIECES:  # for rows in order.split(size)
        inner = value.func.value if isinstance(value.func, ast.Attribute) else None
        made = binding_of(file, inner) if isinstance(inner, ast.Name) else None
        value = (
            inner
            if isinstance(inner, ast.Call)
            else made.value
            if made is not None and not made.path
            else value
        )
    if not isinstance(value, ast.Call) or last_name(value.func) not in _ORDERS or len(value.args) != 1:
        return ()
    count = file.source(value.args[0])
    package = imports(file).get(_root(value.func), "")
    if package.startswith("numpy"):
        name, extra = spelled(file, "numpy.random.permutation")
        return (*replace(file, value, f"{name}({count})"), *extra)
    name, extra = spelled(file, "torch.randperm")
    listed = ".tolist()" if last_name(value.func) == "range" else ""
    return (*replace(file, value, f"{name}({count}){listed}"), *extra)


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _pieces(flow: Flow, step: Step, targets: Iterable[Flow]) -> FileEdits:
    """`zip(x.split(n), y.split(n))` → `zip(x[order].split(n), y[order].split(n))`."""
    file, statement = step.file, step.file.statement(step.node)
    if statement is None:
        return ()
    pieces = list(file.calls(*_PIECES, inside=_header(statement)))
    whole = [(call, _whole(file, call)) for call in pieces]
    known = {id(part.node) for target in targets for part in target}
    if len(whole) < 2 or not any(id(call) in known for call, _ in whole):
        return ()
    data = _whole(file, step.node) if isinstance(step.node, ast.Call) else None
    if data is None or any(part is None for _, part in whole):
        return ()
    order, first, extra = _permutation(file, flow, data)
    edits = insert_before(file, statement, f"{order} = {first}")
    for _, part in whole:
        if part is not None:
            edits = (*edits, *replace(file, part, f"{file.source(part)}[{order}]"))
    return (*edits, *extra)


def _header(statement: ast.stmt) -> ast.AST:
    """What a statement evaluates itself, without its block."""
    return statement.iter if isinstance(statement, ast.For) else statement


def _whole(file: File, call: ast.Call) -> ast.expr | None:
    """What a `split` cuts: `x.split(n)`, `torch.split(x, n)`."""
    holds = call.func.value if isinstance(call.func, ast.Attribute) else None
    if holds is not None and _root(holds) not in imports(file):
        return holds if isinstance(holds, ast.Name | ast.Attribute) else None
    given = call.args[0] if call.args else None
    return given if isinstance(given, ast.Name | ast.Attribute) else None


def _side_by_side(flow: Flow, step: Step) -> FileEdits:
    """`for a, b in zip(x, y)` over samples."""
    file, call = step.file, step.node
    statement = file.statement(call)
    if not isinstance(call, ast.Call) or not isinstance(statement, ast.For) or len(call.args) < 2:
        return ()
    if not all(isinstance(part, ast.Name | ast.Attribute) for part in call.args):
        return ()
    if step.path[2:] or any(s.path for s in flow[flow.index(step) + 1 :][:1] if s.path not in ((), ("*",))):
        return ()
    held = holder(flow)
    if held is None or is_array(flow, held) is None:
        return ()  # perhaps two loaders
    order, first, extra = _permutation(file, flow, call.args[0])
    edits = insert_before(file, statement, f"{order} = {first}")
    for part in call.args:
        edits = (*edits, *replace(file, part, f"{file.source(part)}[{order}]"))
    return (*edits, *extra)


def _permutation(file: File, flow: Flow, data: ast.expr) -> tuple[str, str, FileEdits]:
    """A name for a new order, the expression that draws it, and the imports it needs."""
    held = holder(flow)
    array = held is not None and is_array(flow, held)
    name, extra = spelled(file, "numpy.random.permutation" if array else "torch.randperm")
    return new_variable(file, "order", "perm", "shuffled"), f"{name}(len({file.source(data)}))", extra
