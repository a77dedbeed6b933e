"""Optimisers and schedules that a program makes, their settings and what happens to them; weights that it changes by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.library.optimisers import ARGUMENTS
from netmend.program.engine.history import AUGMENT, CallEvent, Event, Loop
from netmend.program.engine.program import Program, once
from netmend.program.engine.values import Attribute, Call, Collection, Operation, Param, Value, resolved
from netmend.program.meaning.freezing import owner_of_parameter
from netmend.program.meaning.operations import walk
from netmend.program.meaning.roles import OPTIMISER, SCALER, bare, optimised, role, same
from netmend.program.meaning.training import is_schedule, is_step, stepped
from netmend.program.meaning.uses import calls_given

# These only ever lower the rate that the optimiser was given.
FALLING_SCHEDULES = frozenset(
    ("StepLR", "MultiStepLR", "ExponentialLR", "CosineAnnealingLR", "ReduceLROnPlateau", "CosineAnnealingWarmRestarts")
)  # fmt: skip


@dataclass(frozen=True)
class Made:
    """One optimiser of `torch.optim` where it is made."""

    kind: str  # "Adam"
    event: CallEvent
    call: Call

    def options(self, name: str) -> Iterator[Value]:
        """The values given for a setting, in the call and in groups of parameters."""
        names = ARGUMENTS.get(self.kind, ())
        given = self.call.argument(name, names.index(name) + 1 if name in names else None)
        if given is not None:
            yield given
        groups = self.call.argument("params", 0)
        groups = resolved(groups)
        if isinstance(groups, Collection) and groups.kind == "list":
            for group in groups.items:
                group = resolved(group)
                found = group.get(name) if isinstance(group, Collection) and group.kind == "dict" else None
                if found is not None:
                    yield found

    @property
    def models(self) -> tuple[Value, ...]:
        """The models whose parameters it was given; none when that cannot be told."""
        owners = [bare(owner) for owner in optimised(self.call) or ()]
        return tuple(owner for owner in owners if owner is not None)


@once
def made_optimisers(program: Program) -> tuple[Made, ...]:
    found = []
    for event in program.calls:
        call = event.call
        if call.qualified.startswith("torch.optim.") and role(call) == OPTIMISER:
            found.append(Made(call.qualified.rpartition(".")[2], event, call))
    return tuple(found)


@once
def steps(program: Program) -> tuple[tuple[CallEvent, Value], ...]:
    """Every step of an optimiser with the optimiser."""
    found = []
    for event in program.methods_of("step"):
        optimiser = stepped(event) if is_step(event) else None
        if optimiser is not None:
            found.append((event, resolved(optimiser)))
    return tuple(found)


def is_stepped(program: Program, optimiser: Value, after: int = 0) -> bool:
    """Is a step of this very optimiser seen (after a point in the order of events)?"""
    if any(event.order > after and known is optimiser for event, known in steps(program)):
        return True
    return any(
        entry.function is not None
        and entry.function.name == "configure_optimizers"
        and any(value is optimiser for value in walk(entry.result))
        for entry in program.entries
    )  # Lightning steps what it is given


def handed_on(program: Program, optimiser: Call) -> list[CallEvent]:
    """Calls that get the optimiser and may change it: anything but a gradient scaler and schedules that only lower the rate."""
    found = []
    for event in calls_given(program, optimiser):
        call = event.call
        if role(call.receiver) == SCALER:
            continue
        if call.qualified.rpartition(".")[2] not in FALLING_SCHEDULES and call.result is None:
            found.append(event)
    return found


def groups_are_changed(program: Program, optimiser: Call) -> bool:
    """Does the program reach into `optimizer.param_groups` or add a group?"""
    for event in program.events:
        target = event.target
        if target is not None and target.base is not None and _reaches(target.base, optimiser):
            return True
        call = event.call
        if (
            call is not None
            and call.method in ("add_param_group", "load_state_dict")
            and call.receiver is not None
            and resolved(call.receiver) is optimiser
        ):
            return True
    return False


def _reaches(value: Value | None, optimiser: Call) -> bool:
    return any(
        isinstance(part, Attribute) and part.name == "param_groups" and resolved(part.base) is optimiser
        for part in walk(value)
    )


_PLACES: dict[str, tuple[str, ...]] = {
    "StepLR": ("step_size", "gamma"),
    "MultiStepLR": ("milestones", "gamma"),
    "ExponentialLR": ("gamma",),
    "CosineAnnealingLR": ("T_max", "eta_min"),
    "OneCycleLR": ("max_lr", "total_steps", "epochs", "steps_per_epoch"),
    "ReduceLROnPlateau": ("mode", "factor", "patience"),
    "LinearLR": ("start_factor", "end_factor", "total_iters"),
    "PolynomialLR": ("total_iters",),
    "get_linear_schedule_with_warmup": ("num_warmup_steps", "num_training_steps"),
    "get_cosine_schedule_with_warmup": ("num_warmup_steps", "num_training_steps"),
}
_PLAIN_NAME = re.compile(r"^(lr_?)?scheduler$")


@dataclass(frozen=True)
class ScheduleStep:
    """One `scheduler.step()`."""

    event: CallEvent
    made: Call | None  # `StepLR(...)`, where it is known
    kind: str  # "StepLR"; "" when only its name tells what it is

    @property
    def loop(self) -> Loop | None:
        return self.event.loop

    def option(self, name: str) -> Value | None:
        """A setting, given by name or by place."""
        if self.made is None:
            return None
        places = _PLACES.get(self.kind, ())
        return self.made.argument(name, places.index(name) + 1 if name in places else None)

    def drives(self, optimiser: Value | None) -> bool:
        """Is it the schedule of this optimiser? Where it is not known how it was made, nothing speaks against it."""
        return self.made is None or same(self.made.argument("optimizer", 0), optimiser)


@once
def schedule_steps(program: Program) -> tuple[ScheduleStep, ...]:
    return tuple(_found(program))


def _found(program: Program) -> Iterator[ScheduleStep]:
    for event in program.methods_of("step"):
        if event.call.receiver is None or not is_schedule(event):
            continue
        made = resolved(event.call.receiver)
        if isinstance(made, Call) and not made.open:
            yield ScheduleStep(event, made, made.qualified.rpartition(".")[2])
        elif isinstance(made, Param) and (
            _PLAIN_NAME.match(made.name) or made.annotation.startswith("torch.optim.")
        ):
            yield ScheduleStep(event, None, "")


def steps_in(loop: Loop, schedule: ScheduleStep) -> list[CallEvent]:
    """The steps of the schedule's optimiser in a loop, at any depth."""
    return [event for event in loop.events() if is_step(event) and schedule.drives(stepped(event))]


def updated_by_hand(event: Event) -> Value | None:
    """The weight that an event changes in place by its own gradient; the model for one of `model.parameters()`."""
    if event.kind == AUGMENT and isinstance(event.value, Operation) and len(event.value.operands) == 2:
        weight, change = event.value.operands
    elif event.call is not None and event.call.method in ("sub_", "add_") and event.call.receiver is not None:
        weight, change = event.call.receiver, event.call
    else:
        return None
    weight = _whole(weight)
    parts = change.args if isinstance(change, Call) and change is event.call else (change,)
    for part in parts:
        for value in walk(part):
            if isinstance(value, Attribute) and value.name == "grad" and same(_whole(value.base), weight):
                return owner_of_parameter(weight) or weight
    return None


def _whole(value: Value) -> Value:
    """`w` for `w.data`."""
    value = resolved(value)
    while isinstance(value, Attribute) and value.name == "data":
        value = resolved(value.base)
    return value
