"""Where a layer stands in the source, and how another one is put behind it: in a stack, a list, a loop, by name."""

from __future__ import annotations

import ast

from netmend.program.source.naming import imports, spelled
from netmend.program.source.writing import (
    insert_after,
    insert_argument_after,
    insert_before,
    insert_text,
    wrap,
)
from netmend.program.text.file import File
from netmend.program.text.queries import inside, last_name
from netmend.vocabulary.change import FileEdits

_PARTS = ("weight", "bias", "in_features", "out_features", "in_channels", "out_channels")


def put_behind(file: File, call: ast.Call, text: str, label: str) -> FileEdits:
    """Put a layer behind the one that a call creates, where both are parts of an nn.Sequential. `label` ends its name."""
    parent = file.parent(call)
    if isinstance(parent, ast.Call) and call in parent.args:
        return _behind_argument(file, parent, call, text, label)
    if isinstance(parent, ast.List) or (isinstance(parent, ast.Tuple) and not _is_named(file, parent, call)):
        return insert_argument_after(file, call, text)
    if isinstance(parent, ast.Tuple):
        name = _named(file, parent.elts[0], label)
        return insert_argument_after(file, parent, f"({name}, {text})") if name else ()
    if isinstance(parent, ast.Dict):
        key = next((k for k, v in zip(parent.keys, parent.values, strict=True) if v is call), None)
        name = _named(file, key, label) if key is not None else ""
        return insert_argument_after(file, call, f"{name}: {text}") if name else ()
    return made_together(file, call, text)


def put_before(file: File, call: ast.Call, text: str) -> FileEdits:
    """Put a layer before the one that a call creates, where both are parts of an nn.Sequential."""
    parent = file.parent(call)
    is_argument = (
        isinstance(parent, ast.Call) and call in parent.args and last_name(parent.func) == "Sequential"
    )
    if is_argument or isinstance(parent, ast.List):
        between = "\n" + " " * file.place(call).column if is_alone_on_line(file, call) else " "
        return insert_text(file, call, f"{text},{between}")
    statement = file.statement(call)
    if (
        isinstance(parent, ast.Call)
        and last_name(parent.func) == "append"
        and isinstance(statement, ast.Expr)
    ):
        return insert_before(file, statement, f"{file.source(parent.func)}({text})")
    name, extra = spelled(file, "torch.nn.Sequential", like=call.func)
    around = wrap(file, call, f"{name}({text}, ", ")")
    return (*around, *extra) if around else ()


def made_together(file: File, call: ast.Call, text: str) -> FileEdits:
    """`nn.Linear(8, 8)` → `nn.Sequential(nn.Linear(8, 8), …)`: works wherever a layer is made whose own parts nobody asks for."""
    if _is_asked_for_parts(file, call):
        return ()
    name, extra = spelled(file, "torch.nn.Sequential", like=call.func)
    around = wrap(file, call, f"{name}(", f", {text})")
    return (*around, *extra) if around else ()


def _is_asked_for_parts(file: File, call: ast.Call) -> bool:
    """`init.xavier_uniform_(fc.weight)`: a Sequential in its place has no weight."""
    statement = file.statement(call)
    if not isinstance(statement, ast.Assign) or statement.value is not call:
        return False
    names = {file.source(target) for target in statement.targets}
    parts = (node for node in inside(file.tree, ast.Attribute) if node.attr in _PARTS)
    return any(file.source(node.value) in names for node in parts)


def _behind_argument(file: File, parent: ast.Call, call: ast.Call, text: str, label: str) -> FileEdits:
    function = last_name(parent.func)
    statement = file.statement(parent)
    if function in ("append", "add_module", "register_module") and not (
        isinstance(statement, ast.Expr) and statement.value is parent
    ):
        return ()
    assert statement is not None or function not in ("append", "add_module", "register_module")
    if function == "append" and statement is not None:
        return insert_after(file, statement, f"{file.source(parent.func)}({text})")
    if function in ("add_module", "register_module") and statement is not None:
        name = _named(file, parent.args[0], label)
        return insert_after(file, statement, f"{file.source(parent.func)}({name}, {text})") if name else ()
    if function == "Sequential":
        return insert_argument_after(file, call, text)
    return made_together(file, call, text)


def _is_named(file: File, parent: ast.Tuple, call: ast.Call) -> bool:
    """`("fc1", nn.Linear(8, 8))` of an OrderedDict."""
    return len(parent.elts) == 2 and parent.elts[1] is call and not isinstance(parent.elts[0], ast.Call)


def _named(file: File, name: ast.expr, label: str) -> str:
    """A name beside another one: `"fc1"` → `"fc1_act"`, `f"fc{i}"` → `f"fc{i}_act"`; "" when it is computed."""
    text = file.source(name)
    is_text = isinstance(name, ast.JoinedStr) or (
        isinstance(name, ast.Constant) and isinstance(name.value, str)
    )
    if is_text and text[-1:] in "'\"" and not text.endswith(("'''", '"""')):
        return f"{text[:-1]}_{label}{text[-1]}"
    return f'{text} + "_{label}"' if isinstance(name, ast.Name | ast.BinOp) else ""


def without_last(file: File, call: ast.Call) -> FileEdits:
    """Leave the last element out where the list that a call's result is collected in becomes a Sequential."""
    collected = _list_of(file, call)
    function = file.function(call)
    if collected is None:
        return ()
    scope: ast.AST = function or file.tree
    uses = [
        node
        for node in inside(scope, ast.Starred)
        if isinstance(node.ctx, ast.Load)
        and isinstance(file.parent(node), ast.Call)
        and ast.dump(node.value) == ast.dump(collected)
    ]
    return wrap(file, uses[0].value, "", "[:-1]") if len(uses) == 1 else ()


def _list_of(file: File, call: ast.Call) -> ast.expr | None:
    """`layers` in `layers.append(nn.Linear(…))`, `layers += [nn.Linear(…)]`, `layers.extend([…])`."""
    for above in file.parents(call):
        if isinstance(above, ast.AugAssign):
            return ast.Name(above.target.id, ast.Load()) if isinstance(above.target, ast.Name) else None
        function = above.func if isinstance(above, ast.Call) else None
        if isinstance(function, ast.Attribute) and function.attr in ("append", "extend"):
            return function.value
        if isinstance(above, ast.stmt):
            return None
    return None


def relu_of(file: File, like: ast.expr | None = None) -> tuple[str, FileEdits]:
    """How a rectifier is called as a function here: `F.relu`, `torch.relu`."""
    known = imports(file).values()
    if "torch.nn.functional" not in known and "torch" in known:
        return spelled(file, "torch.relu")
    return spelled(file, "torch.nn.functional.relu", like=like)


def is_alone_on_line(file: File, node: ast.expr) -> bool:
    place = file.place(node)
    return not file.lines.content(place.line)[: place.column].strip()
