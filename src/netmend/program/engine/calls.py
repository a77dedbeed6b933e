"""Calls: library calls are kept as they are, functions and classes of the project are followed."""

from __future__ import annotations

import ast

from netmend.library.operations import GIVE_BACK_SELF
from netmend.program.engine.builtin import called_builtin
from netmend.program.engine.containers import container_layers, container_tail, grown
from netmend.program.engine.history import CALL, Body, Guard
from netmend.program.engine.joined import WRAPPERS, either
from netmend.program.engine.machine import Frame, Machine
from netmend.program.engine.scope import Scope
from netmend.program.engine.values import (
    Attribute,
    Call,
    Class,
    Collection,
    Const,
    Element,
    Function,
    Instance,
    Name,
    Unknown,
    Value,
    resolved,
)

# Methods of modules and tensors that give back the object they are called on.
_GIVE_BACK_SELF = GIVE_BACK_SELF | {"mps", "compile_model"}
_GIVE_BACK_FIRST = frozenset(("torch.compile", "torch.jit.script", "torch.nn.utils.weight_norm", "torch.nn.utils.spectral_norm",
                              "torch.nn.utils.parametrizations.weight_norm", "torch.nn.utils.parametrizations.spectral_norm"))  # fmt: skip
CONTAINERS = frozenset(("torch.nn.Sequential", "keras.Sequential", "keras.models.Sequential"))
_GROWING = frozenset((*CONTAINERS, "torch.nn.ModuleList"))
_MODEL_MAKERS = (
    "torch.nn.",
    "torchvision.models.",
    "timm.create_model",
    "torch.hub.load",
    "segmentation_models_pytorch.",
)
# Launchers give back what they are given, moved and wrapped.
_LAUNCHERS = (
    "accelerate.Accelerator",
    "lightning.fabric.Fabric",
    "lightning.Fabric",
    "lightning_fabric.Fabric",
)
_PREPARE = (
    "prepare",
    "setup",
    "setup_dataloaders",
    "setup_module",
    "setup_optimizers",
    "prepare_model",
    "prepare_data_loader",
)
_GRAD_MODES = ("torch.no_grad", "torch.inference_mode", "torch.enable_grad", "torch.autograd.no_grad")


def call_value(
    machine: Machine,
    function: Value,
    args: tuple[Value, ...],
    keywords: dict[str, Value],
    node: ast.AST,
    *,
    is_open: bool = False,
    scope: Scope | None = None,
) -> Value:
    """The value of a call, with the event of it and of everything that happens inside."""
    call = Call(function, args, keywords, node if isinstance(node, ast.Call) else None, open=is_open)
    machine.event(CALL, call, node)
    callee = resolved(function)
    if isinstance(callee, Name):
        special = called_builtin(machine, callee.qualified, call, scope)
        if special is not None:
            return special
        if callee.qualified in _GROWING:
            call.depth, call.added = machine.depth, []
        elif callee.qualified in _GIVE_BACK_FIRST and args:
            call.result = resolved(args[0])
    elif isinstance(callee, Function):
        call.result = follow(machine, callee, call)
    elif isinstance(callee, Class):
        return instantiate(machine, callee, call)
    elif isinstance(callee, Instance):
        method = callee.cls.method("forward") or callee.cls.method("call") or callee.cls.method("__call__")
        if method is not None:
            bound = method.bound(callee)
            call.result = follow(machine, bound, call)
    elif isinstance(callee, Attribute):
        call.result = _method(machine, callee, call)
    elif isinstance(callee, Call):
        call.result = _called_object(machine, callee, call)
    return call


def _method(machine: Machine, method: Attribute, call: Call) -> Value | None:
    base = resolved(method.base)
    if isinstance(base, Collection):
        return grown(machine, base, method.name, call)
    if method.name in _GIVE_BACK_SELF and (isinstance(base, Instance) or _is_layer(base)):
        return base
    if method.name in _PREPARE and isinstance(base, Call) and base.qualified.startswith(_LAUNCHERS):
        given = [value for value in call.args if not isinstance(value, Element)]
        if len(given) == 1:
            return resolved(given[0])
        return Collection("tuple", given, call.node, open=call.open) if given else None
    if (
        isinstance(base, Call)
        and base.qualified in _GROWING
        and call.args
        and method.name in ("add", "append", "add_module", "insert", "extend")
    ):
        grown(machine, base, method.name, call)
    if isinstance(base, Instance) and len(call.args) >= 2:
        name = call.args[0]
        if method.name in (
            "add_module",
            "register_module",
            "register_buffer",
            "register_parameter",
            "__setattr__",
        ) and (isinstance(name, Const) and isinstance(name.value, str)):
            machine.store_attribute(base, name.value, call.args[1], call.node or ast.Pass())
    return None


def _is_layer(value: Value) -> bool:
    """A layer or a ready model of a library: moving it gives it back."""
    return (
        isinstance(value, Call)
        and value.qualified.startswith(_MODEL_MAKERS)
        and not value.qualified.startswith("torch.nn.functional")
    )


def _called_object(machine: Machine, callee: Call, call: Call) -> Value | None:
    """Calling what a library call made: a container of layers, a wrapped model, a partial function."""
    if callee.qualified in CONTAINERS and call.args:
        layers = container_layers(machine, callee)
        value = call.args[0]
        if layers is None:
            layers, value = container_tail(callee), Unknown(call.node)
            if not layers:
                return None
        for layer in layers:
            value = call_value(machine, layer, (value,), {}, layer.node or callee.node or ast.Pass())
        return value
    if callee.qualified in WRAPPERS and callee.args:
        inner = call_value(
            machine, callee.args[0], call.args, call.keywords, call.node or ast.Pass(), is_open=call.open
        )
        return inner
    if callee.qualified == "functools.partial" and callee.args:
        keywords = {**callee.keywords, **call.keywords}
        return call_value(
            machine, callee.args[0], (*callee.args[1:], *call.args), keywords, call.node or ast.Pass()
        )
    return None


def instantiate(machine: Machine, cls: Class, call: Call) -> Instance:
    """An object of a project class, with what its `__init__` stores."""
    instance = Instance(cls, call.node)
    instance.arguments = (call.args, call.keywords)
    call.result = instance
    machine.made.setdefault(id(cls.definition), []).append(instance)
    method = cls.method("__init__")
    if method is not None:
        bound = method.bound(instance)
        if machine.aside and not machine.silent:
            instance.initialise_later(lambda: machine.aside_work(lambda: follow(machine, bound, call)))
        else:
            follow(machine, bound, call)
    elif any(_last(part) == "dataclass" for part in cls.definition.decorator_list):
        fields = [
            part.target.id
            for part in cls.definition.body
            if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
        ]
        instance.attributes.update(zip(fields, call.args, strict=False))
        instance.attributes.update({name: value for name, value in call.keywords.items() if name in fields})
    return instance


def follow(machine: Machine, function: Function, call: Call | None) -> Value | None:
    """Evaluate the inside of a project function; what it returns, or None when it was not followed."""
    definition = function.definition
    if (
        len(machine.frames) > machine.most_depth
        or machine.visits.get(id(definition), 0) >= machine.most_visits
        or machine.silent
        or (machine.aside and (function.module is not machine.main or _is_deep(machine, function)))
        or any(
            frame.function is not None and frame.function.definition is definition for frame in machine.frames
        )
        or (function.module.may_yield and is_generator(definition))
    ):
        return None
    machine.visits[id(definition)] = machine.visits.get(id(definition), 0) + 1
    machine.reached.add(id(definition))
    scope = machine.new_scope(function.scope, function.module)
    bind(machine, function, call, scope)
    body = Body(definition, machine.block, machine.next_order(), function, call)
    machine.enter(body)
    return run_body(machine, function, scope, body)


_FORWARD = ("forward", "call", "__call__")


def _is_deep(machine: Machine, function: Function) -> bool:
    """A model inside a model inside a model: where nobody trains it, its inside is not looked at once more."""
    return (
        function.name in _FORWARD
        and sum(frame.function is not None and frame.function.name in _FORWARD for frame in machine.frames)
        >= 2
    )


def run_body(machine: Machine, function: Function, scope: Scope, body: Body) -> Value:
    """Evaluate a function's statements in a new block of `body`."""
    from netmend.program.engine.expressions import evaluate
    from netmend.program.engine.statements import execute

    definition = function.definition
    frame = Frame(function, function.owner)
    outer, outer_frames = machine.block, machine.frames
    machine.block = body.open()
    machine.frames = [*outer_frames, frame]
    try:
        if isinstance(definition, ast.Lambda):
            return evaluate(machine, definition.body, scope)
        managers = _grad_modes(machine, definition, function.scope)
        if managers:
            guard = Guard(definition.decorator_list[0], machine.block, machine.next_order(), managers)
            machine.enter(guard)
            machine.block = guard.open()
        goes_on = execute(machine, definition.body, scope)
        if goes_on or not frame.returns:
            frame.returns.append(Const(None, definition))
        return either(*frame.returns)
    finally:
        machine.block, machine.frames = outer, outer_frames


def _grad_modes(
    machine: Machine, definition: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope
) -> tuple[Value, ...]:
    from netmend.program.engine.expressions import evaluate

    found = []
    for decorator in definition.decorator_list:
        with machine.silently():
            value = evaluate(machine, decorator, scope)
        name = value.qualified if isinstance(value, Call | Name) else ""
        if name in _GRAD_MODES:
            found.append(value if isinstance(value, Call) else Call(value))
    return tuple(found)


def bind(machine: Machine, function: Function, call: Call | None, scope: Scope) -> None:
    """Parameters get the values of the call; defaults where none is given."""
    arguments = function.definition.args
    given = list(call.args) if call is not None else []
    keywords = dict(call.keywords) if call is not None else {}
    is_open = call is None or call.open
    if function.owner is not None:
        given.insert(0, function.owner)
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
    for parameter, default in zip(positional, defaults, strict=True):
        if given and isinstance(given[0], Element) and is_open:
            scope.set(parameter.arg, keywords.pop(parameter.arg, Unknown(parameter)))
        elif given:
            scope.set(parameter.arg, given.pop(0))
        else:
            _bind_keyword(machine, function, parameter, default, keywords, scope, is_open)
    for parameter, keyword_default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        _bind_keyword(machine, function, parameter, keyword_default, keywords, scope, is_open)
    if arguments.vararg is not None:
        scope.set(arguments.vararg.arg, Collection("tuple", given, arguments.vararg, open=is_open))
    if arguments.kwarg is not None:
        keys: list[Value | None] = [Const(name) for name in keywords]
        scope.set(
            arguments.kwarg.arg,
            Collection("dict", list(keywords.values()), arguments.kwarg, keys=keys, open=is_open),
        )


def _bind_keyword(
    machine: Machine,
    function: Function,
    parameter: ast.arg,
    default: ast.expr | None,
    keywords: dict[str, Value],
    scope: Scope,
    is_open: bool,
) -> None:
    from netmend.program.engine.expressions import evaluate

    if parameter.arg in keywords:
        scope.set(parameter.arg, keywords.pop(parameter.arg))
    elif default is not None and not is_open:
        with machine.silently():
            scope.set(parameter.arg, evaluate(machine, default, function.scope))
    else:
        scope.set(parameter.arg, Unknown(parameter))


_GENERATORS: dict[int, tuple[ast.AST, bool]] = {}


def is_generator(definition: ast.AST) -> bool:
    known = _GENERATORS.get(id(definition))
    if known is None or known[0] is not definition:
        if len(_GENERATORS) > 5000:
            _GENERATORS.clear()
        known = (definition, _yields(definition))
        _GENERATORS[id(definition)] = known
    return known[1]


def _yields(definition: ast.AST) -> bool:
    waiting = list(ast.iter_child_nodes(definition))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(
            node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef | ast.GeneratorExp
        ):
            waiting.extend(ast.iter_child_nodes(node))
    return False


def _last(node: ast.AST) -> str:
    if isinstance(node, ast.Call):
        node = node.func
    return getattr(node, "attr", "") or getattr(node, "id", "")
