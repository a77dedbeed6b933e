"""Lists, dicts and containers of layers that a program builds up step by step."""

from __future__ import annotations

from netmend.program.engine.machine import Machine
from netmend.program.engine.values import Call, Collection, Const, Element, Value, resolved


def grown(machine: Machine, base: Collection | Call, method: str, call: Call) -> Value | None:
    """`base.append(item)` and its kin: the items are remembered; inside a deeper loop or branch their number is not."""
    if isinstance(base, Call):
        _grown_layers(machine, base, method, call)
        return None
    deeper = machine.depth > base.depth
    if method in ("append", "add") and call.args:
        base.grow([call.args[-1]], certain=not deeper)
    elif method in ("extend", "update") and call.args:
        other = resolved(call.args[0])
        if isinstance(other, Collection) and not other.open and (other.keys is None) == (base.keys is None):
            base.grow(other.items, certain=not deeper)
            if base.keys is not None and other.keys is not None:
                base.keys.extend(other.keys)
        else:
            base.grow(other.items if isinstance(other, Collection) else [], certain=False)
    elif method == "insert" and len(call.args) == 2:
        base.items.append(call.args[1])
        base.open = True
    elif method in ("pop", "remove", "clear", "sort", "reverse", "setdefault", "popitem"):
        base.grow([], certain=False)
    elif method == "copy":
        return Collection(
            base.kind, list(base.items), call.node, keys=base.keys, open=base.open, depth=machine.depth
        )
    elif method == "get" and base.kind == "dict" and call.args and isinstance(call.args[0], Const):
        return base.get(call.args[0].value)
    elif method in ("values", "items", "keys") and base.kind == "dict":
        return Collection(method, base.items, call.node, keys=base.keys, open=base.open)
    return None


def _grown_layers(machine: Machine, base: Call, method: str, call: Call) -> None:
    if machine.depth > base.depth or method in ("insert", "extend"):
        base.added = None
    elif base.added is not None:
        base.added.append(call.args[-1])


def container_tail(container: Call) -> list[Value]:
    """The last layers of a `Sequential` whose other layers cannot be told."""
    if container.added is None:
        return []
    args = list(container.args)
    last = max((place for place, value in enumerate(args) if isinstance(value, Element)), default=None)
    if last is not None:
        return args[last + 1 :] + container.added
    if len(args) == 1 and not container.open:
        inner = resolved(args[0])
        if isinstance(inner, Collection) and inner.open:
            return inner.tail + container.added
    return []


def container_layers(machine: Machine | None, container: Call) -> list[Value] | None:
    """The layers of a `Sequential`, in order; None when their number or order cannot be told."""
    if container.open:
        return None
    given: list[Value] = list(container.args)
    if container.qualified.startswith("keras.") and "layers" in container.keywords:
        given = [container.keywords["layers"]]
    layers: list[Value] = []
    for value in given:
        inner = resolved(value)
        if isinstance(inner, Call) and inner.qualified in ("collections.OrderedDict", "dict") and inner.args:
            inner = resolved(inner.args[0])
            if isinstance(inner, Collection) and inner.kind != "dict":
                if inner.open:
                    return None
                pairs = [resolved(item) for item in inner.items]
                if not all(isinstance(pair, Collection) and len(pair.items) == 2 for pair in pairs):
                    return None
                layers.extend(pair.items[1] for pair in pairs if isinstance(pair, Collection))
                continue
        if isinstance(inner, Collection):
            if inner.open:
                return None
            layers.extend(inner.items)
        else:
            layers.append(value)
    return None if container.added is None else layers + container.added
