"""Learning-rate schedules: which one is stepped where, for which optimiser, with what settings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.program.engine.history import CallEvent, Loop
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Param, Value, resolved
from netmend.program.meaning.remember import once
from netmend.program.meaning.roles import same
from netmend.program.meaning.training import is_schedule, is_step, stepped

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
        return next(iter(self.event.loops()), None)

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
