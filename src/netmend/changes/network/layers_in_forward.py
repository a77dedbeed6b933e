"""Layers that are made or forgotten in forward(): what they need to be made in `__init__`, and values that nobody uses."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from netmend.changes.case import Case
from netmend.changes.loop.loop_code import names_in
from netmend.library import layers as library_layers
from netmend.library.operations import RESHAPES
from netmend.program.source.writing import delete_lines
from netmend.program.text.file import File
from netmend.program.text.queries import Function, inside, last_name
from netmend.vocabulary import ModuleFact
from netmend.vocabulary.change import FileEdits

LAYERS = (
    *(name for layer in library_layers.LAYERS if layer.weights for name in layer.names),
    *("Sequential", "Parameter"),
)


def is_made_anew(file: File, call: ast.Call) -> bool:
    """Whether a layer is created in another method than `__init__`; the layers of a stack go with it."""
    function = file.function(call)
    inner = any(
        isinstance(above, ast.Call) and last_name(above.func) in LAYERS for above in file.parents(call)
    )
    return function is not None and file.owner(call) is not None and function.name != "__init__" and not inner


def is_property(function: Function | None) -> bool:
    decorators = () if function is None else function.decorator_list
    return any(last_name(decorator) == "property" for decorator in decorators)


def function_gone(file: File, function: Function) -> FileEdits:
    """Without a function, its decorators and the empty lines behind it."""
    lines = file.lines
    first = min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])
    last, count = function.end_lineno or function.lineno, file.text.count("\n") + 1
    while last < count and not lines.content(last + 1).strip():
        last += 1
    return delete_lines(file, first, last)


def with_numbers(case: Case, file: File, function: Function, call: ast.Call, local: set[str]) -> str:
    """The call with what the method around it was given and with the widths that were seen, as `__init__` knows none of its names."""
    text, begin = file.source(call), file.span(call)[0]
    given, caller = _given(file, function)
    found: list[tuple[int, int, str]] = []
    for node in inside(call, ast.Call):
        for value in (*node.args, *(k.value for k in node.keywords)):
            names = names_in(value) & local
            if not names or any(_is_layer(part) for part in inside(value, ast.Call)):
                continue
            width = None
            if isinstance(value, ast.Name) and value.id in given:
                new = given[value.id]
            elif node.args[:1] == [value]:
                width = (
                    width_of(case, file, caller[0], caller[1])
                    if caller
                    else width_of(case, file, function, call)
                )
                new = "" if width is None else str(width)
            else:
                new = ""
            if not new:
                return ""
            start, end = file.span(value)
            found.append((start - begin, end - begin, new))
    for start, end, new in sorted(found, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _is_layer(call: ast.Call) -> bool:
    return last_name(call.func) in LAYERS


def _given(file: File, function: Function) -> tuple[dict[str, str], tuple[Function, ast.Call] | None]:
    """What the only call of a method gives for its parameters, where that can be said in `__init__` too; and that call."""
    calls = [call for call in file.calls(function.name) if isinstance(call.func, ast.Attribute)]
    around = file.function(calls[0]) if len(calls) == 1 else None
    if around is None:
        return {}, None
    names = [argument.arg for argument in function.args.args[1:]]
    values = dict(zip(names, calls[0].args, strict=False)) | {
        k.arg: k.value for k in calls[0].keywords if k.arg
    }
    plain = {
        name: file.source(value)
        for name, value in values.items()
        if isinstance(value, ast.Constant)
        or (isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name))
    }
    return plain, (around, calls[0])


def spans_line(node: ast.stmt | None, line: int) -> bool:
    return node is not None and node.lineno <= line <= (node.end_lineno or node.lineno)


def width_of(case: Case, file: File, function: Function, call: ast.Call) -> int | None:
    """The width of what reaches a layer: that of the output of the layer called before it, else of the model's input."""
    before = [
        module
        for module in case.trace.all(ModuleFact)
        if module.called is not None
        and str(case.sources.path(module.called.file)) == file.file
        and function.lineno <= module.called.line < call.lineno
        and module.output_shapes
    ]
    model = case.model
    shape = (
        max(before, key=lambda module: (module.called.line, module.called.column or 0)).output_shapes[0]  # type: ignore[union-attr]
        if before
        else model.input_shapes[0]
        if model is not None and model.input_shapes
        else ()
    )
    if len(shape) < 2:
        return None
    flat = any(
        last_name(each.func) in RESHAPES for each in file.calls(inside=function) if each.lineno <= call.lineno
    )
    if flat:
        return math.prod(shape[1:])
    return shape[1] if last_name(call.func).startswith(("Conv", "BatchNorm")) else shape[-1]


_JOINING = (
    "cat",
    "concat",
    "concatenate",
    "stack",
    "hstack",
    "vstack",
    "bmm",
    "matmul",
    "add",
    "mul",
    "cosine_similarity",
)


def given_twice(file: File, nodes: list[ast.AST], name: str) -> Iterator[ast.expr]:
    """The second of two equal parts of a joining call or of a sum: `torch.cat([a, a])`, `a + a`."""
    for node in nodes:
        parts: list[ast.expr] = []
        if isinstance(node, ast.Call) and last_name(node.func) in _JOINING and node.args:
            first = node.args[0]
            parts = list(first.elts) if isinstance(first, ast.List | ast.Tuple) else node.args[:2]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult | ast.MatMult):
            parts = [node.left, node.right]
        texts = [file.source(part) for part in parts]
        if name not in texts:
            for index, text in enumerate(texts):
                if text in texts[:index] and isinstance(parts[index], ast.Name):
                    yield parts[index]


def taken_instead(call: ast.Call, statement: ast.stmt, after: list[ast.AST]) -> Iterator[ast.Name]:
    """The next use of the value that the part was given."""
    value = call.args[0] if call.args else None
    if not isinstance(value, ast.Name):
        return
    end = statement.end_lineno or statement.lineno
    uses = [
        node
        for node in after
        if isinstance(node, ast.Name)
        and node.id == value.id
        and isinstance(node.ctx, ast.Load)
        and node.lineno > end
    ]
    if uses and not any(
        isinstance(node, ast.Name)
        and node.id == value.id
        and isinstance(node.ctx, ast.Store)
        and node.lineno > end
        for node in after
    ):
        yield min(uses, key=lambda node: (node.lineno, node.col_offset))
