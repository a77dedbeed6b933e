"""Whose gradients are cleared, written and scaled."""

from __future__ import annotations

from netmend.library.operations import OFF_DEVICE, SUMMARIES
from netmend.program.engine.history import AUGMENT, STORE, Event, Loop
from netmend.program.engine.program import Program
from netmend.program.engine.values import Attribute, Call, Const, Instance, Item, Name, Value, resolved
from netmend.program.meaning.roles import MODEL, OPTIMISER, SCALER, bare, optimised, role, same
from netmend.program.meaning.training import Round, is_launcher, is_zero, stepped

_READS = frozenset((*OFF_DEVICE, *SUMMARIES, "clone", "norm", "abs", "max", "min", "view", "flatten"))

_CHANGES = frozenset(("mul_", "div_", "add_", "sub_", "clamp_", "nan_to_num_", "register_hook"))


def clears(zero: Event, optimiser: Value | None) -> bool:
    """Is it sure that a `zero_grad()` clears what this optimiser steps?"""
    call = zero.call
    if call is None or call.method != "zero_grad" or optimiser is None:
        return False
    if same(call.receiver, optimiser):
        return True
    owners = optimised(optimiser) or ()
    return len(owners) == 1 and same(bare(call.receiver), bare(owners[0]))


def is_written(event: Event) -> bool:
    """Does the program put gradients in place itself: `p.grad = g`, `p.grad.copy_(g)`, `p.grad /= n`, `loss.grad_fn(…)`?"""
    if event.kind in (STORE, AUGMENT) and event.target is not None:
        if event.target.name not in ("grad", "_grad") and not _holds_gradient(event.target.base):
            return False
        return not (isinstance(event.value, Const) and event.value.value is None)
    call = event.call
    if call is None:
        return False
    if call.qualified in (
        "torch.autograd.grad",
        "torch.autograd.backward",
        "setattr",
    ) or call.qualified.startswith("torch.func."):
        return True
    return bool(call.method) and call.method not in _READS and _holds_gradient(call.receiver)


def is_replaced(event: Event) -> bool:
    """Like `is_written`, but changes that keep what is there do not count: `p.grad.mul_(0.5)`, `p.grad /= n`."""
    call = event.call
    is_change = event.kind == AUGMENT or (call is not None and call.method in _CHANGES)
    return not is_change and is_written(event)


def _holds_gradient(value: Value | None) -> bool:
    while isinstance(value, Attribute | Item):
        if isinstance(value, Attribute) and value.name in ("grad", "_grad"):
            return True
        value = value.base
    return False


def scaler_of(backward: Event) -> Value | None:
    """The scaler of `scaler.scale(loss).backward()`."""
    loss = backward.call.receiver if backward.call is not None else None
    loss = resolved(loss)
    if isinstance(loss, Call) and loss.method == "scale" and role(loss.receiver) == SCALER:
        return resolved(loss.receiver)
    return None


def is_scaled_step(step: Event) -> bool:
    """`scaler.step(optimizer)`"""
    return step.call is not None and role(step.call.receiver) == SCALER


def steps_plainly(step: Event) -> bool:
    """`optimizer.step()` or `scaler.step(optimizer)`, without a closure that would compute gradients itself."""
    call = step.call
    if call is None or call.open or call.keywords:
        return False
    return len(call.args) == (1 if is_scaled_step(step) else 0)


def one_optimiser(steps: tuple[Event, ...]) -> Value | None:
    """The optimiser, if all steps are of the same one."""
    found = [stepped(step) for step in steps]
    return found[0] if found and all(same(found[0], other) for other in found) else None


def loss_of(backward: Event) -> Value | None:
    """What `backward` starts from, without the scaler."""
    call = backward.call
    if call is None:
        return None
    if call.qualified == "torch.autograd.backward":
        return call.args[0] if call.args else None
    if (
        role(call.receiver) in (OPTIMISER, MODEL)
        or is_launcher(call.receiver)
        or isinstance(resolved(call.receiver or Const(None)), Instance)
    ):
        return call.args[0] if call.args else None  # accelerator.backward(loss)
    loss = resolved(call.receiver)
    if isinstance(loss, Call) and loss.method == "scale" and loss.args:
        return resolved(loss.args[0])
    return loss


def cleared_outside(program: Program, turn: Round) -> Event | None:
    """A `zero_grad()` for this loop that stands outside of it: in a loop around, or before it."""
    optimiser = one_optimiser(turn.step)
    around = {id(part) for part in turn.loop.around() if isinstance(part, Loop)}
    for event in program.entry_of(turn.loop).block.events():
        if not is_zero(event) or not clears(event, optimiser) or turn.loop in event.loops():
            continue
        loops = {id(loop) for loop in event.loops()}
        if loops <= around and (loops or event.order < turn.loop.order):
            return event
    return None


def is_clipping(event: Event) -> bool:
    """A clipping by torch's own functions, to a limit (an infinite one only measures the norm)."""
    call = event.call
    if call is None or not call.qualified.startswith("torch.nn.utils.clip_grad"):
        return False
    limit = call.argument("max_norm", 1) or call.argument("clip_value", 1)
    if isinstance(limit, Call) and limit.qualified == "float":
        return False
    return not (isinstance(limit, Const) and limit.value == float("inf")) and not isinstance(limit, Name)
