"""Real numbers on a line that makes whole ones of them, or that subtracts from bytes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.changes.case import Case
from netmend.program.source.dataflow import resolved
from netmend.program.source.naming import spelled
from netmend.program.source.writing import replace, wrap
from netmend.program.text.file import File
from netmend.program.text.queries import inside, last_name
from netmend.vocabulary.change import FileEdits

_WHOLE = ("int", "long", "short", "byte", "char", "uint8", "int8", "int16", "int32", "int64", "ubyte")


def real_at_line(case: Case) -> Iterator[tuple[str, FileEdits]]:
    """Ways to keep real numbers on the line that the fault stands on."""
    found = case.code.statement_at(case.site)
    if found is None:
        return
    file, statement = found
    for call in inside(statement, ast.Call):
        yield from _conversions(file, call)
    for node in inside(statement, ast.BinOp):
        value = node.left if isinstance(node.op, ast.Sub) else None
        plain = isinstance(value, ast.Name | ast.Attribute | ast.Subscript | ast.Call)
        if value is not None and plain and not _is_real(file, value):
            # Right for arrays and for tensors: the product with a real number is real.
            yield "real numbers before subtracting", wrap(file, value, "1.0 * ", "")
            return


def _conversions(file: File, call: ast.Call) -> Iterator[tuple[str, FileEdits]]:
    """`.astype(int)`, `.long()`, `dtype=torch.long`: float32 instead."""
    name = last_name(call.func)
    if name == "astype" and len(call.args) == 1 and _is_whole(call.args[0]):
        yield "float32 instead of whole numbers", replace(file, call.args[0], '"float32"')
    elif isinstance(call.func, ast.Attribute) and name in _WHOLE and not call.args:
        text = file.source(call.func.value)
        yield "real numbers instead of whole ones", replace(file, call, f"{text}.float()")
    for keyword in call.keywords:
        if keyword.arg == "dtype" and _is_whole(keyword.value):
            new, extra = spelled(file, "torch.float32")
            is_torch = ast.unparse(keyword.value).startswith("torch")
            edits = (
                (*replace(file, keyword.value, new), *extra)
                if is_torch
                else replace(file, keyword.value, '"float32"')
            )
            yield "float32 instead of whole numbers", edits


def _is_real(file: File, value: ast.expr) -> bool:
    """Whether the text says so: `image.astype(np.float32)`, also where the name was set."""
    texts = (file.source(value), file.source(resolved(file, value)))
    return any(word in text for text in texts for word in ("float", "double", "half", "1.0"))


def _is_whole(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return node.value in _WHOLE
    return last_name(node) in _WHOLE
