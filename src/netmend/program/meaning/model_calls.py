"""Which model a call runs, whether it was moved to a device, and whether it is wrapped."""

from __future__ import annotations

import ast

from netmend.program.engine.history import CallEvent, Event
from netmend.program.engine.joined import WRAPPERS
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Const, Either, Instance, Param, Value, options, resolved
from netmend.program.meaning.roles import MODEL, role


def is_wrapped(value: Value) -> bool:
    """Is a model a parallel wrapper, on some path?"""
    return any(
        isinstance(option, Call) and option.qualified in WRAPPERS for option in options(resolved(value))
    )


def called_model(event: Event) -> Value | None:
    """The model that a call runs: `model(x)`; None for calls of anything else."""
    call = event.call
    if call is None or call.method or call.qualified:
        return None
    model = resolved(call.function)
    return model if role(model) == MODEL else None


def moves(program: Program) -> list[tuple[CallEvent, Value, Value | None]]:
    """Every `model.to(device)` and `model.cuda()`: the event, the model, the device (None for `cuda()`)."""
    found: list[tuple[CallEvent, Value, Value | None]] = []
    for event in program.methods_of("to", "cuda"):
        call = event.call
        if call.receiver is None or role(call.receiver) != MODEL:
            continue
        device = call.argument("device", 0) if call.method == "to" else None
        if call.method == "cuda" or (device is not None and may_be_gpu(device)):
            found.append((event, resolved(call.receiver), device))
    return found


def may_be_gpu(device: Value) -> bool:
    """A device that is a GPU, at least where there is one; types of numbers and the CPU are not."""
    device = resolved(device)
    if isinstance(device, Either):
        return any(may_be_gpu(option) for option in device.options)
    if isinstance(device, Const):
        return (isinstance(device.value, str) and device.value.startswith(("cuda", "mps", "xpu"))) or type(
            device.value
        ) is int
    if isinstance(device, Call):
        return device.qualified == "torch.device" and bool(device.args) and may_be_gpu(device.args[0])
    return isinstance(device, Param) and device.name == "device"


def moves_inside(model: Value) -> bool:
    """Does the model's own code move what it is given?"""
    if not isinstance(model, Instance):
        return False
    for cls in model.cls.ancestry():
        definition = getattr(cls, "definition", None)
        if definition is not None and any(
            isinstance(node, ast.Attribute) and node.attr in ("to", "cuda", "device")
            for node in ast.walk(definition)
        ):
            return True
    return False
