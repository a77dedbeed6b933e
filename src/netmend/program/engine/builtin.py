"""Builtin functions whose result can be told."""

from __future__ import annotations

from collections.abc import Callable

from netmend.program.engine.machine import Machine
from netmend.program.engine.scope import Scope
from netmend.program.engine.values import Call, Collection, Const, Element, Instance, Value, resolved


def called_builtin(machine: Machine, name: str, call: Call, scope: Scope | None) -> Value | None:
    """The value of a builtin's call, or None when it stays a plain call."""
    handler = _HANDLERS.get(name)
    return handler(machine, call) if handler is not None else None


def _list(machine: Machine, call: Call) -> Value | None:
    kind = call.qualified
    if not call.args and not call.keywords and not call.open:
        return Collection(kind, [], call.node, keys=[] if kind == "dict" else None, depth=machine.depth)
    if kind == "dict" and not call.args and not call.open:
        keys: list[Value | None] = [Const(name) for name in call.keywords]
        return Collection("dict", list(call.keywords.values()), call.node, keys=keys, depth=machine.depth)
    if len(call.args) == 1:
        inner = resolved(call.args[0])
        if isinstance(inner, Collection) and kind != "dict" and inner.kind != "dict":
            made = Collection(kind, list(inner.items), call.node, open=inner.open, depth=machine.depth)
            made.repeated = inner.repeated
            return made
    return None


def _len(machine: Machine, call: Call) -> Value | None:
    inner = resolved(call.args[0]) if len(call.args) == 1 else None
    if isinstance(inner, Collection) and not inner.open:
        if inner.kind == "dict" and machine.depth > inner.depth:
            return None  # `number[word] = len(number)`: it may have grown in the round before
        return Const(len(inner.items), call.node)
    if isinstance(inner, Const) and isinstance(inner.value, str):
        return Const(len(inner.value), call.node)
    return None


def _number(convert: Callable[[object], object]) -> Callable[[Machine, Call], Value | None]:
    def handler(machine: Machine, call: Call) -> Value | None:
        inner = call.args[0] if len(call.args) == 1 and not call.keywords else None
        if isinstance(inner, Const):
            try:
                return Const(convert(inner.value), call.node)
            except (TypeError, ValueError, OverflowError):
                return None
        return None

    return handler


def _setattr(machine: Machine, call: Call) -> Value | None:
    if len(call.args) == 3:
        owner, name = resolved(call.args[0]), call.args[1]
        if (
            isinstance(owner, Instance)
            and isinstance(name, Const)
            and isinstance(name.value, str)
            and call.node
        ):
            machine.store_attribute(owner, name.value, call.args[2], call.node)
    return None


def _next(machine: Machine, call: Call) -> Value | None:
    if call.args:
        inner = resolved(call.args[0])
        if isinstance(inner, Call) and inner.qualified == "iter" and inner.args:
            call.result = Element(inner.args[0], call.node)
    return None


_HANDLERS: dict[str, Callable[[Machine, Call], Value | None]] = {
    "list": _list,
    "tuple": _list,
    "dict": _list,
    "set": _list,
    "len": _len,
    "int": _number(int),  # type: ignore[arg-type]
    "float": _number(float),  # type: ignore[arg-type]
    "bool": _number(bool),
    "str": _number(str),
    "setattr": _setattr,
    "next": _next,
}
