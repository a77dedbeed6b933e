"""One name for each tensor operation, whether written as a layer, a function or a method, in torch or Keras."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import overload

from netmend.library import activations
from netmend.library.layers import LINEAR
from netmend.library.operations import COPIES, DEVICES, FLOATS, VIEWS
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Either,
    Element,
    Instance,
    Item,
    Name,
    Operation,
    Value,
    resolved,
)

_FUNCTIONS = (
    "torch.nn.functional.",
    "torch.special.",
    "torch.",
    "keras.activations.",
    "keras.ops.",
    "tensorflow.nn.",
    "tensorflow.math.",
)
_NAMES = {
    "logsoftmax": "log_softmax", "logsigmoid": "log_sigmoid", "leakyrelu": "leaky_relu", "expit": "sigmoid", "swish": "silu",
    "softmax2d": "softmax", "special.softmax": "softmax", "hardsigmoid": "hard_sigmoid", "hardtanh": "hardtanh", "dense": "linear",
    "lazylinear": "linear", "activation": "activation", "clip": "clamp", "clip_": "clamp", "clamp_": "clamp", "relu_": "relu",
    "sigmoid_": "sigmoid", "tanh_": "tanh", "softmax_": "softmax", "batchnormalization": "batchnorm", "layernormalization": "layernorm",
}  # fmt: skip

ACTIVATIONS = frozenset(_NAMES.get(each.name, each.name) for each in activations.ACTIVATIONS) | {
    "tanhshrink",
    "softshrink",
    "hardshrink",
}
HIDDEN_ACTIVATIONS = ACTIVATIONS - {"softmax", "log_softmax", "log_sigmoid", "softmin"}
LINEAR_MAPS = frozenset(("bilinear", *(name.lower() for name in LINEAR)))
# Operations that keep the values and only change how they are laid out or stored.
LAYOUT = frozenset(
    (
        *VIEWS,
        *COPIES,
        *FLOATS,
        *DEVICES,
        "bfloat16",
        "type",
        "type_as",
        "t",
        "swapaxes",
        "movedim",
        "view_as",
        "reshape_as",
        "expand",
        "identity",
        "requires_grad_",
        "unflatten",
        "squeeze_",
        "unsqueeze_",
        "ravel",
        "float_",
    )
)


@dataclass(frozen=True)
class Op:
    """A tensor operation: its name, what goes in, and the layer when it is one."""

    name: str
    value: Call
    inputs: tuple[Value, ...]
    layer: Call | None = None  # the `nn.Linear(4, 3)` that made the layer

    @property
    def node(self) -> ast.AST:
        """Where a person would point: the call of the operation, for a layer of a container its creation."""
        return self.value.node or (self.layer.node if self.layer is not None else None) or ast.Pass()

    @property
    def input(self) -> Value | None:
        return self.inputs[0] if self.inputs else None

    def option(self, name: str, position: int | None = None) -> Value | None:
        """An argument of the operation: of the layer's creation (position from 0), or of the function behind its input."""
        if self.layer is not None:
            return self.layer.argument(name, position)
        shift = 0 if self.value.method else 1
        return self.value.argument(name, None if position is None else position + shift)


def operation(value: Value | None) -> Op | None:
    """The operation that a value is the result of, or None. Followed calls must be resolved before."""
    if not isinstance(value, Call):
        return None
    callee = value.function if not isinstance(value.function, Call) else resolved(value.function)
    if isinstance(callee, Call):
        return _layer_call(value, callee)
    if isinstance(callee, Name):
        return _function_call(value, callee.qualified)
    if isinstance(callee, Attribute) and not isinstance(resolved(callee.base), Instance | Collection | Const):
        if isinstance(callee.base, Name):
            return None
        return Op(_plain(callee.name), value, (callee.base, *value.args))
    return None


def _layer_call(value: Call, layer: Call) -> Op | None:
    name = layer.qualified
    if name.startswith("torch.nn.") and not name.startswith("torch.nn.functional."):
        return Op(_plain(name.rpartition(".")[2]), value, value.args, layer)
    if name.startswith("keras.layers."):
        return Op(_plain(name.rpartition(".")[2]), value, value.args, layer)
    return None


def _function_call(value: Call, name: str) -> Op | None:
    for prefix in _FUNCTIONS:
        if name.startswith(prefix):
            short = name[len(prefix) :]
            if "." in short or short[:1].isupper():
                return None
            inputs = value.args or tuple(
                value.keywords[key] for key in ("input", "x", "logits", "self") if key in value.keywords
            )
            return Op(_plain(short), value, inputs)
    return None


def named(call: Call) -> tuple[str, tuple[Value, ...]]:
    """The plain name of a torch or numpy operation, and its inputs."""
    if call.qualified.startswith("numpy."):
        return call.qualified.rpartition(".")[2], call.args
    if call.qualified in ("torch.FloatTensor", "torch.LongTensor", "torch.Tensor"):
        return "tensor", call.args
    op = operation(call)
    return (op.name, op.inputs) if op is not None else ("", ())


def layer_name(layer: Value) -> str:
    """`linear` for the value of `nn.Linear(4, 3)` or `keras.layers.Dense(3)`; "" for anything else."""
    layer = resolved(layer)
    if not isinstance(layer, Call) or layer.qualified.startswith("torch.nn.functional."):
        return ""
    is_layer = layer.qualified.startswith(("torch.nn.", "keras.layers."))
    return _plain(layer.qualified.rpartition(".")[2]) if is_layer else ""


def _plain(name: str) -> str:
    lowered = name.lower()
    return _NAMES.get(lowered, lowered)


@overload
def behind(value: Value, step: Callable[[Value], Value | None]) -> Value: ...
@overload
def behind(value: Value | None, step: Callable[[Value], Value | None]) -> Value | None: ...
def behind(value: Value | None, step: Callable[[Value], Value | None]) -> Value | None:
    """What a value is when it is followed back as far as it goes: `step` gives what stands before one, None at the end."""
    value = resolved(value)
    for _ in range(_MOST_STEPS):
        before = step(value) if value is not None else None
        if before is None:
            break
        value = resolved(before)
    return value


def input_through(value: Value, through: frozenset[str]) -> Value | None:
    """What goes into an operation of one of these names; None for anything else."""
    op = operation(value)
    return op.input if op is not None and op.name in through else None


def origins(
    value: Value | None, through: frozenset[str] = LAYOUT, *, picks: bool = False
) -> tuple[Value, ...]:
    """What a value stems from on every path, seen through the given operations; one value per path.

    `picks`: also through picking rows, columns or places of what an operation gives.
    """
    found: list[Value] = []
    waiting = [value] if value is not None else []
    for _ in range(200):
        if not waiting:
            return tuple(found)
        current = resolved(waiting.pop())
        if isinstance(current, Either):
            waiting.extend(reversed(current.options))
        elif picks and isinstance(current, Item) and operation(resolved(current.base)) is not None:
            waiting.append(current.base)
        elif (before := input_through(current, through)) is not None:
            waiting.append(before)
        else:
            found.append(current)
    return (*found, *waiting)


def all_origins(
    value: Value | None, test: Callable[[Op], bool], through: frozenset[str] = LAYOUT, *, picks: bool = False
) -> tuple[Op, ...]:
    """The operations a value stems from, if every path ends in one that passes the test; else nothing."""
    ops = [operation(origin) for origin in origins(value, through, picks=picks)]
    passing = tuple(op for op in ops if op is not None and test(op))
    return passing if len(passing) == len(ops) else ()


_MOST_STEPS = 40  # backwards from one value
_MOST_WALKED = 3000  # values looked at in one walk


def walk(value: Value | None, *, into: Callable[[Value], bool] | None = None) -> Iterator[Value]:
    """Everything a value is computed from, itself first; `into` says which values are entered."""
    return reached(value, lambda part: parts_of(part) if into is None or into(part) else ())


def reached(
    value: Value | None, parts: Callable[[Value], Iterable[Value]], most: int = _MOST_WALKED
) -> Iterator[Value]:
    """Everything that is reached from a value by way of its parts, each once, itself first."""
    waiting = [value] if value is not None else []
    seen: set[int] = set()
    while waiting and len(seen) < most:
        current = waiting.pop()
        if id(current) not in seen:
            seen.add(id(current))
            yield current
            waiting.extend(reversed(list(parts(current))))


def parts_of(value: Value) -> Iterator[Value]:
    """The values that a value is directly computed from (not the object a layer was made by)."""
    if isinstance(value, Call):
        if value.result is not None:
            yield value.result
            return
        if isinstance(value.function, Attribute):
            yield value.function.base
        yield from value.args
        yield from value.keywords.values()
    elif isinstance(value, Attribute | Item):
        yield value.base
    elif isinstance(value, Operation):
        yield from value.operands
    elif isinstance(value, Either):
        yield from value.options
    elif isinstance(value, Collection):
        yield from value.items
    elif isinstance(value, Element):
        yield value.iterable


def depends_on(value: Value | None, source: Value) -> bool:
    return any(part is source for part in walk(value))
