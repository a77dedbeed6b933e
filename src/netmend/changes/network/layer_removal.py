"""Taking a layer or a call of a function out of a network; what it was given goes on as it is."""

from __future__ import annotations

import ast

from netmend.changes.case import Case
from netmend.changes.network.model_layers import in_stack
from netmend.program.source.naming import qualified
from netmend.program.source.writing import (
    delete_argument,
    delete_element,
    delete_statement,
    replace,
    unwrap_call,
    unwrap_method,
)
from netmend.program.text.file import File
from netmend.program.text.queries import inside, last_name
from netmend.vocabulary import ModuleFact
from netmend.vocabulary.change import FileEdits


def layer_removed(case: Case, module: ModuleFact) -> FileEdits:
    """Without a layer: out of the stack that it stands in, or its call in forward() undone (the last one of several)."""
    if in_stack(case, module):
        found = case.code.call_at(module.created)
        return () if found is None else _out_of_stack(*found)
    found = case.code.call_at(module.called)
    if found is None:
        return ()
    file, call = found
    function = file.function(call)
    same = [
        node for node in inside(function or file.tree, ast.Call) if ast.dump(node.func) == ast.dump(call.func)
    ]
    last = max(same, key=lambda node: (node.end_lineno or 0, node.end_col_offset or 0))
    return call_removed(file, last)


def call_removed(file: File, call: ast.Call) -> FileEdits:
    """`F.dropout(x, 0.5)` → `x`; a statement that would say `x = x` goes as a whole."""
    is_method = isinstance(call.func, ast.Attribute) and not call.args and not qualified(file, call.func)
    inner = call.func.value if isinstance(call.func, ast.Attribute) and is_method else None
    inner = inner or (call.args[0] if call.args else None)
    if inner is None:
        return ()
    statement = file.statement(call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and statement.value is call else None
    if statement is not None and target is not None and file.source(target) == file.source(inner):
        return delete_statement(file, statement)
    return unwrap_method(file, call) if is_method else unwrap_call(file, call, inner)


def _out_of_stack(file: File, call: ast.Call) -> FileEdits:
    parent = file.parent(call)
    if isinstance(parent, ast.List | ast.Tuple):
        return delete_element(file, parent, call)
    if not isinstance(parent, ast.Call) or call not in parent.args:
        return ()
    statement = file.statement(parent)
    if last_name(parent.func) in ("append", "add_module", "register_module"):
        whole = isinstance(statement, ast.Expr) and statement.value is parent
        return delete_statement(file, statement) if whole and statement is not None else ()
    if last_name(parent.func) == "Sequential":
        return delete_argument(file, parent, call)
    name = replace(file, call, _identity(file, call))
    return name


def _identity(file: File, call: ast.Call) -> str:
    base = call.func.value if isinstance(call.func, ast.Attribute) else None
    return f"{file.source(base)}.Identity()" if base is not None else "nn.Identity()"
