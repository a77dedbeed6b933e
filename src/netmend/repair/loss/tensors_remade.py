"""Numbers that were taken out of tensors and made a tensor again: `torch.tensor([float(f(x)) for x in rows])`, `torch.tensor(a + b.item())`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.localise.source import Function, last_name
from netmend.localise.values import is_cut
from netmend.repair.loss.graph_cuts import MAKERS, replaced, value_before
from netmend.repair.source.code import File
from netmend.repair.source.naming import qualified, spelled
from netmend.repair.source.writing import replace, unwrap_call
from netmend.vocabulary.change import FileEdit, FileEdits

_LISTS = (ast.List, ast.ListComp, ast.GeneratorExp)


def kept_as_tensors(file: File, function: Function) -> FileEdits:
    """The function with the tensors themselves; nothing when none of its tensors is made of numbers that came from others."""
    edits: list[FileEdit] = []
    for call in file.calls(*MAKERS, inside=function):
        if not call.args or not qualified(file, call.func).startswith("torch"):
            continue
        first = call.args[0]
        pieces = list(dict.fromkeys(_pieces(function, first)))
        numbers = [node for piece in pieces for node in _numbers(piece)]
        if not numbers:
            continue
        for node in dict.fromkeys(numbers):
            edits += replaced(file, node, value_before(node))
        if any(isinstance(piece, _LISTS) for piece in pieces if piece is not call):
            stack, extra = spelled(file, "torch.stack", like=call.func)
            inner = [edit for edit in edits if _inside(file, first, edit)]
            if inner:  # what changes within the argument stays a change of its own
                edits += (*replace(file, call.func, stack), *extra)
            else:
                edits += (*replace(file, call, f"{stack}({file.source(first)})"), *extra)
        elif not any(_inside(file, first, edit) for edit in edits):
            edits += unwrap_call(file, call, first)
    return tuple(dict.fromkeys(edits))


def _inside(file: File, node: ast.expr, edit: FileEdit) -> bool:
    place = file.place(node)
    start = (edit.edit.line, edit.edit.column)
    return (place.line, place.column) <= start <= (place.end_line, place.end_column)


def _pieces(function: Function, value: ast.expr, most: int = 3) -> Iterator[ast.expr]:
    """An expression, and those that the names in it were given or filled with."""
    yield value
    names = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)} if most else set()
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and last_name(node.targets[0]) in names:
            yield from _pieces(function, node.value, most - 1)
        elif isinstance(node, ast.Call) and last_name(node.func) == "append" and node.args:
            holder = node.func.value if isinstance(node.func, ast.Attribute) else node.func
            if last_name(holder) in names:
                yield node.args[0]


def _numbers(piece: ast.expr) -> Iterator[ast.expr]:
    """The outermost expressions in it that make numbers of tensors."""
    if isinstance(piece, ast.Call) and last_name(piece.func) == "float" and len(piece.args) == 1:
        if isinstance(value_before(piece), ast.Call | ast.Name | ast.Subscript):
            yield piece
        return
    if is_cut(piece) and last_name(getattr(piece, "func", piece)) in ("item", "detach", "data", "tolist"):
        yield piece
        return
    for child in ast.iter_child_nodes(piece):
        if isinstance(child, ast.expr):
            yield from _numbers(child)
        elif isinstance(child, ast.keyword):
            yield from _numbers(child.value)
