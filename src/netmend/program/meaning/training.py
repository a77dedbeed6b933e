"""Training loops: where gradients are computed, cleared, clipped, scaled and applied, and whose."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeGuard

from netmend.library.operations import OFF_DEVICE, SUMMARIES
from netmend.program.engine.history import (
    AUGMENT,
    EXIT,
    RETURN,
    STORE,
    Block,
    Body,
    Branch,
    CallEvent,
    Event,
    Guard,
    Loop,
    Part,
    StoreEvent,
)
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Attribute,
    Call,
    Const,
    Either,
    Function,
    Instance,
    Item,
    Name,
    Param,
    Unknown,
    Value,
    resolved,
)
from netmend.program.meaning.roles import (
    MODEL,
    OPTIMISER,
    OTHER,
    SCALER,
    SCHEDULER,
    bare,
    optimised,
    role,
    same,
)

_CLIPS = (
    "torch.nn.utils.clip_grad_norm_",
    "torch.nn.utils.clip_grad_value_",
    "torch.nn.utils.clip_grad_norm",
    "torch.nn.utils.clip_grad.clip_grad_norm_",
    "torch.nn.utils.clip_grad.clip_grad_value_",
)
_OFF = ("torch.no_grad", "torch.inference_mode", "torch.autograd.no_grad")


@dataclass(frozen=True)
class Round:
    """What one pass through the innermost loop around a `backward` does. Events are in order."""

    loop: Loop
    backward: tuple[CallEvent, ...]
    step: tuple[CallEvent, ...]  # of optimisers (also through a scaler)
    zero: tuple[Event, ...]  # gradients cleared, in whatever way
    clip: tuple[CallEvent, ...]
    schedule: tuple[CallEvent, ...]
    opaque: tuple[CallEvent, ...]  # calls that may do any of these unseen


def rounds(program: Program) -> Iterator[Round]:
    """Every innermost loop in which `backward` is called and an optimiser steps (in it, at any depth)."""
    seen: set[int] = set()
    for event in backward_calls(program):
        for loop in event.loops():
            if id(loop) in seen:
                break
            found = look_at(loop)
            if found.step:
                seen.add(id(loop))
                yield found
                break


def look_at(loop: Loop) -> Round:
    backward, step, zero, clip, schedule, opaque = [], [], [], [], [], []
    for event in loop.body.events():
        if is_backward(event):
            backward.append(event)
        elif is_step(event):
            step.append(event)
        elif is_zero(event):
            zero.append(event)
        elif is_clip(event):
            clip.append(event)
        elif is_schedule(event):
            schedule.append(event)
        elif is_opaque(event):
            opaque.append(event)
    return Round(loop, tuple(backward), tuple(step), tuple(zero), tuple(clip), tuple(schedule), tuple(opaque))


def backward_calls(program: Program) -> list[CallEvent]:
    return [event for event in program.methods_of("backward") if is_backward(event)]


def is_backward(event: Event) -> TypeGuard[CallEvent]:
    call = event.call
    return call is not None and (
        (call.method == "backward" and not isinstance(call.receiver, Name))
        or call.qualified == "torch.autograd.backward"
    )


_LAUNCHER = re.compile("accelerat|fabric|engine|strategy", re.IGNORECASE)


def is_launcher(value: Value | None) -> bool:
    """What calls `backward` for the program: `accelerator.backward(loss)`, `fabric.backward(loss)`."""
    if value is None:
        return False
    value = resolved(value)
    return bool(_LAUNCHER.search(getattr(value, "name", "") or getattr(value, "qualified", "")))


def is_step(event: Event) -> TypeGuard[CallEvent]:
    """`optimizer.step()`, `scaler.step(optimizer)`."""
    call = event.call
    if call is None or call.method not in ("step", "optimizer_step"):
        return False
    return role(call.receiver) == OPTIMISER or (role(call.receiver) == SCALER and bool(call.args))


def stepped(event: Event) -> Value | None:
    """The optimiser that a step applies."""
    call = event.call
    if call is None:
        return None
    return call.args[0] if role(call.receiver) == SCALER and call.args else call.receiver


def is_zero(event: Event) -> bool:
    """`zero_grad()` of anything, `p.grad = None`, `p.grad.zero_()`, `grad.data.fill_(0)`."""
    call = event.call
    if call is not None:
        if call.method == "zero_grad" or call.qualified == "torch._foreach_zero_":
            return True
        return call.method in ("zero_", "fill_", "detach_") and _is_grad(call.receiver)
    return isinstance(event, StoreEvent) and event.target.name == "grad"


def _is_grad(value: Value | None) -> bool:
    while isinstance(value, Attribute):
        if value.name == "grad":
            return True
        value = value.base
    return False


def is_clip(event: Event) -> TypeGuard[CallEvent]:
    call = event.call
    return call is not None and (
        call.qualified in _CLIPS or call.method in ("clip_grad_norm_", "clip_grad_value_")
    )


def is_schedule(event: Event) -> TypeGuard[CallEvent]:
    call = event.call
    return call is not None and call.method == "step" and role(call.receiver) == SCHEDULER


def is_opaque(event: Event) -> TypeGuard[CallEvent]:
    """A call whose inside is not seen and which could train: it was given an optimiser or a model, or is one's own method."""
    call = event.call
    if call is None or call.result is not None:
        return False
    callee = resolved(call.function)
    if isinstance(callee, Either):  # one of several functions: none of them was followed
        hers = [part.owner for part in map(resolved, callee.options) if isinstance(part, Function)]
        given = [*_given(call), *(owner for owner in hers if owner is not None)]
        return bool(hers) and any(
            isinstance(resolved(value), Instance) or role(value) in (OPTIMISER, MODEL) for value in given
        )
    return _trains_unseen(call, callee)


def _trains_unseen(call: Call, callee: Value) -> bool:
    if isinstance(callee, Name):
        name = callee.qualified
        if name.startswith(("torch.", "numpy.", "keras.", "tensorflow.")) or "." not in name:
            return False
        return any(role(value) in (OPTIMISER, MODEL) for value in _given(call))
    if isinstance(callee, Function):
        return True
    if isinstance(callee, Param | Unknown):
        return any(role(value) in (OPTIMISER, MODEL) for value in _given(call))
    if isinstance(callee, Attribute):
        base = resolved(callee.base)
        if callee.name in ("backward", "step", "zero_grad"):
            return role(base) == OTHER and not _is_environment(base)
        if isinstance(base, Instance):
            return role(base) == OTHER
        return role(base) != SCALER and any(role(value) == OPTIMISER for value in _given(call))
    return False


def _is_environment(value: Value) -> bool:
    """What an agent steps in: `env.step(action)` trains nothing."""
    name = value.name if isinstance(value, Attribute | Param) else ""
    made = value.qualified if isinstance(value, Call) else ""
    return "env" in name.lower() or made.startswith(("gym.", "gymnasium."))


def _given(call: Call) -> Iterator[Value]:
    yield from call.args
    yield from call.keywords.values()


def grad_is_off(event: Event | Part) -> bool:
    """Does it happen under `no_grad` or `inference_mode`?"""
    guards = (part for part in event.around() if isinstance(part, Guard))
    return next((off for guard in guards if (off := _switches_off(guard)) is not None), False)


def _switches_off(guard: Guard) -> bool | None:
    """Whether a `with` switches gradients off (True) or decides that they are on (False)."""
    for manager in guard.managers:
        name = manager.qualified if isinstance(manager, Call) else ""
        if name in _OFF:
            return True
        if name == "torch.set_grad_enabled" and isinstance(manager, Call) and manager.args:
            return isinstance(manager.args[0], Const) and manager.args[0].value is False
        if name == "torch.enable_grad":
            return False
    return None


def is_left_to_caller(event: Event) -> bool:
    """Does a caller switch gradients off around a function in which it is undecided whether the event happens?

    Training and evaluation share `step(model, batch, opt=None)`: under `no_grad` nobody gets to its `if opt is not None: loss.backward()`.
    """
    undecided = inside = False
    block: Block | None = event.block
    while block is not None and block.parent is not None:
        part = block.parent
        if isinstance(part, Branch) and not (part.kind == "try" and part.blocks[0] is block):
            inside = True
        elif isinstance(part, Body):
            undecided |= inside or any(_leaves_before(other, event, part) for other in part.events())
            inside = False
        elif isinstance(part, Guard) and (off := _switches_off(part)) is not None:
            return off and undecided
        block = part.block
    return False


def _leaves_before(other: Event, event: Event, body: Body) -> bool:
    if other.kind not in (EXIT, RETURN) or other.order > event.order:
        return False
    return next(part for part in other.around() if isinstance(part, Body)) is body


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
    if call.qualified in ("torch.autograd.grad", "torch.autograd.backward", "setattr"):
        return True
    if call.qualified.startswith("torch.func."):
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
