"""Initialisers: which kinds of layers a function or a loop of the project gives new first weights."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from netmend.library.layers import LINEAR, RECURRENT
from netmend.program.engine.program import Program
from netmend.program.engine.values import Function, Value, resolved
from netmend.program.meaning.constant_weights import count

Kinds = frozenset[str]
_LAYERS = frozenset(
    (*LINEAR, *RECURRENT, "Bilinear", "Embedding", "MultiheadAttention", "TransformerEncoderLayer")
)
_MOST_NETWORKS = (frozenset(("Linear", "Conv2d")), frozenset(("Linear", "Embedding")))  # have one of these
_INIT = ("xavier_", "kaiming_", "normal_", "uniform_", "orthogonal_", "trunc_normal_", "constant_", "zeros_", "ones_", "sparse_")  # fmt: skip
_IN_PLACE = frozenset(("normal_", "uniform_", "fill_", "zero_"))


def set_by_function(value: Value | None) -> Kinds:
    """The layers that a function given to `apply` starts anew."""
    function = resolved(value)
    if not isinstance(function, Function) or isinstance(function.definition, ast.Lambda):
        return frozenset()
    names = [part.arg for part in function.definition.args.args]
    if names and (names[0] == "self" or function.owner is not None):
        names = names[1:]
    return frozenset(_set_by(function.definition.body, names[0], _LAYERS)) if names else frozenset()


def set_by_loop(program: Program, iterable: ast.AST) -> Kinds:
    """The layers that a loop over `model.modules()` starts anew; all of them for one over `model.parameters()`."""
    loop = program.parent(iterable)
    if not isinstance(loop, ast.For) or loop.iter is not iterable or not isinstance(loop.target, ast.Name):
        return frozenset()
    return frozenset(_set_by(loop.body, loop.target.id, _LAYERS))


def covers(kinds: Kinds, model: Value) -> bool:
    """Does a model lose all that it was given? What cannot be looked into holds the layers that most networks hold."""
    held = count(model, _qualified(_LAYERS))
    if held:
        return count(model, _qualified(kinds)) == held
    return any(common <= kinds for common in _MOST_NETWORKS)


def _qualified(kinds: Kinds) -> Kinds:
    return frozenset(f"torch.nn.{kind}" for kind in kinds)


def _set_by(body: Sequence[ast.stmt], name: str, within: Kinds) -> Iterator[str]:
    for statement in body:
        if isinstance(statement, ast.If):
            asked = _asked(statement.test, name)
            if asked is not None:
                yield from _set_by(statement.body, name, within & asked)
            if len(statement.orelse) == 1 and isinstance(statement.orelse[0], ast.If):
                yield from _set_by(statement.orelse, name, within)
        elif isinstance(statement, ast.With):
            yield from _set_by(statement.body, name, within)
        elif isinstance(statement, ast.Expr) and _sets(statement.value, name):
            yield from within


def _sets(call: ast.expr, name: str) -> bool:
    """`nn.init.normal_(m.weight)`, `m.weight.data.normal_()`, `m.reset_parameters()`; also of the parameter itself."""
    if not isinstance(call, ast.Call):
        return False
    wanted = {f"{name}.weight", f"{name}.weight.data", name, f"{name}.data"}
    function = call.func
    called = getattr(function, "attr", "") or getattr(function, "id", "")
    if isinstance(function, ast.Attribute):
        owner = ast.unparse(function.value)
        if called == "reset_parameters":
            return owner == name
        if owner in wanted:
            return called in _IN_PLACE
    return called.startswith(_INIT) and bool(call.args) and ast.unparse(call.args[0]) in wanted


def _asked(test: ast.expr, name: str) -> Kinds | None:
    """The layers that pass a test; None when it asks for something else than the kind."""
    if isinstance(test, ast.BoolOp):
        parts = [_asked(value, name) for value in test.values]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        if isinstance(test.op, ast.Or):
            return frozenset().union(*known)
        return _LAYERS.intersection(*known)
    if isinstance(test, ast.Call) and len(test.args) == 2 and ast.unparse(test.args[0]) == name:
        asking = getattr(test.func, "id", "")
        if asking == "isinstance":
            return _named(test.args[1])
        is_of_weights = getattr(test.args[1], "value", "") in ("weight", "reset_parameters")
        return _LAYERS if asking == "hasattr" and is_of_weights else None
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _compared(ast.unparse(test.left), test, name)
    return None


def _compared(left: str, test: ast.Compare, name: str) -> Kinds | None:
    right = test.comparators[0]
    if left == f"type({name})" and isinstance(test.ops[0], ast.Eq | ast.Is | ast.In):
        return _named(right)
    if left in (f"{name}.dim()", f"{name}.ndim") and isinstance(test.ops[0], ast.Gt | ast.GtE):
        return _LAYERS if ast.unparse(right) in ("1", "2") else None
    if left == f"{name}.weight" and isinstance(test.ops[0], ast.IsNot):
        return _LAYERS
    word = ""
    if isinstance(test.left, ast.Constant) and isinstance(test.ops[0], ast.In):
        word = str(test.left.value)
    elif isinstance(test.left, ast.Call) and getattr(test.left.func, "attr", "") == "find" and test.left.args:
        is_found = isinstance(test.ops[0], ast.NotEq | ast.Gt) and ast.unparse(right) == "-1"
        word = str(getattr(test.left.args[0], "value", "")) if is_found else ""
    return frozenset(kind for kind in _LAYERS if word in kind) if word else None


def _named(node: ast.expr) -> Kinds:
    listed = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
    names = {getattr(part, "attr", "") or getattr(part, "id", "") for part in listed}
    return _LAYERS if "Module" in names else _LAYERS & names
