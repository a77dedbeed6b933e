"""Taking a layer or a call of a function out of a network; what it was given goes on as it is."""

from __future__ import annotations

import ast

from netmend.changes.case import Case
from netmend.changes.network.model_layers import in_stack
from netmend.program.source.naming import qualified, spelled
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

_SEQUENCES = ("Sequential", "OrderedDict", "ModuleList", "extend")
_ADDING = ("append", "add_module", "register_module")


def layer_removed(case: Case, module: ModuleFact) -> FileEdits:
    """Without a layer: out of the stack that it stands in, or its call in forward() undone (the last one of several)."""
    if in_stack(case, module):
        found = case.code.call_at(module.created)
        # A copy of a model stands at the line that made the whole: nothing else than the layer may go.
        if found is None or (last_name(found[1].func) in _SEQUENCES and module.kind not in _SEQUENCES):
            return ()
        return out_of_sequence(*found)
    found = case.code.call_at(module.called)
    if found is None:
        return ()
    file, call = found
    last = calls_like(file, call)[-1]
    return call_removed(file, last, next(iter(last.args), None))


def calls_like(file: File, call: ast.Call) -> list[ast.Call]:
    """Calls of the same thing in the same function, in the order in which they are made: the inner one of two ends first."""
    scope = file.function(call) or file.tree
    same = [node for node in inside(scope, ast.Call) if ast.dump(node.func) == ast.dump(call.func)]
    return sorted(same, key=lambda node: (node.end_lineno or 0, node.end_col_offset or 0))


def call_removed(file: File, call: ast.Call, value: ast.expr | None) -> FileEdits:
    """`F.dropout(x, 0.5)` → `x`, the value; a statement that would say `x = x` goes as a whole."""
    statement = file.statement(call)
    if value is None:
        return ()
    if isinstance(statement, ast.Expr | ast.Assign) and statement.value is call:
        targets = statement.targets if isinstance(statement, ast.Assign) else []  # `x.sigmoid_()` has none
        if all(file.source(target) == file.source(value) for target in targets):
            return delete_statement(file, statement)
    if isinstance(call.func, ast.Attribute) and call.func.value is value:
        return unwrap_method(file, call)
    keyword = next((keyword for keyword in call.keywords if keyword.value is value), None)
    return unwrap_call(file, call, keyword or value)


def value_of(file: File, call: ast.Call) -> ast.expr | None:
    """What a function, method or module is applied to."""
    if isinstance(call.func, ast.Attribute) and not qualified(file, call.func) and not _is_object(call.func):
        return call.func.value
    named = [keyword.value for keyword in call.keywords if keyword.arg == "input"]
    return next(iter([*(a for a in call.args if not isinstance(a, ast.Starred)), *named]), None)


def _is_object(function: ast.Attribute) -> bool:
    """`self.softmax(x)` is a call of what `self` holds; `x.softmax(1)` a method of a tensor."""
    return isinstance(function.value, ast.Name) and function.value.id == "self"


def out_of_sequence(file: File, node: ast.expr) -> FileEdits:
    """Without a part of a stack; an identity in its place where others are counted."""
    holder = file.parent(node)
    if isinstance(holder, ast.Tuple) and isinstance(file.parent(holder), ast.List | ast.Tuple):
        node, holder = holder, file.parent(holder)  # ("softmax", nn.Softmax())
    statement = file.statement(node)
    if isinstance(holder, ast.Call):
        if last_name(holder.func) in _ADDING and isinstance(statement, ast.Expr):
            return delete_statement(file, statement)
        if last_name(holder.func) == "Sequential":
            return delete_argument(file, holder, node)
    if isinstance(holder, ast.List | ast.Tuple):
        grows = isinstance(statement, ast.AugAssign) and statement.value is holder
        if grows and len(holder.elts) == 1 and statement is not None:
            return delete_statement(file, statement)
        if not _is_paired(file, holder):
            return delete_element(file, holder, node)
    if not isinstance(node, ast.Call) or not qualified(file, node.func).startswith("torch.nn."):
        return ()
    name, extra = spelled(file, "torch.nn.Identity", like=node.func)
    return (*replace(file, node, f"{name}()"), *extra)


def _is_paired(file: File, holder: ast.expr) -> bool:
    """Whether functions may be taken by number or in pairs with layers: a list of them that gets shorter would cost a layer."""
    above, statement = file.parent(holder), file.statement(holder)
    taker = file.parent(above) if isinstance(above, ast.Starred | ast.keyword) else above
    if isinstance(taker, ast.Call) and last_name(taker.func) not in _SEQUENCES:
        return True
    name = last_name(statement.targets[0]) if isinstance(statement, ast.Assign) else ""
    if not name:
        return False
    if any(last_name(given) == name for call in file.calls("zip") for given in call.args):
        return True
    return any(
        last_name(node.value) == name and not isinstance(node.slice, ast.Slice | ast.UnaryOp)
        for node in inside(file.tree, ast.Subscript)
    )
