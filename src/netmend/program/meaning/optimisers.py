"""Optimisers that a program makes, their settings and what happens to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from netmend.library.optimisers import ARGUMENTS
from netmend.program.engine.history import CallEvent
from netmend.program.engine.program import Program
from netmend.program.engine.values import Attribute, Call, Collection, Value, resolved
from netmend.program.meaning.operations import walk
from netmend.program.meaning.remember import once
from netmend.program.meaning.roles import OPTIMISER, SCALER, bare, optimised, role
from netmend.program.meaning.training import is_step, stepped
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
