"""An activation that is chosen elsewhere: a class or function that is handed on, or a text that selects it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.library.activations import layers
from netmend.program.settings import value_origin
from netmend.program.source.naming import qualified
from netmend.program.source.writing import replace
from netmend.program.text.file import File
from netmend.program.text.queries import inside, last_name
from netmend.program.text.sources import Code
from netmend.vocabulary.change import FileEdits

# Names under which PyTorch has an activation: (layer, function)
NAMES = {name: (layer, name) for name, layer in layers("relu", "gelu", "leaky_relu").items()}
_MOST_HOPS = 4


def classes_of(
    code: Code, file: File, node: ast.expr, kind: str, hops: int
) -> Iterator[tuple[File, ast.expr]]:
    """The expressions `nn.Sigmoid` or `torch.sigmoid` that a name stands for, wherever it was handed over."""
    if hops > _MOST_HOPS:
        return
    if is_named(file, node, kind):
        yield file, node
    elif isinstance(node, ast.IfExp):
        yield from classes_of(code, file, node.body, kind, hops + 1)
        yield from classes_of(code, file, node.orelse, kind, hops + 1)
    elif isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
        origin = value_origin(code.sources, file.file, node)
        other = code.file(origin.file)
        found = other.node_at(origin) if other is not None else None
        if other is not None and isinstance(found, ast.expr) and found is not node:
            yield from classes_of(code, other, found, kind, hops + 1)


def is_named(file: File, node: ast.expr, kind: str) -> bool:
    full = qualified(file, node)
    return full.startswith("torch.") and full.rpartition(".")[2] == kind


def from_table(code: Code, file: File, node: ast.expr, new: str) -> FileEdits:
    """`TABLE[name]`, `TABLE.get(name)`, `getattr(nn, name)`: the name is another one where it was set."""
    for _ in range(_MOST_HOPS):
        if not isinstance(node, ast.Name | ast.Attribute):
            break
        origin = value_origin(code.sources, file.file, node)
        other = code.file(origin.file)
        found = other.node_at(origin) if other is not None else None
        if other is None or not isinstance(found, ast.expr) or found is node:
            return ()
        file, node = other, found
    if isinstance(node, ast.Call) and last_name(node.func) == "getattr" and len(node.args) > 1:
        return text_at(code, file, node.args[1], NAMES[new][0])
    table: ast.expr | None = None
    selector: ast.expr | None = None
    if isinstance(node, ast.Subscript):
        table, selector = node.value, node.slice
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
        table, selector = node.func.value, node.args[0]
    if table is None or selector is None:
        return ()
    whole: ast.AST | None = table
    if not isinstance(table, ast.Dict):
        origin = value_origin(code.sources, file.file, table)
        other = code.file(origin.file)
        whole = other.node_at(origin) if other is not None else None
    keys = zip(whole.keys, whole.values, strict=True) if isinstance(whole, ast.Dict) else ()
    wanted = next((k for k, v in keys if isinstance(k, ast.Constant) and _makes(v, new)), None)
    return text_at(code, file, selector, str(wanted.value)) if wanted is not None else ()


def chosen_by_text(code: Code, file: File, call: ast.Call, new: str) -> FileEdits:
    """The activation is one of several that are told apart by a text: another text is given where it is set."""
    for selector, text in _choices(file, call, new):
        edits = text_at(code, file, selector, text)
        if edits:
            return edits
    return ()


def _choices(file: File, call: ast.Call, new: str) -> Iterator[tuple[ast.expr, str]]:
    """What the choice depends on, and the text that chooses the new activation."""
    below: ast.AST = call
    for above in file.parents(call):
        if isinstance(above, ast.Dict) and below in above.values:
            wanted = next(
                (
                    k
                    for k, v in zip(above.keys, above.values, strict=True)
                    if k is not None and _makes(v, new)
                ),
                None,
            )
            for selector in _subscripts(file, above):
                if isinstance(wanted, ast.Constant) and isinstance(wanted.value, str):
                    yield selector, file.source(wanted)
        if isinstance(above, ast.If) and below in above.body:
            function = file.function(call)
            mine = _compared(above.test)
            if mine is not None:
                for other in inside(function or file.tree, ast.If):
                    theirs = _compared(other.test) if other is not above else None
                    if theirs is None or ast.dump(theirs[0]) != ast.dump(mine[0]):
                        continue
                    if any(
                        _makes(node, new) for statement in other.body for node in inside(statement, ast.expr)
                    ):
                        yield mine[0], file.source(theirs[1])
        if isinstance(above, ast.FunctionDef | ast.ClassDef):
            return
        below = above


def _compared(test: ast.expr) -> tuple[ast.expr, ast.Constant] | None:
    """`name == "sigmoid"`, `name.lower() == "sigmoid"`."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return None
    left, right = test.left, test.comparators[0]
    if isinstance(left, ast.Call) and isinstance(left.func, ast.Attribute) and not left.args:
        left = left.func.value
    if isinstance(right, ast.Constant) and isinstance(right.value, str):
        return left, right
    return None


def _makes(node: ast.AST, new: str) -> bool:
    name = last_name(node.func) if isinstance(node, ast.Call) else last_name(node)
    return name in NAMES[new]


def _subscripts(file: File, whole: ast.Dict) -> Iterator[ast.expr]:
    """The indices with which a dictionary is read."""
    parent = file.parent(whole)
    while isinstance(parent, ast.Call):  # nn.ModuleDict({…})
        parent = file.parent(parent)
    if isinstance(parent, ast.Subscript):
        yield parent.slice
    names = (
        [ast.dump(t).replace("Store", "Load") for t in parent.targets]
        if isinstance(parent, ast.Assign)
        else []
    )
    for node in inside(file.tree if names else None, ast.Subscript, ast.Call):
        if isinstance(node, ast.Subscript) and ast.dump(node.value) in names:
            yield node.slice
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            read = node.func.attr == "get" and ast.dump(node.func.value) in names
            yield from node.args[:1] if read else ()


def text_at(code: Code, file: File, selector: ast.expr, text: str) -> FileEdits:
    """Change the text that an expression comes from, keeping the quotation marks in use there."""
    node: ast.expr | ast.stmt | None = selector
    place: File | None = file
    if not isinstance(selector, ast.Constant):
        origin = value_origin(code.sources, file.file, selector)
        place = code.file(origin.file)
        node = None if place is None else place.node_at(origin)
    if place is None or not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return ()
    mark = place.source(node)[:1]
    word = text.strip("'\"")
    return replace(place, node, f"{mark}{word}{mark}" if mark in ("'", '"') else repr(word))
