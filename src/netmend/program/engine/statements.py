"""Evaluate statements. Each handler tells whether the path goes on behind it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from netmend.program.engine.arithmetic import computed
from netmend.program.engine.assigned import assigned, breaks
from netmend.program.engine.definitions import define_class, define_function, import_from, import_module
from netmend.program.engine.expressions import evaluate, item_of, operator_sign
from netmend.program.engine.history import AUGMENT, DELETE, EXIT, RETURN, STORE, Guard, Loop, Target
from netmend.program.engine.joined import either
from netmend.program.engine.machine import Machine
from netmend.program.engine.scope import Scope
from netmend.program.engine.values import (
    Call,
    Collection,
    Const,
    Element,
    Instance,
    Item,
    Unknown,
    Value,
    resolved,
)


def execute(machine: Machine, body: Sequence[ast.stmt], scope: Scope) -> bool:
    """Evaluate statements in order; False when every path leaves before the end."""
    for statement in body:
        machine.spend()
        handler = _HANDLERS.get(type(statement))
        if handler is not None and handler(machine, statement, scope) is False:
            return False
    return True


def assign(machine: Machine, target: ast.AST, value: Value, scope: Scope, node: ast.AST) -> None:
    """Store a value in a variable, an attribute, an item, or unpacked in several."""
    if isinstance(target, ast.Name):
        old = scope.get(target.id)
        scope.set(target.id, value)
        machine.event(STORE, value, node, Target(target.id, old=old))
    elif isinstance(target, ast.Attribute):
        base = evaluate(machine, target.value, scope)
        owner = resolved(base)
        old = owner.attributes.get(target.attr) if isinstance(owner, Instance) else None
        machine.event(STORE, value, node, Target(target.attr, base=base, old=old))
        if isinstance(owner, Instance):
            machine.store_attribute(owner, target.attr, value, node)
    elif isinstance(target, ast.Subscript):
        base = evaluate(machine, target.value, scope)
        key = evaluate(machine, target.slice, scope)
        machine.event(STORE, value, node, Target("", base=base, key=key))
        owner = resolved(base)
        if isinstance(owner, Collection):
            if owner.keys is not None and isinstance(key, Const):
                owner.keys.append(key)
                owner.items.append(value)
                owner.open |= machine.depth > owner.depth
            else:
                owner.items.append(value)
                owner.open = True
    elif isinstance(target, ast.Tuple | ast.List):
        _unpack(machine, target, value, scope, node)
    elif isinstance(target, ast.Starred):
        assign(machine, target.value, Unknown(target), scope, node)


def _unpack(
    machine: Machine, target: ast.Tuple | ast.List, value: Value, scope: Scope, node: ast.AST
) -> None:
    starred = any(isinstance(part, ast.Starred) for part in target.elts)
    inner = resolved(value)
    for position, part in enumerate(target.elts):
        if starred:
            piece: Value = Unknown(part)
        elif isinstance(inner, Collection) and inner.kind != "dict" and not inner.open:
            piece = inner.items[position] if position < len(inner.items) else Unknown(part)
        else:
            piece = item_of(value if inner is value else inner, Const(position), part)
        assign(machine, part, piece, scope, node)


def _assign(machine: Machine, node: ast.Assign, scope: Scope) -> None:
    value = evaluate(machine, node.value, scope)
    for target in node.targets:
        assign(machine, target, value, scope, node)


def _annotated(machine: Machine, node: ast.AnnAssign, scope: Scope) -> None:
    if node.value is not None:
        assign(machine, node.target, evaluate(machine, node.value, scope), scope, node)


def _augmented(machine: Machine, node: ast.AugAssign, scope: Scope) -> None:
    target = node.target
    old = evaluate(machine, target, scope)
    change = evaluate(machine, node.value, scope)
    sign = operator_sign(node.op)
    owner = resolved(old)
    if sign == "+" and isinstance(owner, Collection) and owner.kind == "list":
        other = resolved(change)
        known = isinstance(other, Collection) and not other.open and machine.depth <= owner.depth
        owner.grow(other.items if isinstance(other, Collection) else [], certain=known)
        if isinstance(other, Collection) and other.open:
            owner.tail.extend(other.tail if machine.depth <= owner.depth else [])
        return
    value = computed(sign, (old, change), node)
    if isinstance(target, ast.Name):
        machine.event(AUGMENT, value, node, Target(target.id, old=old))
        scope.set(target.id, value)
    elif isinstance(target, ast.Attribute):
        base = evaluate(machine, target.value, scope)
        machine.event(AUGMENT, value, node, Target(target.attr, base=base, old=old))
        owner = resolved(base)
        if isinstance(owner, Instance):
            machine.store_attribute(owner, target.attr, value, node)
    elif isinstance(target, ast.Subscript):
        key = evaluate(machine, target.slice, scope)
        machine.event(
            AUGMENT, value, node, Target("", base=evaluate(machine, target.value, scope), key=key, old=old)
        )


def _expression(machine: Machine, node: ast.Expr, scope: Scope) -> None:
    if not isinstance(node.value, ast.Constant):
        evaluate(machine, node.value, scope)


def _return(machine: Machine, node: ast.Return, scope: Scope) -> bool:
    value = evaluate(machine, node.value, scope) if node.value is not None else Const(None, node)
    machine.frames[-1].returns.append(value)
    machine.event(RETURN, value, node)
    return False


def _exit(machine: Machine, node: ast.stmt, scope: Scope) -> bool:
    if isinstance(node, ast.Raise) and node.exc is not None:
        evaluate(machine, node.exc, scope)
    machine.event(EXIT, Unknown(node), node)
    return False


def _if(machine: Machine, node: ast.If, scope: Scope) -> bool:
    test = evaluate(machine, node.test, scope)
    if _is_main(node.test):
        return execute(machine, node.body, scope)
    if isinstance(test, Const):
        return execute(machine, node.body if test.value else node.orelse, scope)
    branch = machine.branch(node, test)
    ends = machine.paths(
        scope,
        [
            lambda: machine.inside(branch, lambda: execute(machine, node.body, scope)),
            lambda: machine.inside(branch, lambda: execute(machine, node.orelse, scope)),
        ],
    )
    return any(ends)


def _is_main(test: ast.expr) -> bool:
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.left, ast.Name)
        and test.left.id == "__name__"
        and isinstance(test.ops[0], ast.Eq)
    )


def _loop(machine: Machine, node: ast.For | ast.AsyncFor | ast.While, scope: Scope) -> bool:
    """The body is evaluated once; what it assigns may on entry also stem from the round before."""
    iterable = None if isinstance(node, ast.While) else evaluate(machine, node.iter, scope)
    loop = Loop(node, machine.block, machine.next_order(), iterable, None)
    machine.enter(loop)
    start = dict(scope.names)
    grown: set[str] = set()
    anew = assigned(node.body, grown)
    for name in (*anew, *grown):
        known = scope.names.get(name)
        # a list that only grows keeps being the same list
        if isinstance(known, Value) and not (name not in anew and isinstance(known, Collection)):
            scope.names[name] = either(known, Unknown(node))
    machine.depth += 1

    def body() -> bool:
        if isinstance(node, ast.While):
            loop.test = evaluate(machine, node.test, scope)
        elif iterable is not None:
            assign(machine, node.target, element_of(iterable, node.target), scope, node.target)
        return execute(machine, node.body, scope)

    machine.inside(loop, body)
    machine.depth -= 1
    for name, value in start.items():
        now = scope.names.get(name)
        if now is not value and isinstance(now, Value) and isinstance(value, Value):
            scope.names[name] = either(now, value)
    if node.orelse:
        machine.inside(loop, lambda: execute(machine, node.orelse, scope))
    # Written out, not worked out: `while len(rows) < 48` is judged before the list has grown.
    forever = isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and bool(node.test.value)
    return not (forever and not breaks(node.body))


def element_of(iterable: Value, node: ast.AST) -> Value:
    """What a loop variable stands for, through enumerate, zip and progress bars."""
    inner = resolved(iterable)
    if isinstance(inner, Call):
        name = inner.qualified.rpartition(".")[2]
        if name == "enumerate" and inner.args:
            return Collection("tuple", [Element(inner, node), element_of(inner.args[0], node)], node)
        if name == "zip" and inner.args and not inner.open:
            return Collection("tuple", [element_of(part, node) for part in inner.args], node)
        if name in ("tqdm", "trange", "track", "iter", "reversed", "progress_bar") and inner.args:
            return element_of(inner.args[0], node)
        if inner.qualified == "torch.nn.ModuleList" and inner.args:
            return element_of(inner.args[0], node)
    if isinstance(inner, Collection):
        if inner.repeated and len(inner.items) == 1 and inner.kind != "dict":
            return inner.items[0]
        if inner.kind == "items" and len(inner.items) == 1:
            return Collection("tuple", [Unknown(node), inner.items[0]], node)
        if inner.kind == "values" and len(inner.items) == 1:
            return inner.items[0]
    return Element(iterable, node)


def _with(machine: Machine, node: ast.With | ast.AsyncWith, scope: Scope) -> bool:
    managers = []
    guard = Guard(node, machine.block, machine.next_order(), ())
    for item in node.items:
        manager = evaluate(machine, item.context_expr, scope)
        managers.append(manager)
        if item.optional_vars is not None:
            inner = manager.args[0] if isinstance(manager, Call) and _is_bar(manager) else manager
            assign(machine, item.optional_vars, inner, scope, node)
    guard.managers = tuple(managers)
    guard.block = machine.block
    machine.enter(guard)
    return machine.inside(guard, lambda: execute(machine, node.body, scope))


def _is_bar(manager: Call) -> bool:
    return manager.qualified.rpartition(".")[2] == "tqdm" and bool(manager.args)


def _try(machine: Machine, node: Any, scope: Scope) -> bool:
    branch = machine.branch(node, None, "try")

    def handler(part: ast.ExceptHandler) -> Callable[[], bool]:
        def work() -> bool:
            if part.name:
                scope.set(part.name, Unknown(part))
            return machine.inside(branch, lambda: execute(machine, part.body, scope))

        return work

    works: list[Callable[[], bool]] = [
        lambda: machine.inside(branch, lambda: execute(machine, [*node.body, *node.orelse], scope))
    ]
    works.extend(handler(part) for part in node.handlers)
    goes_on = any(machine.paths(scope, works))
    if node.finalbody:
        goes_on = execute(machine, node.finalbody, scope) and goes_on
    return goes_on


def _match(machine: Machine, node: ast.Match, scope: Scope) -> bool:
    subject = evaluate(machine, node.subject, scope)
    branch = machine.branch(node, subject, "match")

    def arm(case: ast.match_case) -> Callable[[], bool]:
        def work() -> bool:
            for part in ast.walk(case.pattern):
                name = getattr(part, "name", None) or getattr(part, "rest", None)
                if isinstance(name, str):
                    scope.set(name, Unknown(part))
            return machine.inside(branch, lambda: execute(machine, case.body, scope))

        return work

    ends = machine.paths(scope, [*(arm(case) for case in node.cases), lambda: True])
    branch.complete = False
    return any(ends)


def _delete(machine: Machine, node: ast.Delete, scope: Scope) -> None:
    for target in node.targets:
        value = evaluate(machine, target, scope)
        machine.event(DELETE, value, node)
        if isinstance(target, ast.Name):
            scope.set(target.id, Unknown(node))


def _shared(machine: Machine, node: ast.Global | ast.Nonlocal, scope: Scope) -> None:
    for name in node.names:
        if isinstance(node, ast.Global):
            scope.shared[name] = scope.module.scope
        else:
            outer = scope.outer
            while outer is not None and name not in outer.names:
                outer = outer.outer
            if outer is not None:
                scope.shared[name] = outer


def _assert(machine: Machine, node: ast.Assert, scope: Scope) -> None:
    evaluate(machine, node.test, scope)


def comprehension_items(
    machine: Machine, node: Any, scope: Scope
) -> tuple[list[Value], list[Value | None] | None]:
    """Evaluate a comprehension once, as a loop with a scope of its own."""
    inner = machine.new_scope(scope, scope.module)
    first = node.generators[0]
    iterable = evaluate(machine, first.iter, scope)
    loop = Loop(node, machine.block, machine.next_order(), iterable, None)
    machine.enter(loop)
    items: list[Value] = []
    keys: list[Value | None] | None = None
    machine.depth += 1

    def work() -> bool:
        nonlocal keys
        for position, generator in enumerate(node.generators):
            source = iterable if position == 0 else evaluate(machine, generator.iter, inner)
            _bind_target(generator.target, element_of(source, generator.target), inner)
            for condition in generator.ifs:
                evaluate(machine, condition, inner)
        if isinstance(node, ast.DictComp):
            keys = [evaluate(machine, node.key, inner)]
            items.append(evaluate(machine, node.value, inner))
        else:
            items.append(evaluate(machine, node.elt, inner))
        return True

    machine.inside(loop, work)
    machine.depth -= 1
    return items, keys


def _bind_target(target: ast.AST, value: Value, scope: Scope) -> None:
    if isinstance(target, ast.Name):
        scope.set(target.id, value)
    elif isinstance(target, ast.Tuple | ast.List):
        inner = resolved(value)
        for position, part in enumerate(target.elts):
            if isinstance(inner, Collection) and not inner.open and position < len(inner.items):
                _bind_target(part, inner.items[position], scope)
            else:
                _bind_target(part, Item(value, Const(position), part), scope)
    elif isinstance(target, ast.Starred):
        _bind_target(target.value, Unknown(target), scope)


_HANDLERS: dict[type, Callable[[Machine, Any, Scope], bool | None]] = {
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Expr: _expression,
    ast.Return: _return,
    ast.Raise: _exit,
    ast.Break: _exit,
    ast.Continue: _exit,
    ast.If: _if,
    ast.For: _loop,
    ast.AsyncFor: _loop,
    ast.While: _loop,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Try: _try,
    ast.Match: _match,
    ast.Delete: _delete,
    ast.Global: _shared,
    ast.Nonlocal: _shared,
    ast.Assert: _assert,
    ast.FunctionDef: define_function,
    ast.AsyncFunctionDef: define_function,
    ast.ClassDef: define_class,
    ast.Import: import_module,
    ast.ImportFrom: import_from,
}
if hasattr(ast, "TryStar"):
    _HANDLERS[ast.TryStar] = _try
