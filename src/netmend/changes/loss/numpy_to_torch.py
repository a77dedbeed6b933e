"""A computation that leaves the graph through numpy and comes back, written with the framework's own functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.program.source.naming import qualified, spelled
from netmend.program.source.writing import add_argument, insert_text, once, rename, replace, unwrap_call
from netmend.program.text.file import File
from netmend.program.text.queries import Function, inside, last_name
from netmend.vocabulary.change import FileEdit, FileEdits

_LEAVING = ("numpy", "detach", "cpu", "data", "clone")
_RETURNING = ("tensor", "as_tensor", "from_numpy", "FloatTensor", "Tensor")
_SAME = frozenset(
    [
        "exp", "log", "sqrt", "sin", "cos", "tan", "tanh", "abs", "square", "where", "log1p", "expm1", "sign", "mean", "sum", "std",
        "var", "stack", "matmul", "einsum", "outer", "remainder", "fmod", "clip", "floor", "arctan", "arcsin", "arccos", "sinh", "cosh",
        "log2", "log10", "cumsum", "prod", "isfinite", "isnan", "maximum", "minimum", "dot", "roll", "hypot", "arctan2",
    ]
)  # fmt: skip
_OTHER = {
    "mod": "remainder",
    "absolute": "abs",
    "power": "pow",
    "concatenate": "cat",
    "max": "amax",
    "min": "amin",
}
_METHODS = {"max": "amax", "min": "amin", "copy": "clone"}
_BIASED = ("std", "var")  # numpy divides by the number of values, torch by one less


def in_torch(file: File, function: Function | ast.Module, cut: ast.expr) -> FileEdits:
    """Edits of a function after which nothing in it goes through numpy; none when something has no counterpart."""
    away: list[ast.AST] = [node for node in inside(function, ast.expr) if _leaves(node)]
    tainted = _tainted(function, away)
    back = [node for node in inside(function, ast.Call) if _returns(file, node, tainted)]
    if not away or not back:
        return ()
    edits: list[FileEdit] = []
    for node in away:
        if isinstance(node, ast.Call) and not _leaves(file.parent(node)) and not _is_called(file, node):
            edits.extend(replace(file, node, file.source(_origin(node))))
    for node in back:
        if isinstance(node, ast.Call):
            edits.extend(unwrap_call(file, node, node.args[0]))
    for node in inside(function, ast.Call):
        if node not in away and node not in back and _uses(node, tainted, away):
            found = _translated(file, node)
            if found is None:
                return ()
            edits.extend(found)
    return once(edits)


def _leaves(node: ast.AST | None) -> bool:
    """`x.detach().cpu().numpy()`."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "numpy"
        and not node.args
    )


def _is_called(file: File, node: ast.Call) -> bool:
    """Whether a further step out of the graph follows on the same value."""
    holder = file.parent(node)
    return isinstance(holder, ast.Attribute) and holder.attr in _LEAVING


def _origin(node: ast.expr) -> ast.expr:
    while True:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _LEAVING:
            node = node.func.value
        elif isinstance(node, ast.Attribute) and node.attr == "data":
            node = node.value
        else:
            return node


def _tainted(function: ast.AST, away: list[ast.AST]) -> set[str]:
    """Names that hold values of numpy that came from a tensor."""
    names: set[str] = set()
    for _ in range(4):
        for node in inside(function, ast.Assign):
            if _uses(node.value, names, away) and not _is_back(node.value):
                names |= {last_name(target) for target in node.targets} - {""}
    return names


def _is_back(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and last_name(node.func) in _RETURNING


def _uses(node: ast.AST, names: set[str], away: list[ast.AST]) -> bool:
    return any(
        part in away or (isinstance(part, ast.Name) and part.id in names) for part in inside(node, ast.expr)
    )


def _returns(file: File, node: ast.AST, names: set[str]) -> bool:
    """`torch.tensor(values)` of values that came from a tensor."""
    return (
        isinstance(node, ast.Call)
        and last_name(node.func) in _RETURNING
        and qualified(file, node.func).startswith("torch")
        and len(node.args) == 1
        and (any(map(_leaves, inside(node, ast.expr))) or _uses(node.args[0], names, []))
    )


def _translated(file: File, call: ast.Call) -> FileEdits | None:
    """A call of numpy or of a method of an array in torch's words; None when there is none."""
    name, edits = last_name(call.func), list(_keywords(file, call))
    if qualified(file, call.func).startswith("numpy"):
        if qualified(file, call.func) == "numpy.linalg.norm":
            return (*edits, *_called(file, call, "linalg.norm"))
        limit = call.args[1] if len(call.args) == 2 else None
        if name in ("maximum", "minimum") and isinstance(limit, ast.Constant):
            bound = "min=" if name == "maximum" else "max="
            return (*edits, *_called(file, call, "clamp"), *insert_text(file, limit, bound))
        if name not in _SAME and name not in _OTHER:
            return None
        edits.extend(_called(file, call, _OTHER.get(name, name)))
    elif qualified(file, call.func).startswith("torch") or not isinstance(call.func, ast.Attribute):
        return ()  # a function of the program or of torch: it takes tensors too
    elif name == "astype":
        return tuple(_cut_off(file, call))
    elif name in _METHODS and (name == "copy" or call.args or call.keywords):
        edits.extend(rename(file, call.func, _METHODS[name]))
    if name in _BIASED and not any(keyword.arg == "ddof" for keyword in call.keywords):
        edits.extend(add_argument(file, call, "unbiased=False"))
    return tuple(edits)


def _called(file: File, call: ast.Call, name: str) -> FileEdits:
    text, extra = spelled(file, f"torch.{name}")
    return (*replace(file, call.func, text), *extra)


def _keywords(file: File, call: ast.Call) -> Iterator[FileEdit]:
    for keyword in call.keywords:
        new = {"axis": "dim", "keepdims": "keepdim"}.get(keyword.arg or "")
        if new is not None and keyword.arg is not None:
            start, _ = file.span(keyword)
            yield from file.edit(start, start + len(keyword.arg), new)


def _cut_off(file: File, call: ast.Call) -> FileEdits:
    """`values.astype(np.float32)` → `values`, whatever else changes inside."""
    if not isinstance(call.func, ast.Attribute):
        return ()
    start = file.span(call.func.value)[1]
    if file.text[start : start + 1] == ")":
        start += 1
    return file.edit(start, file.span(call)[1], "")
