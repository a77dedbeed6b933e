"""Numbers that were taken out of tensors and made a tensor again: `torch.tensor([float(f(x)) for x in rows])`, `torch.tensor(a + b.item())`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.changes.loss.graph_cuts import MAKERS, replaced, value_before
from netmend.localise.lines.values import is_cut
from netmend.program.source.naming import qualified, spelled
from netmend.program.source.writing import delete_argument, replace
from netmend.program.text.file import File
from netmend.program.text.queries import holds, inside, last_name, variables_in
from netmend.vocabulary.change import FileEdit, FileEdits

_LISTS = (ast.List, ast.ListComp, ast.GeneratorExp)


def remade_around(file: File, node: ast.expr) -> FileEdits:
    """The tensor that a part of the source makes of numbers, or the numbers that one is made of later, kept as tensors."""
    function = file.function(node)
    loops = [each for each in file.parents(node) if isinstance(each, ast.For | ast.While)]
    for scope in (*loops, *(() if function is None else (function,))):
        edits = kept_as_tensors(file, scope, about=node)
        if edits:
            return edits
    return ()


def is_made_of_numbers(file: File, call: ast.Call, value: ast.expr) -> bool:
    """Whether the name that a tensor is made from stands for plain numbers or a list, which nothing can be differentiated by."""
    value = value_before(value)
    if not isinstance(value, ast.Name):
        return False
    loops = [each for each in file.parents(call) if isinstance(each, ast.For | ast.While)]
    scope = file.function(call) or (loops[-1] if loops else file.tree)
    pieces = [piece for piece in _pieces(scope, value, most=1) if not holds(piece, call)]
    return any(isinstance(piece, _LISTS) or any(True for _ in _numbers(piece)) for piece in pieces)


def kept_as_tensors(file: File, scope: ast.AST, about: ast.expr | None = None) -> FileEdits:
    """A part of the source with the tensors themselves; nothing when none of its tensors is made of numbers that came from others."""
    edits: list[FileEdit] = []
    for call in file.calls(*MAKERS, inside=scope):
        if not call.args or not qualified(file, call.func).startswith("torch"):
            continue
        pieces = list(dict.fromkeys(_pieces(scope, call.args[0])))
        is_meant = about is None or call is about or any(holds(piece, about) for piece in pieces)
        if is_meant and not any(map(_is_of_numpy, pieces)):
            edits += _made_of_tensors(file, call, pieces)
    return tuple(dict.fromkeys(edits))


def _made_of_tensors(file: File, call: ast.Call, pieces: list[ast.expr]) -> list[FileEdit]:
    first, edits = call.args[0], list[FileEdit]()
    numbers = dict.fromkeys(node for piece in pieces for node in _numbers(piece))
    if not numbers:
        return edits
    is_list = any(isinstance(piece, _LISTS) for piece in pieces)
    for node in numbers:
        value = value_before(node)
        whole = is_list and last_name(getattr(node, "func", node)) in ("item", "float")
        if whole and not _is_scalar(value):  # the number of a tensor with one value, whatever its shape
            edits += replace(file, node, f"{file.source(value)}.squeeze()")
        else:
            edits += replaced(file, node, value)
    inner = any(_inside(file, first, edit) for edit in edits)
    if is_list:
        stack, extra = spelled(file, "torch.stack", like=call.func)
        if inner:  # what changes within the argument stays a change of its own
            edits += (*replace(file, call.func, stack), *extra, *_options_gone(file, call))
        else:
            edits += (*replace(file, call, f"{stack}({file.source(first)})"), *extra)
    elif not inner:
        edits += replaced(file, call, first)
    elif first in numbers:  # torch.tensor(loss.item())
        edits = [edit for edit in edits if not _inside(file, first, edit)]
        edits += replaced(file, call, value_before(first))
    else:
        edits += (*replace(file, call.func, ""), *_options_gone(file, call))
    return edits


def _options_gone(file: File, call: ast.Call) -> FileEdits:
    """Without `dtype=` and `requires_grad=`."""
    return tuple(edit for keyword in call.keywords for edit in delete_argument(file, call, keyword))


def _is_scalar(value: ast.expr) -> bool:
    """Whether a call names a reduction to one number without dimensions."""
    name = last_name(value.func).lower() if isinstance(value, ast.Call) else ""
    is_reduced = name in ("sum", "mean", "norm", "criterion", "cross_entropy") or "loss" in name
    return is_reduced or (isinstance(value, ast.Name) and "loss" in value.id.lower())


def _is_of_numpy(piece: ast.expr) -> bool:
    return any(
        (node.attr == "numpy" or (isinstance(node.value, ast.Name) and node.value.id in ("np", "numpy")))
        for node in inside(piece, ast.Attribute)
    )


def _inside(file: File, node: ast.expr, edit: FileEdit) -> bool:
    place = file.place(node)
    start = (edit.edit.line, edit.edit.column)
    return (place.line, place.column) <= start <= (place.end_line, place.end_column)


def _pieces(scope: ast.AST, value: ast.expr, most: int = 3) -> Iterator[ast.expr]:
    """An expression, and those that the names in it were given or filled with."""
    yield value
    names = variables_in(value) if most else set()
    for node in inside(scope, ast.Assign, ast.AugAssign, ast.Call):
        if isinstance(node, ast.Assign) and last_name(node.targets[0]) in names:
            yield from _pieces(scope, node.value, most - 1)
        elif isinstance(node, ast.AugAssign) and last_name(node.target) in names:
            yield node.value
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
