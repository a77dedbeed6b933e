"""Optimizers: what is updated, by how much, at which rate."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.optim.optimizer import (
    Optimizer,
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from netmend.adapters.torch.guard import guarded, shielded
from netmend.adapters.torch.watch.eligible import plain
from netmend.adapters.torch.watch.known import Known
from netmend.observe.schedule import FULL, LIGHT
from netmend.vocabulary import GroupFact, OptimizerFact, Site, Statistics

if TYPE_CHECKING:
    from torch.utils.hooks import RemovableHandle

    from netmend.adapters.torch.watch.session import TorchSession

_SENTINELS = 2  # gradients looked at on every step
_SENTINEL_SIZE = 4096
_GROUP_SETTINGS = (bool, int, float, str)


class Optimizers:
    def __init__(self, session: TorchSession) -> None:
        self.session = session
        self.known: Known[bool] = Known()  # optimisers created or seen stepping
        self.seen = 0
        self.stepping: set[str] = set()
        self.facts: dict[str, OptimizerFact] = {}
        self.initial: dict[str, tuple[Statistics, float | None]] = {}
        self._handles: list[RemovableHandle] = []
        self._rates: dict[str, list[float]] = {}
        self._held: Known[tuple[str, int]] = Known()
        self._unnamed: set[str] = set()  # optimisers with parameters whose model is not known yet
        self._groups: dict[str, int] = {}  # number of parameters when the fact was written
        self._sentinels: Known[list[Tensor]] = Known()
        self._measured_before = False
        self._held_state: tuple[Any, ...] = ()
        self._unheld: list[tuple[str, weakref.ref[Tensor]]] = []
        self._closure = False

    def install(self) -> None:
        self._handles = [
            register_optimizer_step_pre_hook(shielded(self.session, "optimiser steps", self._before)),
            register_optimizer_step_post_hook(
                shielded(self.session, "optimiser steps", self._after, always=True)
            ),
        ]

    def remove(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles = []

    # -- names and facts ----------------------------------------------------------------------------------------

    def created(self, optimizer: Optimizer) -> None:
        self.known.put(optimizer, True)
        self.seen += 1

    @guarded("optimiser steps")
    def expect(self, optimizer: Optimizer) -> None:
        """The user named this optimiser: know it before its first step."""
        self.name(optimizer)

    def name(self, optimizer: Any) -> str:
        name = self.session.names.get(optimizer)
        if name is None:
            found = self.session.sites.name_here(optimizer) or type(optimizer).__name__.lower()
            name = self.session.unique_name(found)
            self.session.names.put(optimizer, name)
            if optimizer not in self.known:
                self.created(optimizer)
        return name

    def holder(self, parameter: Tensor) -> tuple[str | None, int | None]:
        """Name and group of the optimiser that holds the parameter."""
        for optimizer, _ in self.known.items():
            for index, group in enumerate(optimizer.param_groups):
                if any(held is parameter for held in group["params"]):
                    return self.name(optimizer), index
        # An optimiser that is gone still was the one that trained it.
        return self._held.get(parameter) or (None, None)

    def held(self) -> list[Tensor]:
        """What the optimisers hold: the weights of a program without modules."""
        return [p for optimizer, _ in self.known.items() for p in parameters_of(optimizer)]

    def named(self, optimizer: Optimizer) -> list[tuple[str, Tensor]]:
        """The optimiser's parameters with their names; those of no known model are named after the optimiser."""
        names, own = self.session.names, self.session.names.get(optimizer)
        found = []
        for index, group in enumerate(optimizer.param_groups):
            for position, parameter in enumerate(group["params"]):
                name = names.get(parameter)
                if name is None:
                    name = self.session.sites.name_here(parameter)
                    if name is not None:
                        names.put(parameter, name)
                    else:  # its model may be discovered later, within a closure, and will name it then
                        name = f"{own}[{index}].params[{position}]"
                found.append((name, parameter))
        return found

    def _record(self, optimizer: Optimizer, name: str, site: Site | None) -> None:
        """Write the fact when the optimiser is first seen and when its groups have changed."""
        size = sum(len(group["params"]) for group in optimizer.param_groups)
        unfinished = name in self._unnamed and self.session.recorder.level == FULL
        known_step = site is None or (name in self.facts and self.facts[name].stepped is not None)
        if self._groups.get(name) == size and not unfinished and known_step:
            return
        self._groups[name] = size
        self.named(optimizer)
        known = {id(p) for _, p in self.session.models.parameters()}
        groups = tuple(
            GroupFact(
                settings=_settings(group),
                parameters=tuple(self.session.names.get(p) or "?" for p in group["params"]),
                unknown_parameters=sum(id(p) not in known for p in group["params"]),
            )
            for group in optimizer.param_groups
        )
        odd = {type(p).__name__ for p in parameters_of(optimizer) if not _measurable(p)}
        if odd:
            kinds = ", ".join(sorted(odd))
            self.session.recorder.missing(
                f"statistics of some parameters of {name} are not taken (they are {kinds})"
            )
        created = self.session.created.get(optimizer)
        for index, group in enumerate(optimizer.param_groups):
            for parameter in group["params"]:
                self._held.put(parameter, (name, index))
        self._unnamed.discard(name)
        if any(
            "?" in group.parameters for group in groups
        ):  # their model runs only within the step's closure
            self._unnamed.add(name)
        self.facts[name] = OptimizerFact(name, type(optimizer).__name__, groups, created, site)
        self.session.recorder.fact(self.facts[name])
        for model in self.session.models.all:
            model.structure_known = False  # parameter facts name their optimiser

    def finish(self) -> None:
        """An optimiser that never stepped is a fact too, and a telling one."""
        for optimizer, _ in self.known.items():
            name = self.name(optimizer)
            if name not in self.facts:
                self._record(optimizer, name, None)

    # -- steps --------------------------------------------------------------------------------------------------

    def _before(self, optimizer: Optimizer, args: Any, kwargs: Any) -> None:
        if self.session.busy:  # one of our own, on a copy
            return
        self.session.steps.in_optimizer_step = True
        if self.session.watching():
            self.before(optimizer, bool(args[1:] or kwargs))

    @guarded("optimiser steps")
    def before(self, optimizer: Optimizer, closure: bool) -> None:
        session = self.session
        session.functions.leave()
        name = self.name(optimizer)
        site = session.sites.here()
        self._record(optimizer, name, site)
        self._closure = closure
        session.steps.optimizer_begins(name)
        self._check_sentinels(optimizer)
        self._measured_before = False
        if session.recorder.level == FULL:
            named = self.named(optimizer)
            self._measured_before = self.measure_gradients(named + self._held_by_none())
            self.remember(named)

    def _check_sentinels(self, optimizer: Optimizer) -> None:
        """A non-finite gradient flows upstream: a few small gradients tell at once, at every step."""
        sentinels = self._sentinels.get(optimizer)
        if not sentinels or sentinels[0].grad is None:
            pairs = [(p, p.grad) for p in parameters_of(optimizer)]
            small = [p for p, g in pairs if g is not None and _measurable(g) and p.numel() <= _SENTINEL_SIZE]
            sentinels = small[:1] + small[-1:] if len(small) > 1 else small
            self._sentinels.put(optimizer, sentinels[:_SENTINELS])
        for parameter in sentinels:
            gradient = parameter.grad
            if gradient is not None and (gradient.is_cpu or self.session.trap):
                total = float(gradient.sum())
                if total - total != 0.0:  # infinite or not a number
                    self.session.nonfinite.check_gradients(
                        [p for p in self.named(optimizer) if p[1].grad is not None]
                    )
                    return

    def measure_gradients(self, named: list[tuple[str, Tensor]]) -> bool:
        pairs = [(name, p.grad) for name, p in named if p.grad is not None and _measurable(p.grad)]
        for device, names, tensors in _by_device(pairs):
            meter = self.session.meter(device)
            meter.parameters("gradient", names, tensors)
            if self.session.steps.row.expect_norm(meter):
                continue
            dense = [t for t in tensors if not t.is_sparse]
            if dense:
                norms = torch._foreach_norm([t.detach() for t in dense])
                self.session.steps.row.add_norm(
                    torch.linalg.vector_norm(torch.stack([n.float() for n in norms]))
                )
        return bool(pairs)

    def _held_by_none(self) -> list[tuple[str, Tensor]]:
        """Parameters that get gradients although no optimiser will ever use them."""
        models = self.session.models.all
        state = (tuple(id(model.parameter_ids) for model in models), tuple(self._groups.items()))
        if state != self._held_state:  # who holds what changes rarely, and looking takes time
            held = {id(p) for p in self.held()}
            self._held_state = state
            self._unheld = [
                (n, weakref.ref(p)) for n, p in self.session.models.parameters() if id(p) not in held
            ]
        found = ((name, reference()) for name, reference in self._unheld)
        return [(name, p) for name, p in found if p is not None and p.grad is not None]

    def remember(self, named: list[tuple[str, Tensor]]) -> None:
        for device, names, tensors in _by_device([(n, p) for n, p in named if _measurable(p)]):
            self.session.meter(device).remember(names, tensors)

    def measure_weights(self, named: list[tuple[str, Tensor]]) -> None:
        for device, names, tensors in _by_device([(n, p) for n, p in named if _measurable(p)]):
            self.session.meter(device).updates(names, tensors)
            self.session.meter(device).parameters("weight", names, tensors)

    def _after(self, optimizer: Optimizer, args: Any, kwargs: Any) -> None:
        session = self.session
        if session.busy:
            return
        session.steps.optimizer_steps += 1
        session.steps.in_optimizer_step = False
        if session.recorder.level == LIGHT:
            session.steps.end_light(self.name(optimizer) if session.recorder.glance else "")
        else:
            self.after(optimizer)

    @guarded("optimiser steps")
    def after(self, optimizer: Optimizer) -> None:
        session = self.session
        name = self.name(optimizer)
        self.stepping.add(name)
        session.recorder.patterns.note("step", name, "closure" if self._closure else "", session.sites.here())
        session.recorder.schedule.companions = len(self.stepping)
        if session.recorder.level == FULL:
            if not self._measured_before:  # a closure computed the gradients within the step
                self.measure_gradients(self.named(optimizer))
            self.measure_weights(self.named(optimizer))
        self._note_rates(optimizer, name)
        session.steps.end(name)

    def _note_rates(self, optimizer: Optimizer, name: str) -> None:
        last = self._rates.setdefault(name, [])
        for index, group in enumerate(optimizer.param_groups):
            rate = group.get("lr")
            if isinstance(rate, Tensor) and rate.device.type != "cpu":
                continue  # reading it would make the host wait
            if rate is not None and (index >= len(last) or last[index] != rate):
                value = float(rate)
                last[index:] = [value, *last[index + 1 :]]
                self.session.recorder.row("rate", f"{name}[{index}]", self.session.recorder.step, (value,))


def parameters_of(optimizer: Optimizer) -> Iterator[Tensor]:
    """Those of all its groups."""
    return (parameter for group in optimizer.param_groups for parameter in group["params"])


def _measurable(tensor: Tensor) -> bool:
    return (plain(tensor) or (type(tensor) is Tensor and tensor.is_sparse)) and tensor.is_floating_point()


def _settings(group: dict[str, Any]) -> dict[str, Any]:
    """The plain values of a parameter group; a rate may also be given as a tensor."""
    found: dict[str, Any] = {}
    for name, value in group.items():
        if isinstance(value, Tensor) and value.is_cpu and value.numel() == 1:
            found[name] = float(value)
        elif isinstance(value, _GROUP_SETTINGS) or (
            isinstance(value, tuple) and all(isinstance(item, _GROUP_SETTINGS) for item in value)
        ):
            found[name] = value
    return found


def _by_device(pairs: list[tuple[str, Any]]) -> list[tuple[torch.device, list[str], list[Tensor]]]:
    groups: dict[torch.device, tuple[list[str], list[Tensor]]] = {}
    for name, tensor in pairs:
        names, tensors = groups.setdefault(tensor.device, ([], []))
        names.append(name)
        tensors.append(tensor)
    return [(device, names, tensors) for device, (names, tensors) in groups.items()]
