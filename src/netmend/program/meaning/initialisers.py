"""First weights: what a function or a loop of the project sets anew, and weights that are set to one constant."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from netmend.library.layers import CONVOLUTIONS, LINEAR, RECURRENT
from netmend.program.engine.containers import container_layers
from netmend.program.engine.history import Branch, CallEvent, Event, branches_between
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Element,
    Function,
    Instance,
    Name,
    Param,
    Value,
    resolved,
)
from netmend.program.meaning.operations import layer_name
from netmend.program.meaning.roles import bare, optimised

_CONSTANT = ("torch.nn.init.constant_", "torch.nn.init.zeros_", "torch.nn.init.ones_")
_IN_PLACE = ("fill_", "zero_")
_RANDOM = (
    "normal_",
    "uniform_",
    "kaiming_",
    "xavier_",
    "orthogonal_",
    "trunc_normal_",
    "eye_",
    "dirac_",
    "copy_",
    "sparse_",
)
_MAPS = frozenset(f"torch.nn.{name}" for name in ("Linear", *CONVOLUTIONS))
TRIGGERS = ("constant_(", "zeros_(", "ones_(", ".fill_(", ".zero_(")


@dataclass(frozen=True)
class Setting:
    """One call that makes weights constant. `owner` is what the weight belongs to: a layer, or a stand-in for many."""

    event: CallEvent
    owner: Value
    is_parameter: bool  # the owner is the parameter itself


def settings(program: Program) -> Iterator[Setting]:
    """Calls that set a `weight`, or a parameter of unknown name, to one constant."""
    for event in [*program.calls_of(*_CONSTANT), *program.methods_of(*_IN_PLACE)]:
        call = event.call
        target = call.receiver if call.method else (call.args[0] if call.args else None)
        target = _weight(target)
        if target is None or _is_set_again(event, target) or _is_chosen_outside(program, event):
            continue
        if isinstance(target, Attribute) and target.name == "weight":
            yield Setting(event, resolved(target.base), False)
        elif isinstance(target, Element):
            yield Setting(event, target, True)


def _weight(value: Value | None) -> Value | None:
    """Through `.data`."""
    value = resolved(value)
    if isinstance(value, Attribute) and value.name == "data":
        value = resolved(value.base)
    return value


def _is_chosen_outside(program: Program, event: Event) -> bool:
    """`constant_(m.weight, value)` with a parameter of the function: the caller asks for constant weights."""
    node = event.node
    given = node.args[-1] if isinstance(node, ast.Call) and node.args else None
    if not isinstance(given, ast.Name):
        return False
    functions = (above for above in program.above(node) if isinstance(above, ast.FunctionDef))
    return any(
        given.id == parameter.arg
        for function in functions
        for parameter in (*function.args.args, *function.args.kwonlyargs)
    )


def _is_set_again(event: Event, target: Value) -> bool:
    """Does a later call give the same weight other values?"""
    body = event.body
    later = body.events() if body is not None else iter(())
    for other in later:
        call = other.call
        if call is None or other.order <= event.order:
            continue
        name = call.method or call.qualified.rpartition(".")[2]
        if not name.startswith(_RANDOM):
            continue
        changed = _weight(call.receiver if call.method else (call.args[0] if call.args else None))
        if changed is target or (
            isinstance(changed, Attribute)
            and isinstance(target, Attribute)
            and changed.name == target.name
            and resolved(changed.base) is resolved(target.base)
        ):
            return True
    return False


def is_for_all_layers(program: Program, setting: Setting) -> bool:
    """`if isinstance(m, nn.Linear)` in a function given to `model.apply`, or in a loop over `model.modules()`, two such layers at least."""
    owner = setting.owner
    kinds = _kinds_asked(setting.event, owner)
    if not kinds:
        return False
    models: list[Value] = []
    if isinstance(owner, Param):
        body = setting.event.body
        for event in program.methods_of("apply"):
            call = event.call
            given = resolved(call.args[0]) if call.args else None
            if (
                body is not None
                and isinstance(given, Function)
                and given.definition is body.function.definition
            ):
                models.append(resolved(call.receiver) if call.receiver is not None else owner)
    elif isinstance(owner, Element):
        source = resolved(owner.iterable)
        if (
            isinstance(source, Call)
            and source.method in ("modules", "children")
            and source.receiver is not None
        ):
            models.append(resolved(source.receiver))
        elif isinstance(source, Call) and source.qualified in ("torch.nn.Sequential", "torch.nn.ModuleList"):
            models.append(source)
    return any(count(model, kinds) >= 2 for model in models)


def _kinds_asked(event: Event, owner: Value) -> frozenset[str]:
    """The layers of `isinstance(m, …)`, if that is all that decides whether the call happens."""
    kinds: set[str] = set()
    outer = event.body
    for branch, block in branches_between(event, outer):
        asked = _asked(branch, owner)
        if asked is None:
            return frozenset()
        if branch.blocks and branch.blocks[0] is block:
            kinds |= asked
    return frozenset(kinds) if kinds and kinds <= _MAPS else frozenset()


def _asked(branch: Branch, owner: Value) -> set[str] | None:
    test = branch.test
    if not isinstance(test, Call) or test.qualified != "isinstance" or len(test.args) != 2:
        return None
    if resolved(test.args[0]) is not owner:
        return None
    given = resolved(test.args[1])
    listed = given.items if isinstance(given, Collection) else [given]
    return {item.qualified if isinstance(item, Name) else "?" for item in listed}


def is_whole_model(program: Program, setting: Setting) -> bool:
    """`for p in model.parameters()` with nothing that decides, of a model that an optimiser holds."""
    owner = setting.owner
    if not setting.is_parameter or not isinstance(owner, Element):
        return False
    source = resolved(owner.iterable)
    if not isinstance(source, Call) or source.method != "parameters" or source.receiver is None:
        return False
    outer = setting.event.body
    model = bare(source.receiver) or resolved(source.receiver)
    if branches_between(setting.event, outer) or count(model, _MAPS) < 2:
        return False
    return any(
        model in (optimised(event.call) or ())
        for event in program.calls
        if event.call.qualified.startswith("torch.optim.")
    )


def layers_set(setting: Setting) -> tuple[Value, ...]:
    """The very layers whose weights become constant, where they are named and nothing decides."""
    outer = setting.event.body
    if setting.is_parameter or branches_between(setting.event, outer):
        return ()
    owner = setting.owner
    if isinstance(owner, Element):
        listed = resolved(owner.iterable)
        owners = list(listed.items) if isinstance(listed, Collection) and not listed.open else []
    else:
        owners = [owner]
    found = [resolved(value) for value in owners]
    return tuple(value for value in found if isinstance(value, Call) and value.qualified in _MAPS)


def count(model: Value, kinds: frozenset[str], depth: int = 0) -> int:
    """How many layers of these kinds a model holds, as far as they are seen."""
    model = resolved(model)
    if depth > 4:
        return 0
    if isinstance(model, Instance):
        return sum(count(value, kinds, depth + 1) for value in model.attributes.values())
    if isinstance(model, Call):
        if model.qualified in kinds:
            return 1
        if layer_name(model) == "sequential":
            return sum(count(layer, kinds, depth + 1) for layer in container_layers(None, model) or ())
        if layer_name(model) == "modulelist" and model.args:
            listed = resolved(model.args[0])
            if isinstance(listed, Collection):
                inner = sum(count(item, kinds, depth + 1) for item in listed.items)
                return inner * 2 if listed.repeated else inner
    return 0


Kinds = frozenset[str]
_LAYERS = frozenset(
    (*LINEAR, *RECURRENT, "Bilinear", "Embedding", "MultiheadAttention", "TransformerEncoderLayer")
)
_MOST_NETWORKS = (frozenset(("Linear", "Conv2d")), frozenset(("Linear", "Embedding")))  # have one of these
_INIT = ("xavier_", "kaiming_", "normal_", "uniform_", "orthogonal_", "trunc_normal_", "constant_", "zeros_", "ones_", "sparse_")  # fmt: skip
_SET_AT_RANDOM = frozenset(("normal_", "uniform_", "fill_", "zero_"))


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
            asked = _kinds_passing(statement.test, name)
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
            return called in _SET_AT_RANDOM
    return called.startswith(_INIT) and bool(call.args) and ast.unparse(call.args[0]) in wanted


def _kinds_passing(test: ast.expr, name: str) -> Kinds | None:
    """The layers that pass a test; None when it asks for something else than the kind."""
    if isinstance(test, ast.BoolOp):
        parts = [_kinds_passing(value, name) for value in test.values]
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
