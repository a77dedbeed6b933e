"""Layers and tensors that a module keeps without registering them: where they are kept, and what registers them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.program.source.naming import new_attribute, qualified, spelled
from netmend.program.source.writing import delete_argument, insert_after, replace, wrap
from netmend.program.text.file import File
from netmend.program.text.queries import inside, last_name
from netmend.vocabulary.change import FileEdits

LISTS = (ast.List, ast.ListComp, ast.Tuple, ast.GeneratorExp)
DICTS = (ast.Dict, ast.DictComp)


def kept_in(file: File, statement: ast.stmt) -> Iterator[tuple[File, ast.Assign | ast.AnnAssign]]:
    """Where the container comes to its attribute: `self.x = []` for `self.x.append(…)`, `self.x = layers` for a local list."""
    owner = file.owner(statement)
    held = _filled(statement)
    if owner is None or held is None:
        return
    while isinstance(held, ast.Subscript):  # self.parts["left"].append(…)
        held = held.value
    text = ast.dump(held).replace("Store", "Load")
    for node in inside(owner, ast.Assign, ast.AnnAssign):
        if not is_attribute(node) or node.value is None:
            continue
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if ast.dump(target).replace("Store", "Load") == text or (
            isinstance(held, ast.Name) and _holds(node.value, held.id)
        ):
            yield file, node


def _holds(value: ast.expr, name: str) -> bool:
    """`name`, `list(name)`, `{"a": name}`, but nothing that a module is made of."""
    if isinstance(value, ast.Call):
        return last_name(value.func) in ("list", "tuple", "dict") and any(_holds(a, name) for a in value.args)
    if isinstance(value, ast.List | ast.Tuple | ast.Dict):
        parts = value.values if isinstance(value, ast.Dict) else value.elts
        return any(_holds(part, name) for part in parts)
    return isinstance(value, ast.Name) and value.id == name


def _filled(statement: ast.stmt) -> ast.expr | None:
    """What a statement puts something into."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        function = statement.value.func
        if isinstance(function, ast.Attribute) and function.attr in ("append", "extend", "insert", "update"):
            return function.value
    if isinstance(statement, ast.AugAssign):
        return statement.target
    if isinstance(statement, ast.Assign):
        target = statement.targets[0]
        return target.value if isinstance(target, ast.Subscript) else target
    return None


def made_as(file: File, name: ast.Name) -> ast.expr | None:
    """The list or dict that a local name was given."""
    scope: ast.AST = file.function(name) or file.tree
    for node in inside(scope, ast.Assign):
        if any(isinstance(target, ast.Name) and target.id == name.id for target in node.targets):
            return node.value if isinstance(node.value, (*LISTS, *DICTS)) else None
    return None


def registered_in(file: File, value: ast.expr, kind: str, like: ast.expr | None = None) -> FileEdits:
    name, extra = spelled(file, f"torch.nn.{kind}", like=_layer_base(file, like or value))
    empty = (isinstance(value, ast.List) and not value.elts) or (
        isinstance(value, ast.Dict) and not value.keys
    )
    if empty or (isinstance(value, ast.Call) and not value.args and not value.keywords):
        return (*replace(file, value, f"{name}()"), *extra)
    inner = tuple(edit for part in _parts(value) for edit in registered_in(file, *part, like=value))
    if isinstance(value, ast.Dict) and _numbered(value):
        keys = [edit for key in value.keys if key is not None for edit in replace(file, key, _as_text(key))]
        return (*wrap(file, value, f"{name}(", ")"), *keys, *inner, *_by_text(file, value), *extra)
    if isinstance(value, ast.DictComp) and _counts(value):
        return (
            *wrap(file, value, f"{name}(", ")"),
            *wrap(file, value.key, "str(", ")"),
            *_by_text(file, value),
            *inner,
            *extra,
        )
    return (*wrap(file, value, f"{name}(", ")"), *inner, *extra)


def _parts(value: ast.expr) -> Iterator[tuple[ast.expr, str]]:
    """Lists and dicts within a list or dict, and the containers that they become: `{"left": [], "right": []}`."""
    parts: list[ast.expr] = []
    if isinstance(value, ast.Dict):
        parts = value.values
    elif isinstance(value, ast.List | ast.Tuple):
        parts = value.elts
    elif isinstance(value, ast.DictComp):
        parts = [value.value]
    elif isinstance(value, ast.ListComp | ast.GeneratorExp):
        parts = [value.elt]
    for part in parts:
        if isinstance(part, (*LISTS, *DICTS)):
            yield part, "ModuleList" if isinstance(part, LISTS) else "ModuleDict"


def _numbered(value: ast.Dict) -> bool:
    """`{1: …, 2: …}`; a ModuleDict takes texts only."""
    return any(isinstance(key, ast.Constant) and isinstance(key.value, int) for key in value.keys)


def _as_text(key: ast.expr) -> str:
    number = isinstance(key, ast.Constant) and isinstance(key.value, int)
    return f'"{ast.unparse(key)}"' if number else ast.unparse(key)


def _layer_base(file: File, value: ast.expr) -> ast.expr | None:
    """A name of torch.nn in use nearby."""
    for node in inside(value, ast.Call):
        if qualified(file, node.func).startswith("torch.nn."):
            return node.func
    return None


def _counts(value: ast.DictComp) -> bool:
    """Keys from range() or enumerate() are numbers, which a ModuleDict does not take."""
    first = value.generators[0]
    return (
        isinstance(first.iter, ast.Call)
        and last_name(first.iter.func) in ("range", "enumerate")
        and isinstance(value.key, ast.Name)
    )


def _by_text(file: File, value: ast.Dict | ast.DictComp) -> FileEdits:
    """Reads of the dictionary by number become reads by text."""
    parent, owner = file.parent(value), file.owner(value)
    target = parent.targets[0] if isinstance(parent, ast.Assign) else None
    if owner is None or not isinstance(target, ast.Attribute):
        return ()
    reads = [
        node.slice
        for node in inside(owner, ast.Subscript)
        if isinstance(node.value, ast.Attribute) and node.value.attr == target.attr
    ]
    return tuple(edit for read in reads for edit in wrap(file, read, "str(", ")"))


def as_parameter(file: File, value: ast.Call) -> FileEdits:
    """`torch.ones(3, requires_grad=True)` → `nn.Parameter(torch.ones(3))`."""
    name, extra = spelled(file, "torch.nn.Parameter")
    wanted = next((k for k in value.keywords if k.arg == "requires_grad"), None)
    if last_name(value.func) == "requires_grad_" and isinstance(value.func, ast.Attribute):
        inner = file.source(value.func.value)
        return (*replace(file, value, f"{name}({inner})"), *extra)
    if last_name(value.func) == "Variable" and value.args:
        return (*replace(file, value, f"{name}({file.source(value.args[0])})"), *extra)
    if not qualified(file, value.func).startswith("torch.") and wanted is None:
        return ()
    if last_name(value.func)[:1].isupper():
        return ()
    gone = delete_argument(file, value, wanted) if wanted is not None else ()
    return (*wrap(file, value, f"{name}(", ")"), *gone, *extra)


def is_attribute(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assign):
        return isinstance(statement.targets[0], ast.Attribute)
    return isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Attribute)


_FILLING = ("append", "extend", "insert", "update")


def holds_tensors(file: File, value: ast.expr, target: ast.expr) -> bool:
    """Whether a list that starts empty is filled with tensors that require gradients."""
    owner = file.owner(value)
    return owner is not None and any(is_trained(part) for part in _put_in(owner, last_name(target)))


def _put_in(owner: ast.ClassDef, name: str) -> Iterator[ast.expr]:
    for node in inside(owner, ast.Call, ast.AugAssign, ast.Assign):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _FILLING:
            if _tensor_base(node.func.value) == name:
                yield from node.args
        elif isinstance(node, ast.AugAssign | ast.Assign):
            target = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
            if _tensor_base(target) == name and (
                isinstance(node, ast.AugAssign) or isinstance(target, ast.Subscript)
            ):
                yield node.value


def _tensor_base(node: ast.expr) -> str:
    while isinstance(node, ast.Subscript):
        node = node.value
    return last_name(node)


def is_trained(value: ast.expr) -> bool:
    """`torch.zeros(3, requires_grad=True)`, `torch.randn(3).requires_grad_()`, `nn.Parameter(…)`."""
    for node in inside(value, ast.Call):
        if last_name(node.func) in ("requires_grad_", "Parameter"):
            return True
        if any(k.arg == "requires_grad" and ast.unparse(k.value) == "True" for k in node.keywords):
            return True
    return False


def tensors_beside(file: File, statement: ast.stmt) -> Iterator[tuple[File, ast.stmt]]:
    """Other attributes of the same class that keep tensors to be trained, alone or in a list."""
    owner = file.owner(statement)
    for node in inside(owner, ast.Assign):
        if not is_attribute(node) or node is statement:
            continue
        plain = isinstance(node.value, (*LISTS, *DICTS)) or (
            isinstance(node.value, ast.Call)
            and last_name(node.value.func) not in ("Parameter", "ParameterList")
        )
        if plain and (is_trained(node.value) or holds_tensors(file, node.value, node.targets[0])):
            yield file, node


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
