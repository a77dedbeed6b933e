"""What stops gradients: values without one, accuracies, losses that are forced to need one."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from netmend.program.engine.values import (
    Attribute,
    Call,
    Const,
    Either,
    Element,
    Item,
    Name,
    Operation,
    Param,
    Unknown,
    Value,
    resolved,
)
from netmend.program.meaning.operations import LAYOUT, operation, walk

_CUTS = {
    "detach": ".detach()", "detach_": ".detach_()", "item": ".item()", "numpy": ".numpy()", "tolist": ".tolist()", "argmax": "argmax",
    "argmin": "argmin", "round": "round", "long": ".long()", "int": ".int()", "bool": ".bool()", "byte": ".byte()", "argsort": "argsort",
    "tensor": "torch.tensor()", "from_numpy": "torch.from_numpy()", "sign": "sign", "floor": "floor", "ceil": "ceil", "eq": "a comparison",
    "gt": "a comparison", "lt": "a comparison", "ge": "a comparison", "le": "a comparison", "ne": "a comparison",
}  # fmt: skip
_COMPARISONS = frozenset(("==", "!=", "<", ">", "<=", ">=", "compare", "not", "in", "not in", "is", "is not"))
_NUMBERS = frozenset(("float", "int", "bool", "round", "len"))
_TYPES = ("torch.int", "torch.long", "torch.bool", "torch.uint8", "torch.LongTensor", "torch.IntTensor")


@dataclass(frozen=True)
class Cut:
    """Something that lets no gradient through."""

    title: str
    node: ast.AST


def cut_at(value: Value) -> Cut | None:
    """What stops the gradient at this very value, if anything."""
    node = value.node
    if node is None:
        return None
    if isinstance(value, Attribute):
        return Cut(".data", node) if value.name == "data" and not isinstance(value.base, Name) else None
    if isinstance(value, Operation):
        return Cut("a comparison", node) if value.operator in _COMPARISONS else None
    if not isinstance(value, Call):
        return None
    if value.qualified.startswith("numpy."):
        return Cut("numpy", node)
    if value.qualified in _NUMBERS:
        return Cut(f"{value.qualified}()", node)
    op = operation(value)
    if op is None or not op.inputs or op.layer is not None:
        return None
    if op.name in _CUTS:
        return Cut(_CUTS[op.name], node)
    if op.name in ("to", "type") and any(
        isinstance(arg, Name) and arg.qualified.startswith(_TYPES) for arg in value.args
    ):
        return Cut(f".{op.name}() a whole-number type", node)
    return None


def is_given(value: Value) -> bool:
    """A target that the code at hand is given and does not compute: a parameter, a variable from elsewhere, a part of a batch."""
    for _ in range(20):
        value = resolved(value)
        if isinstance(value, Either):
            return all(is_given(option) for option in value.options)
        op = operation(value)
        if isinstance(value, Item | Attribute):
            value = value.base
        elif op is not None and op.inputs and (op.name in LAYOUT or op.name in _CUTS):
            value = op.inputs[0]
        else:
            return isinstance(value, Param | Unknown | Element | Const)
    return False


_COUNTING = LAYOUT | {"mean", "sum", "count_nonzero"}


def compared(value: Value | None) -> ast.AST | None:
    """The comparison of an accuracy: `(out.argmax(1) == y).float().mean()`, also `1 - accuracy`; None for anything else."""
    for _ in range(20):
        value = resolved(value)
        op = operation(value)
        if isinstance(value, Operation):
            if value.operator in ("==", "!=") and any(
                cut_at(resolved(part)) is not None for part in value.operands
            ):
                return value.node
            if value.operator not in ("-", "/", "*", "neg"):
                return None
            moving = [part for part in value.operands if not isinstance(part, Const)]
            value = moving[0] if moving else None
        elif op is not None and op.name in ("eq", "ne") and op.inputs:
            return op.node
        elif op is not None and op.inputs and (op.name in _COUNTING or op.name == "requires_grad_"):
            value = op.inputs[0]
        else:
            return None
    return None


_MAKERS = ("torch.tensor", "torch.autograd.Variable", "torch.as_tensor", "torch.Tensor", "torch.FloatTensor")


def is_forced(value: Value) -> bool:
    """A leaf made of a computed loss: `torch.tensor(loss.item(), requires_grad=True)`, `loss.detach().requires_grad_()`."""
    value = resolved(value)
    if not isinstance(value, Call):
        return False
    wanted = value.keywords.get("requires_grad")
    if value.qualified in _MAKERS and isinstance(wanted, Const) and wanted.value is True and value.args:
        return is_computed(value.args[0])
    return value.method == "requires_grad_" and value.receiver is not None and is_computed(value.receiver)


def is_computed(value: Value) -> bool:
    """Does it come out of a loss or a network, not only out of constants and given data?"""
    value = resolved(value)
    if isinstance(value, Either):
        return all(is_computed(option) for option in value.options)
    for part in walk(value):
        op = operation(part)
        if op is not None and (
            op.layer is not None or op.name.endswith(("_loss", "cross_entropy", "kl_div"))
        ):
            return True
    return False
