"""Steps: where one training step ends and the next begins, with an optimiser or without, and the one row that is written for each."""

from __future__ import annotations

import contextlib
import math
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import torch
from torch import Tensor

from netmend.adapters.torch.guard import guarded
from netmend.adapters.torch.meters.host_meter import NAN
from netmend.adapters.torch.watch.arrivals import Gathering
from netmend.adapters.torch.watch.eligible import first_tensor
from netmend.adapters.torch.watch.graphs import leaves_of
from netmend.observe.schedule import FULL, LIGHT
from netmend.vocabulary import ModelFact, ParameterFact, Site

if TYPE_CHECKING:
    from netmend.adapters.torch.meters.meter import Meter
    from netmend.adapters.torch.watch.session import TorchSession


_STALLED = 8  # backward passes without any optimiser step, after which iterations are counted without one
_CLOSURES = 32  # in one optimiser step, after which each is a step: L-BFGS may train within a single call
_MEMORY_EVERY = 16


class Steps:
    """A step is an optimiser step; in programs that never call one, the next forward pass after a backward pass."""

    def __init__(self, session: TorchSession) -> None:
        self.session = session
        self.backwards = 0  # since the last step
        self.backward_site: Site | None = None
        self.optimizer_steps = 0
        self.in_optimizer_step = False  # closures run forward and backward passes within it
        self.backwards_total = 0
        self._within = ""  # the optimiser whose step is in progress
        self._closures = 0  # backward passes within it
        self._glances: list[float] = []  # losses of the light step in progress
        self.row = StepRow(session)

    def backward(self, objective: Tensor | None, site: Site | None) -> float | None:
        """A backward pass begins; returns the objective's value if it is known already."""
        self.backwards += 1
        self.backwards_total += 1
        self._closures += self.in_optimizer_step
        self.backward_site = site
        return self.row.add_loss(objective) if objective is not None else None

    def end(self, optimizer: str, detail: str = "") -> None:
        """The step in progress is over."""
        session, recorder = self.session, self.session.recorder
        step, level = recorder.step, recorder.level
        self.row.close(optimizer, step, self.backwards, level)
        recorder.patterns.close(step)
        if level == FULL:
            self._end_full(step)
        session.data.step_over(step)
        session.collect()
        self.backwards = 0
        self.row = StepRow(session)
        session.losses.forget()
        session.nonfinite.forget()
        session.by_hand.forget_leaves()
        session.layers.step_over()
        session.often.step_over()
        session.functions.leave()
        session.account()
        self._begin(recorder.end_step(step))

    @guarded("the objective")
    def glance(self, tensors: Any) -> None:
        """A backward pass of a light step begins, of which the loss is read and nothing else."""
        objective = first_tensor(tensors)
        unscaled = self.session.losses.unscaled.get(objective) if objective is not None else None
        shown = objective if unscaled is None else unscaled
        if shown is not None and shown.is_cpu and shown.numel() == 1:
            self._glances.append(float(shown.detach()))

    def end_light(self, optimizer: str = "") -> None:
        """The end of a step of which at most the loss is recorded; kept as short as can be."""
        session, recorder = self.session, self.session.recorder
        session.account()
        if self._glances:
            self._write_glances(optimizer)
        if session.evaluation.current is not None:
            session.evaluation.close()
        if recorder.end_light_step():
            self.backwards = 0
            recorder.patterns.forget()
            self._begin(recorder.level)

    @guarded("the objective")
    def _write_glances(self, optimizer: str) -> None:
        recorder, values = self.session.recorder, self._glances
        self._glances = []
        loss = recorder.last_loss = sum(values) / len(values)
        recorder.row("step", optimizer, recorder.step, (loss, len(values), recorder.seconds, NAN, LIGHT))
        if not math.isfinite(loss):
            recorder.look_closely()

    def _begin(self, level: int) -> None:
        """A step of this level begins."""
        session = self.session
        session.quiet = level == LIGHT
        if level == FULL:
            session.start_meters()
            session.layers.arm()
        else:
            session.layers.disarm()

    def _end_full(self, step: int) -> None:
        session = self.session
        session.models.step_over()
        session.losses.step_over(step)
        own = session.recorder.own
        session.first_batch.step_over(step)
        session.recorder.own = own  # the clock of whoever ends the step runs anyway
        session.finish_meters()
        session.recorder.device_seconds = session.device_seconds()
        if session.recorder.full_steps % _MEMORY_EVERY == 0:
            session.recorder.row("memory", "", step, _memory())

    # -- programs without an optimiser -------------------------------------------------------------------------

    def optimizer_begins(self, optimizer: str) -> None:
        self._within, self._closures = optimizer, 0

    @property
    def by_hand(self) -> bool:
        """Whether iterations must be told without optimiser steps."""
        if self.in_optimizer_step:
            return self._closures >= _CLOSURES
        if self.optimizer_steps:
            return False
        return not self.session.optimizers.seen or self.backwards_total >= _STALLED

    @guarded("hand-written updates", inside=True)
    def boundary(self) -> None:
        """A new training forward pass begins: if gradients were computed since the last step, that step is over."""
        if self.backwards and self.by_hand:
            self._end_by_hand()

    def _end_by_hand(self) -> None:
        changed = self.session.by_hand.changed()
        if self.in_optimizer_step:
            self.session.recorder.patterns.note("step", self._within, "closure", self.backward_site)
            self.end(self._within)
            return
        self.session.optimizers.finish()  # those that do not step may be gone at the end
        self.session.recorder.patterns.note("step", "", "by hand" if changed else "none", self.backward_site)
        self.end("")

    def finish(self) -> None:
        # An interruption may come within the only call of an optimiser's step.
        training = self.by_hand or (self.in_optimizer_step and self._closures)
        if self.backwards and training and self.session.alive:
            self._end_by_hand()


@runtime_checkable
class ToldNorm(Protocol):
    """A meter that works out the norm of all gradients by itself."""

    def gradient_norm(self, key: object) -> bool: ...


class StepRow:
    """The row of one step, written when all its numbers are known."""

    def __init__(self, session: TorchSession) -> None:
        self._session = session
        self._gathering = Gathering(session)
        self._losses: list[float] = []
        self._norm = NAN

    def add_loss(self, objective: Tensor) -> float | None:
        return self._gathering.add(objective, self._take_loss)

    def _take_loss(self, value: float) -> None:
        self._losses.append(value)
        self._session.recorder.last_loss = value

    def add_norm(self, norm: Tensor) -> None:
        self._gathering.add(norm, self._take_norm)

    def expect_norm(self, meter: Meter) -> bool:
        """A device's meter tells the norm together with the gradients; False where it has to be computed."""
        return isinstance(meter, ToldNorm) and self._gathering.expect(meter.gradient_norm, self._take_norm)

    def _take_norm(self, value: float) -> None:
        self._norm = value

    def close(self, optimizer: str, step: int, backwards: int, level: int) -> None:
        seconds = self._session.recorder.seconds
        self._gathering.close(partial(self._write, optimizer, step, backwards, seconds, level))

    def _write(self, optimizer: str, step: int, backwards: int, seconds: float, level: int) -> None:
        loss = sum(self._losses) / len(self._losses) if self._losses else NAN
        self._session.recorder.row("step", optimizer, step, (loss, backwards, seconds, self._norm, level))
        if not math.isfinite(loss) and self._losses:
            self._session.nonfinite.late_loss(loss, step)


def _memory() -> tuple[float, float]:
    """Resident memory of the process and memory allocated on the device, in MB."""
    resident = NAN
    with contextlib.suppress(OSError):  # not Linux: unknown
        resident = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096 / 1e6
    device = torch.cuda.memory_allocated() / 1e6 if torch.cuda.is_initialized() else NAN
    return resident, device


# Updates by hand: programs that change their parameters themselves, without an optimiser.


class ByHand:
    def __init__(self, session: TorchSession) -> None:
        self.session = session
        self._leaves: list[tuple[str, Tensor]] = []  # trained tensors of a program without modules
        self._state: tuple[Any, ...] = ()

    def after_backward(self) -> None:
        if self.session.steps.by_hand and self.session.alive:
            self._gradients_by_hand()

    @guarded("hand-written updates")
    def _gradients_by_hand(self) -> None:
        named = self.parameters()
        self._state = _state(named)
        if self.session.recorder.level == FULL:
            with_grad = [(name, p) for name, p in named if p.grad is not None]
            self.session.optimizers.measure_gradients(with_grad)
            self.session.optimizers.remember(named)

    def parameters(self) -> list[tuple[str, Tensor]]:
        named: list[tuple[str, Tensor]] = list(self.session.models.parameters())
        return named or self._leaves

    def find_leaves(self, objective: Tensor) -> None:
        """A program without modules: the leaves of the objective's graph are what it trains."""
        session = self.session
        self._leaves = []
        for position, leaf in enumerate(leaves_of(objective)):
            name = session.names.get(leaf)
            if name is None:
                name = session.sites.name_here(leaf) or f"tensor[{position}]"
                session.names.put(leaf, name)
                fact = ParameterFact(
                    name, "", tuple(leaf.shape), str(leaf.dtype).removeprefix("torch."), str(leaf.device)
                )
                session.recorder.fact(fact)
            self._leaves.append((name, leaf))
        size = sum(leaf.numel() for _, leaf in self._leaves)
        session.recorder.fact(ModelFact("tensors", "plain tensors", parameters=size, trainable=size))

    def changed(self) -> bool:
        named = self.parameters()
        changed = bool(named) and _state(named) != self._state  # at the end the model may be gone
        if self.session.recorder.level == FULL:
            self.session.optimizers.measure_weights(named)
        return changed

    def forget_leaves(self) -> None:
        self._leaves = []


def _state(named: list[tuple[str, Tensor]]) -> tuple[Any, ...]:
    """Differs when a parameter was changed, in place, through .data, or by replacing it."""
    few = named[:8]
    sums = [float(p.detach().sum()) for _, p in few if p.device.type == "cpu" and p.numel() <= 65_536]
    return (tuple(p._version for _, p in few), tuple(id(p) for _, p in few), tuple(sums))
