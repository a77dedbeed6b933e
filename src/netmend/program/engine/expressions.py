"""Evaluate expressions."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from netmend.program.engine.arithmetic import computed
from netmend.program.engine.calls import call_value
from netmend.program.engine.definitions import FileValue, member_of_file
from netmend.program.engine.history import STORE, YIELD, Branch, Target
from netmend.program.engine.joined import either
from netmend.program.engine.machine import Machine
from netmend.program.engine.scope import Scope
from netmend.program.engine.values import (
    Attribute,
    Call,
    Class,
    Collection,
    Const,
    Either,
    Element,
    Function,
    Instance,
    Item,
    Name,
    Operation,
    Unknown,
    Value,
    resolved,
)

_OPERATORS: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**", ast.MatMult: "@",
    ast.LShift: "<<", ast.RShift: ">>", ast.BitOr: "|", ast.BitXor: "^", ast.BitAnd: "&",
    ast.USub: "neg", ast.UAdd: "pos", ast.Not: "not", ast.Invert: "~",
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
    ast.And: "and", ast.Or: "or",
}  # fmt: skip


def operator_sign(node: ast.AST) -> str:
    return _OPERATORS[type(node)]


def evaluate(machine: Machine, node: ast.AST | None, scope: Scope) -> Value:
    """The value of an expression; calls in it happen, in Python's order."""
    machine.effort -= 1
    if machine.effort < 0:
        machine.spend()
    handler = _HANDLERS.get(type(node))
    value = handler(machine, node, scope) if handler is not None else Unknown(node)
    if machine.seen is not None:
        machine.seen.setdefault(id(node), []).append(value)
    return value


def _constant(machine: Machine, node: ast.Constant, scope: Scope) -> Value:
    return Const(node.value, node)


def _name(machine: Machine, node: ast.Name, scope: Scope) -> Value:
    return scope.lookup(node.id, node)


def _attribute(machine: Machine, node: ast.Attribute, scope: Scope) -> Value:
    return attribute_of(machine, evaluate(machine, node.value, scope), node.attr, node)


def attribute_of(machine: Machine, base: Value, name: str, node: ast.AST) -> Value:
    if isinstance(base, Name):
        return Name(canonical(f"{base.qualified}.{name}"), node)
    if isinstance(base, FileValue):
        return member_of_file(machine, base, name, node)
    if isinstance(base, Instance):
        found = base.attributes.get(name)
        if found is not None:
            return found
        method = base.cls.method(name)
        if method is not None:
            if _is_property(method):
                return call_value(machine, method.bound(base), (), {}, node)
            if _is_static(method):
                return method
            if _decorated(method, ("classmethod",)):
                return method.bound(base.cls)
            return method.bound(base)
        for value in base.cls.ancestry():
            if isinstance(value, Class) and name in value.attributes:
                return value.attributes[name]
        return Attribute(base, name, node)
    if isinstance(base, Class):
        if name in base.attributes:
            return base.attributes[name]
        unbound = base.method(name)
        if unbound is None:
            return Attribute(base, name, node)
        if _decorated(unbound, ("classmethod",)):
            return unbound.bound(base)
        return unbound
    if isinstance(base, Call) and base.result is not None and isinstance(base.result, Instance | Collection):
        return attribute_of(machine, base.result, name, node)
    if isinstance(base, Call) and base.qualified == "torch.nn.ModuleDict" and base.args:
        named = resolved(base.args[0])
        layer = named.get(name) if isinstance(named, Collection) and named.keys is not None else None
        if layer is not None:
            return layer
    if isinstance(base, Call) and base.qualified == "super":
        return _above(machine, base, name, node)
    if isinstance(base, Either) and all(isinstance(option, Instance) for option in base.options):
        each = [attribute_of(machine, option, name, node) for option in base.options]
        if not any(_is_inherited(value, name) for value in each):
            return either(*each)
    return Attribute(base, name, node)


def _is_inherited(value: Value, name: str) -> bool:
    """A method of a library class, such as `zero_grad`: of one of several models it is still that method."""
    return isinstance(value, Attribute) and value.name == name and isinstance(value.base, Instance)


def _above(machine: Machine, base: Call, name: str, node: ast.AST) -> Value:
    """`super().name`: the method of the next project class, else of a library class."""
    frame = machine.frames[-1]
    owner, within = frame.owner, frame.function.within if frame.function is not None else None
    if isinstance(owner, Instance) and within is not None:
        method = owner.cls.method(name, after=within)
        if method is not None:
            return method.bound(owner)
    return Attribute(base, name, node)


@lru_cache(maxsize=20_000)
def canonical(qualified: str) -> str:
    """One name for what can be reached by several."""
    for prefix, short in _PREFIXES:
        if qualified.startswith(prefix):
            return short + qualified[len(prefix) :]
    return qualified


_PREFIXES = (
    ("tensorflow.keras.", "keras."),
    ("tensorflow.python.keras.", "keras."),
    ("tf_keras.", "keras."),
    ("keras.src.", "keras."),
    ("keras.api.", "keras."),
    ("torch.nn.modules.loss.", "torch.nn."),
    ("torch.optim.adam.", "torch.optim."),
    ("torch.optim.adamw.", "torch.optim."),
    ("torch.optim.sgd.", "torch.optim."),
    ("torch.utils.data.dataloader.", "torch.utils.data."),
    ("torch.utils.data.dataset.", "torch.utils.data."),
    ("torch.utils.data.distributed.", "torch.utils.data."),
    ("torch.cuda.amp.grad_scaler.", "torch.cuda.amp."),
    ("lightning.pytorch.", "pytorch_lightning."),
)


def _call(machine: Machine, node: ast.Call, scope: Scope) -> Value:
    function = evaluate(machine, node.func, scope)
    args: list[Value] = []
    keywords: dict[str, Value] = {}
    is_open = False
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            spread = resolved(evaluate(machine, argument.value, scope))
            if isinstance(spread, Collection) and not spread.open and spread.kind != "dict":
                args.extend(spread.items)
            else:
                is_open = True
                args.append(Element(spread, argument))
                args.extend(spread.tail if isinstance(spread, Collection) else ())
        else:
            args.append(evaluate(machine, argument, scope))
    for keyword in node.keywords:
        value = evaluate(machine, keyword.value, scope)
        if keyword.arg is not None:
            keywords[keyword.arg] = value
        elif isinstance(value, Collection) and value.keys is not None and not value.open:
            for key, item in zip(value.keys, value.items, strict=False):
                if isinstance(key, Const) and isinstance(key.value, str):
                    keywords.setdefault(key.value, item)
        else:
            is_open = True
    return call_value(machine, function, tuple(args), keywords, node, is_open=is_open, scope=scope)


def _operation(machine: Machine, node: ast.BinOp, scope: Scope) -> Value:
    left = evaluate(machine, node.left, scope)
    right = evaluate(machine, node.right, scope)
    return computed(_OPERATORS[type(node.op)], (left, right), node)


def _unary(machine: Machine, node: ast.UnaryOp, scope: Scope) -> Value:
    return computed(_OPERATORS[type(node.op)], (evaluate(machine, node.operand, scope),), node)


def _compare(machine: Machine, node: ast.Compare, scope: Scope) -> Value:
    values = [evaluate(machine, part, scope) for part in (node.left, *node.comparators)]
    if len(node.ops) == 1:
        return computed(_OPERATORS[type(node.ops[0])], (values[0], values[1]), node)
    return Operation("compare", tuple(values), node)


def _logic(machine: Machine, node: ast.BoolOp, scope: Scope) -> Value:
    values = [evaluate(machine, node.values[0], scope)]
    branch = Branch(node, machine.block, machine.next_order(), values[0], "and")

    def rest() -> bool:
        values.extend(evaluate(machine, part, scope) for part in node.values[1:])
        return True

    machine.inside(branch, rest)
    if any(True for _ in branch.events()):
        machine.enter(branch)
        branch.open()
    return computed(_OPERATORS[type(node.op)], tuple(values), node)


def _conditional(machine: Machine, node: ast.IfExp, scope: Scope) -> Value:
    test = evaluate(machine, node.test, scope)
    if isinstance(test, Const):
        return evaluate(machine, node.body if test.value else node.orelse, scope)
    branch = machine.branch(node, test)
    values: list[Value] = []

    def arm(expression: ast.expr) -> Callable[[], bool]:
        def work() -> bool:
            values.append(evaluate(machine, expression, scope))
            return True

        return work

    for expression in (node.body, node.orelse):
        machine.inside(branch, arm(expression))
    return either(*values)


def _sequence(kind: str) -> Callable[[Machine, Any, Scope], Value]:
    def handler(machine: Machine, node: ast.List | ast.Tuple | ast.Set, scope: Scope) -> Value:
        made = Collection(kind, [], node, depth=machine.depth)
        for element in node.elts:
            if not isinstance(element, ast.Starred):
                made.grow([evaluate(machine, element, scope)], certain=True)
                continue
            spread = resolved(evaluate(machine, element.value, scope))
            if isinstance(spread, Collection) and not spread.open and spread.kind != "dict":
                made.grow(spread.items, certain=True)
            else:
                made.grow([], certain=False)
                made.tail.extend(spread.tail if isinstance(spread, Collection) else ())
        return made

    return handler


def _dict(machine: Machine, node: ast.Dict, scope: Scope) -> Value:
    keys: list[Value | None] = []
    items: list[Value] = []
    is_open = False
    for key, value in zip(node.keys, node.values, strict=True):
        item = evaluate(machine, value, scope)
        if key is None:
            if isinstance(item, Collection) and item.keys is not None and not item.open:
                keys.extend(item.keys)
                items.extend(item.items)
            else:
                is_open = True
            continue
        keys.append(evaluate(machine, key, scope))
        items.append(item)
    return Collection("dict", items, node, keys=keys, open=is_open, depth=machine.depth)


def _comprehension(kind: str) -> Callable[[Machine, Any, Scope], Value]:
    def handler(machine: Machine, node: Any, scope: Scope) -> Value:
        from netmend.program.engine.statements import comprehension_items

        items, keys = comprehension_items(machine, node, scope)
        made = Collection(kind, items, node, keys=keys, open=True, depth=machine.depth)
        made.repeated = True
        return made

    return handler


def _subscript(machine: Machine, node: ast.Subscript, scope: Scope) -> Value:
    base = evaluate(machine, node.value, scope)
    key = evaluate(machine, node.slice, scope)
    return item_of(base, key, node)


def item_of(base: Value, key: Value, node: ast.AST | None) -> Value:
    inner = base.result if isinstance(base, Call) and isinstance(base.result, Collection) else base
    if isinstance(inner, Collection) and isinstance(key, Const):
        if inner.kind == "dict":
            found = inner.get(key.value)
            if found is not None:
                return found
        elif (
            isinstance(key.value, int)
            and not inner.open
            and -len(inner.items) <= key.value < len(inner.items)
        ):
            return inner.items[key.value]
    if isinstance(inner, Either):
        options = [item_of(option, key, node) for option in inner.options]
        if not any(isinstance(option, Item) for option in options):
            return either(*options)
    return Item(base, key, node)


def _slice(machine: Machine, node: ast.Slice, scope: Scope) -> Value:
    parts = tuple(
        evaluate(machine, part, scope) if part is not None else Const(None, node)
        for part in (node.lower, node.upper, node.step)
    )
    return Operation("slice", parts, node)


def _lambda(machine: Machine, node: ast.Lambda, scope: Scope) -> Value:
    return Function(node, scope, scope.module)


def _format(machine: Machine, node: ast.JoinedStr, scope: Scope) -> Value:
    parts = tuple(
        evaluate(machine, part.value, scope) for part in node.values if isinstance(part, ast.FormattedValue)
    )
    return Operation("format", parts, node)


def _walrus(machine: Machine, node: ast.NamedExpr, scope: Scope) -> Value:
    value = evaluate(machine, node.value, scope)
    old = scope.get(node.target.id)
    scope.set(node.target.id, value)
    machine.event(STORE, value, node, Target(node.target.id, old=old))
    return value


def _await(machine: Machine, node: ast.Await, scope: Scope) -> Value:
    return evaluate(machine, node.value, scope)


def _yield(machine: Machine, node: ast.Yield | ast.YieldFrom, scope: Scope) -> Value:
    value = evaluate(machine, node.value, scope) if node.value is not None else Const(None, node)
    machine.event(YIELD, value, node)
    return Unknown(node)


def _is_property(function: Function) -> bool:
    return _decorated(function, ("property", "cached_property"))


def _is_static(function: Function) -> bool:
    return _decorated(function, ("staticmethod",))


def _decorated(function: Function, names: tuple[str, ...]) -> bool:
    decorators = getattr(function.definition, "decorator_list", ())
    return any((getattr(part, "id", "") or getattr(part, "attr", "")) in names for part in decorators)


_HANDLERS: dict[type, Callable[[Machine, Any, Scope], Value]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.BinOp: _operation,
    ast.UnaryOp: _unary,
    ast.Compare: _compare,
    ast.BoolOp: _logic,
    ast.IfExp: _conditional,
    ast.List: _sequence("list"),
    ast.Tuple: _sequence("tuple"),
    ast.Set: _sequence("set"),
    ast.Dict: _dict,
    ast.ListComp: _comprehension("list"),
    ast.SetComp: _comprehension("set"),
    ast.GeneratorExp: _comprehension("generator"),
    ast.DictComp: _comprehension("dict"),
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.Lambda: _lambda,
    ast.JoinedStr: _format,
    ast.NamedExpr: _walrus,
    ast.Await: _await,
    ast.Yield: _yield,
    ast.YieldFrom: _yield,
}
