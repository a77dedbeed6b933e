"""Linear maps that follow each other with nothing between them that bends."""

from __future__ import annotations

import ast

from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Collection, Element, Value, resolved
from netmend.program.meaning.losses import losses
from netmend.program.meaning.operations import ACTIVATIONS, Op, layer_name, operation, walk
from netmend.program.meaning.paths import Paths
from netmend.program.meaning.remember import once
from netmend.program.meaning.sizes import axes_of, numbers, setting, width
from netmend.program.meaning.training import backward_calls

_BENDING = ACTIVATIONS | {
    "maxpool1d",
    "maxpool2d",
    "max_pool2d",
    "max_pool1d",
    "adaptivemaxpool2d",
    "abs",
    "pow",
    "exp",
}


def bends(known: Paths, first: Op, second: Op) -> bool:
    """Does something non-linear stand elsewhere on the same way, so that the network is meant to bend?"""
    before = first
    for _ in range(40):
        found = operation(resolved(before.input))
        if found is None:
            break
        if found.name in _BENDING:
            return True
        before = found
    value: Value | None = second.value
    for _ in range(40):
        value = known.only_user(value) if value is not None else None
        after = operation(value)
        if after is None:
            return False
        if after.name in _BENDING:
            return True
    return False


def is_trained(program: Program, op: Op) -> bool:
    """Does the layer's result reach a loss?"""
    return id(op.value) in _in_losses(program)


@once
def _in_losses(program: Program) -> set[int]:
    found: set[int] = set()
    for use in losses(program):
        found.update(id(resolved(part)) for part in walk(use.prediction))
    for event in backward_calls(program):
        found.update(id(resolved(part)) for part in walk(event.call.receiver))
    return found


def is_grown_stack(program: Program, container: Call) -> bool:
    """`nn.Sequential(*layers)` of a list to which a loop appends linear layers and nothing else."""
    given = container.args[0] if len(container.args) == 1 else None
    listed = resolved(given.iterable) if isinstance(given, Element) else None
    if not isinstance(listed, Collection) or listed.repeated or listed.kind != "list" or not listed.items:
        return False
    if not isinstance(listed.node, ast.List) or not all(
        layer_name(item) == "linear" for item in listed.items
    ):
        return False
    holder = next(
        (above for above in program.above(listed.node) if isinstance(above, ast.FunctionDef | ast.Module)),
        None,
    )
    if holder is None or any(isinstance(node, ast.AugAssign) for node in ast.walk(holder)):
        return False
    used = [event for event in program.calls if _is_of(event.call, listed)]
    return any(event.loops() for event in used) and all(event.call.method == "append" for event in used)


def _is_of(call: Call, listed: Collection) -> bool:
    """A method of the list, or a call that gets the list itself."""
    receiver = resolved(call.receiver)
    return receiver is listed or any(resolved(value) is listed for value in call.args)


def is_plain(op: Op) -> bool:
    """A linear layer, or a convolution with a real window over all channels."""
    if op.layer is None or op.layer.open:
        return False
    if op.name == "linear":
        return True
    axes = axes_of(op.name)
    if axes is None or not op.name.startswith("conv") or "transpose" in op.name:
        return False
    if setting(op.option("groups", 6), 1) != 1:
        return False
    kernel = numbers(op.option("kernel_size", 2), axes)
    return all(size is not None and size > 1 for size in kernel)


def is_one_map(first: Op, second: Op) -> bool:
    """Is the middle at least as wide as one of the ends, so that one layer could do the same?"""
    names = ("in_features", "out_features") if first.name == "linear" else ("in_channels", "out_channels")
    start, middle = width(first, names[0], 0), width(first, names[1], 1)
    taken, end = width(second, names[0], 0), width(second, names[1], 1)
    if start is None or middle is None or end is None or middle != taken:
        return False
    if first.name != "linear":
        return middle >= min(start, end) and middle * 4 >= start  # from many channels to few, in two windows
    is_bare = all(setting(op.option("bias", 2), True) is False for op in (first, second))
    return middle >= min(start, end) and not is_bare  # without any bias it is a factorisation
