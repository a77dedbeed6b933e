"""Layers that no module knows because of where they were made: in a plain class, in a function that returns a list, in a local variable."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.changes.network.registration import DICTS, LISTS, is_attribute, registered_in
from netmend.program.source.naming import new_attribute, spelled
from netmend.program.source.writing import insert_after, once, rename, replace
from netmend.program.text.file import File
from netmend.program.text.queries import Function, inside, last_name, methods
from netmend.program.text.sources import Code
from netmend.vocabulary.change import FileEdit, FileEdits

# Methods of nn.Module: a class with one of its own cannot simply become a module.
_TAKEN = ("train", "eval", "parameters", "modules", "children", "to", "apply", "state_dict", "__setattr__")


def as_module(code: Code, file: File, owner: ast.ClassDef | None) -> FileEdits:
    """A plain class that holds layers becomes an nn.Module; lists of it in modules are registered too."""
    if owner is None or owner.decorator_list or owner.keywords:
        return ()
    if any(not isinstance(base, ast.Name) or base.id != "object" for base in owner.bases):
        return ()
    own = methods(owner)
    start = own.get("__init__")
    if start is None or not start.args.args or any(name in own for name in _TAKEN):
        return ()
    name, extra = spelled(file, "torch.nn.Module")
    edits: list[FileEdit] = [*_derived(file, owner, name), *extra]
    first = start.body[0]
    is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    if not any(last_name(call.func) == "super" for call in file.calls(inside=start)):
        edits += _begun(file, start, "super().__init__()", after=first if is_text else None)
    if "__call__" in own and "forward" not in own:
        edits += rename(file, own["__call__"], "forward")
    for other, assignment, value in _kept(code, file, owner.name):
        if other.owner(assignment) is not owner:
            edits += registered_in(other, value, "ModuleDict" if isinstance(value, DICTS) else "ModuleList")
    return once(edits)


def _derived(file: File, owner: ast.ClassDef, base: str) -> FileEdits:
    """`class Block:` → `class Block(nn.Module):`."""
    if owner.bases:
        return replace(file, owner.bases[0], base)
    end = file.text.index(owner.name, file.span(owner)[0] + len("class")) + len(owner.name)
    after = file.text[end : file.text.index(":", end)]
    return file.edit(end, end + len(after.rstrip()), f"({base})")


def _begun(file: File, function: Function, text: str, after: ast.stmt | None) -> FileEdits:
    """A first line of a function, behind its docstring."""
    if after is not None:
        return insert_after(file, after, text)
    first = function.body[0]
    if first.lineno == function.lineno:
        return ()
    start = file.lines.start(first.lineno)
    return file.edit(start, start, " " * file.place(first).column + text + "\n")


def _kept(code: Code, near: File, name: str) -> Iterator[tuple[File, ast.stmt, ast.expr]]:
    """Attributes that keep objects of a class, or what a function returns, in a list or dict."""
    for file in code.files(near.file):
        for call in file.calls(name):
            statement = file.statement(call)
            if statement is not None and is_attribute(statement):
                value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
                if isinstance(value, (*LISTS, *DICTS)):
                    yield file, statement, value


def made_in_function(code: Code, file: File, statement: ast.stmt) -> Iterator[tuple[File, ast.expr, str]]:
    """Attributes that get what the function around a statement returns: their values, and the kind of container it is."""
    function = file.function(statement)
    kind = "" if function is None else _returned(file, function)
    for other in code.files(file.file) if function is not None and kind else ():
        for call in other.calls(function.name if function is not None else ""):
            holder = other.statement(call)
            if holder is None or not is_attribute(holder) or other.owner(holder) is None:
                continue
            value = holder.value if isinstance(holder, ast.Assign | ast.AnnAssign) else None
            if value is call or (isinstance(value, ast.Call) and last_name(value.func) in ("list", "tuple")):
                yield other, value, kind


def _returned(file: File, function: Function) -> str:
    """The container for what a function returns, when that is a list or a dict, or when it yields."""
    for node in inside(function, ast.Yield, ast.YieldFrom, ast.Return):
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return "ModuleList"
        value = node.value if isinstance(node, ast.Return) else None
        if isinstance(value, ast.Name):
            made = [
                other.value
                for other in inside(function, ast.Assign, ast.AnnAssign)
                if last_name(other.targets[0] if isinstance(other, ast.Assign) else other.target) == value.id
            ]
            value = next((each for each in made if isinstance(each, (*LISTS, *DICTS, ast.Call))), None)
        called = last_name(value.func) if isinstance(value, ast.Call) else ""
        if isinstance(value, LISTS) or called in ("list", "tuple"):
            return "ModuleList"
        if isinstance(value, DICTS) or called in ("dict", "OrderedDict"):
            return "ModuleDict"
    return ""


def held_by_name(file: File, statement: ast.stmt) -> FileEdits:
    """A layer in a local variable of a module's method, used by a function inside it: an attribute holds it too."""
    function, owner = file.function(statement), file.owner(statement)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if function is None or owner is None or not isinstance(target, ast.Name) or not function.args.args:
        return ()
    if not owner.bases or file.parent(function) is not owner:
        return ()
    me = function.args.args[0].arg
    for node in inside(function, ast.Assign):  # self.body = lambda x: body(x)
        if is_attribute(node) and _only_calls(node.value, target.id):
            return replace(file, node.value, target.id)
    name = new_attribute(owner, target.id, f"{target.id}_layers", f"{target.id}_module", f"_{target.id}")
    return insert_after(file, statement, f"{me}.{name} = {target.id}")


def _only_calls(value: ast.expr | None, name: str) -> bool:
    """`lambda x: name(x)`."""
    if not isinstance(value, ast.Lambda) or not isinstance(value.body, ast.Call) or value.body.keywords:
        return False
    given = [argument.id if isinstance(argument, ast.Name) else "" for argument in value.body.args]
    called = value.body.func
    return (
        isinstance(called, ast.Name)
        and called.id == name
        and given == [argument.arg for argument in value.args.args]
    )


def of_the_class(file: File, statement: ast.stmt) -> FileEdits:
    """Layers in a list or dict of the class itself: each object registers them when it is made."""
    owner = file.parent(statement)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    value = statement.value if isinstance(statement, ast.Assign) else None
    if not isinstance(owner, ast.ClassDef) or not owner.bases or not isinstance(target, ast.Name):
        return ()
    start = methods(owner).get("__init__")
    if start is None or not isinstance(value, (*LISTS, *DICTS)) or not start.args.args:
        return ()
    calls = [s for s in start.body if any(last_name(c.func) == "__init__" for c in file.calls(inside=s))]
    name, extra = spelled(file, f"torch.nn.{'ModuleDict' if isinstance(value, DICTS) else 'ModuleList'}")
    me = f"{start.args.args[0].arg}.{target.id}"
    return (*insert_after(file, calls[0], f"{me} = {name}({me})"), *extra) if calls else ()
