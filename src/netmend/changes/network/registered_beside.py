"""Containers that no ModuleList or ModuleDict can stand for, as they hold other things too: their layers get a ModuleList beside them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.changes.network.registration import DICTS, LISTS
from netmend.program.source.naming import new_attribute, qualified, spelled
from netmend.program.source.writing import insert_after
from netmend.program.text.file import File
from netmend.program.text.queries import inside, last_name
from netmend.vocabulary.change import FileEdits

_TAKEN = (
    "keys",
    "values",
    "items",
    "pop",
    "clear",
    "update",
    "forward",
    "train",
    "eval",
    "type",
    "half",
    "float",
    "double",
)
_NOT_OF_MODULES = ("get", "setdefault", "popitem", "copy", "remove", "sort", "reverse", "index", "count")  # fmt: skip


def is_unfit(file: File, value: ast.expr, target: ast.expr) -> bool:
    """Whether an attribute is given, or used for, what a ModuleList or ModuleDict does not take."""
    if isinstance(value, ast.BinOp):
        return any(inside(value, ast.List))
    made_of = isinstance(value, ast.Call) and last_name(value.func) in ("list", "tuple", "dict")
    if not (made_of or isinstance(value, (*LISTS, *DICTS))) or not isinstance(target, ast.Attribute):
        return False
    if is_set_again(file, target):
        return True
    keys = [key for key in value.keys if key is not None] if isinstance(value, ast.Dict) else []
    used = list(_uses(file, target))
    if any(name in _NOT_OF_MODULES or (name == "pop" and given is None) for name, given in used):
        return True
    if isinstance(value, DICTS):
        later = [given for name, given in used if name == "[]=" and given is not None]
        numbered = any(isinstance(key, ast.Constant) and isinstance(key.value, int) for key in later)
        return (
            numbered
            or any(map(_is_unfit_key, (*keys, *later)))
            or any(
                _is_no_module(file, part) for part in (value.values if isinstance(value, ast.Dict) else ())
            )
        )
    elements = list(value.elts) if isinstance(value, ast.List | ast.Tuple) else []
    added = [given for name, given in used if name in ("append", "insert") and given is not None]
    return any(_is_no_module(file, each) for each in elements) or any(
        isinstance(each, ast.Tuple | ast.List) or _is_no_module(file, each) for each in added
    )


def is_set_again(file: File, target: ast.expr) -> bool:
    """Whether the class gives an attribute another value later: a module or parameter must not be replaced by a list or tensor."""
    owner, text = file.owner(target), file.source(target)
    stored = (
        node
        for node in inside(owner, ast.Attribute)
        if isinstance(node.ctx, ast.Store) and node is not target
    )
    return any(
        file.source(node) == text and not isinstance(file.parent(node), ast.AugAssign) for node in stored
    )


def registered_beside(file: File, value: ast.expr, target: ast.expr) -> FileEdits:
    """`self.layers_modules = nn.ModuleList(…)` of the layers that the container holds in the end."""
    owner, function = file.owner(target), file.function(target)
    if owner is None or function is None or not isinstance(target, ast.Attribute):
        return ()
    if file.parent(function) is not owner or isinstance(function.body[-1], ast.Return):
        return ()
    text, other = file.source(target), file.source(target.value)
    name, extra = spelled(file, "torch.nn.ModuleList")
    module, more = spelled(file, "torch.nn.Module")
    held = f"{text}.values()" if isinstance(value, DICTS) else text
    loops = f"for layer in {held}"
    if _is_nested(file, value, target):
        loops = f"for group in {held} for layer in group"
    new = new_attribute(owner, f"{target.attr}_modules")
    line = f"{other}.{new} = {name}(layer {loops} if isinstance(layer, {module}))"
    return (*insert_after(file, function.body[-1], line), *extra, *more)


def _is_nested(file: File, value: ast.expr, target: ast.Attribute) -> bool:
    groups = (ast.Tuple, ast.List)
    if isinstance(value, ast.Dict):
        parts = value.values
    else:
        parts = value.elts if isinstance(value, ast.List | ast.Tuple) else []
    added = [given for name, given in _uses(file, target) if name in ("append", "insert")]
    return any(isinstance(part, groups) for part in (*parts, *added))


def _uses(file: File, target: ast.Attribute) -> Iterator[tuple[str, ast.expr | None]]:
    """The methods that are called on an attribute, each with its last argument; `[]=` with the key that is set."""
    text, owner = file.source(target), file.owner(target)
    for node in inside(owner, ast.expr):
        held = node.func if isinstance(node, ast.Call) else node
        inner = held.value if isinstance(held, ast.Attribute | ast.Subscript) else None
        if inner is None or file.source(inner) != text:
            continue
        if isinstance(node, ast.Call) and isinstance(held, ast.Attribute):
            yield held.attr, node.args[-1] if node.args else None
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            yield "[]=", node.slice


def _is_unfit_key(key: ast.expr) -> bool:
    """A key that no attribute of a module can be called by."""
    if not isinstance(key, ast.Constant):
        return False
    return isinstance(key.value, str) and ("." in key.value or key.value in ("", *_TAKEN))


def _is_no_module(file: File, value: ast.expr) -> bool:
    """`torch.relu`, `lambda x: …`, `None`, a function of the program."""
    if isinstance(value, ast.Lambda | ast.Constant):
        return True
    name = last_name(value)
    if isinstance(value, ast.Attribute):
        return qualified(file, value).startswith("torch.") and name[:1].islower()
    functions = [node.name for node in file.tree.body if isinstance(node, ast.FunctionDef)]
    return isinstance(value, ast.Name) and name in functions
