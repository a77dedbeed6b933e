"""Wiring: which parameters an optimiser holds, which take part in the forward pass, get gradients and change; and the layers that no gradient reaches."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from netmend.vocabulary import (
    FunctionFact,
    ModelFact,
    ModuleFact,
    OptimizerFact,
    ParameterFact,
    Site,
    Statistics,
    Trace,
)

UNIFORM = 1.85  # largest value over root mean square: √3 for evenly spread values, more than 2 once training has shaped them
_LEAST_VALUES = 32  # fewer numbers do not show how they were drawn


@dataclass(frozen=True, eq=False)
class Wire:
    """One parameter and what became of it."""

    fact: ParameterFact
    model: str
    module: ModuleFact | None
    holder: str | None  # the optimiser that has it
    held: bool  # by an optimiser that stepped
    looks: int  # closely observed steps of that optimiser; of all optimisers if none holds it
    measured: int  # looks at which there was a gradient
    flows: bool  # a gradient other than zero was seen
    changed: bool | None  # None: not watched
    # it starts with evenly spread random values, as layers are made with; None: cannot be told
    fresh: bool | None
    twin: bool  # it starts with the very values of another one: a copy of a network

    @property
    def name(self) -> str:
        return self.fact.name

    @property
    def executed(self) -> bool:
        return self.module is not None and self.module.order is not None

    @property
    def size(self) -> int:
        return math.prod(self.fact.shape)

    @property
    def created(self) -> Site | None:
        return None if self.module is None else self.module.created

    @property
    def called(self) -> Site | None:
        return None if self.module is None else self.module.called


@dataclass(frozen=True, eq=False)
class Part:
    """Some of a model's parameters, beside all of them."""

    model: str
    own: list[Wire]
    some: Sequence[Wire]

    @property
    def layers(self) -> list[str]:
        return layers_of(self.some)

    @property
    def share(self) -> float:
        return size_of(self.some) / size_of(self.own)

    @property
    def words(self) -> str:
        return f"{size_of(self.some):,} of {size_of(self.own):,} parameters of {self.model}"

    @property
    def detail(self) -> dict[str, Any]:
        return {"layers": self.layers, "model": self.model}


def size_of(found: Iterable[Wire]) -> int:
    return sum(wire.size for wire in found)


def by_model(trace: Trace) -> dict[str, list[Wire]]:
    found: dict[str, list[Wire]] = {}
    for wire in wires(trace):
        found.setdefault(wire.model, []).append(wire)
    return found


@lru_cache(maxsize=16)
def wires(trace: Trace) -> tuple[Wire, ...]:
    """All parameters of all models; those that share another one's storage are left out."""
    stepped = {optimizer.name for optimizer in stepped_optimizers(trace)}
    modules = {module.name: module for module in trace.all(ModuleFact)}
    every = sum(int((table.column("level") >= 2).sum()) for table in trace.tables_of("step"))
    holders = _holders(trace)
    starts = Counter(_start(fact) for fact in trace.parameters if fact.tied_to is None)
    found = []
    for fact in trace.parameters:
        if fact.tied_to is not None:
            continue
        module = modules.get(fact.module)
        holder = holders.get(fact.name)
        held = holder in stepped
        gradients = trace.table("gradient", fact.name)
        start = _start(fact)
        found.append(
            Wire(
                fact,
                module.model if module is not None else fact.name.partition(".")[0],
                module,
                holder,
                held,
                len(trace.table("update", fact.name)) if held else every,
                len(gradients),
                bool((gradients.column("rms") != 0).any()),
                _changed(trace, fact.name),
                looks_fresh(fact.initial, fact.shape),
                start is not None and starts[start] > 1,
            )
        )
    return tuple(found)


def stepped_optimizers(trace: Trace) -> tuple[OptimizerFact, ...]:
    return tuple(
        optimizer
        for optimizer in trace.optimizers
        if optimizer.stepped is not None or len(trace.table("step", optimizer.name))
    )


def used_gradients(trace: Trace, optimizer: str) -> bool:
    """Whether anything that this optimiser holds was seen with a gradient other than zero; yes, where what it holds is not known."""
    if len(trace.optimizers) < 2:
        return any(bool((table.column("rms") != 0).any()) for table in trace.tables_of("gradient"))
    held = [wire for wire in wires(trace) if wire.holder == optimizer]
    return not held or any(wire.flows for wire in held)


def forgotten_models(trace: Trace) -> list[str]:
    """Networks that get gradients, though no optimiser holds anything of them."""
    everything = wires(trace)
    names = dict.fromkeys(wire.model for wire in everything if wire.flows and wire.fact.trainable)
    return [name for name in names if all(wire.holder is None for wire in everything if wire.model == name)]


def looks_fresh(initial: Statistics, shape: tuple[int, ...]) -> bool | None:
    """Whether a weight starts as frameworks make layers: evenly spread values, or a standard normal embedding."""
    count = math.prod(shape)
    if len(shape) < 2 or count < _LEAST_VALUES or not initial.rms:
        return None
    if initial.minimum is None or initial.maximum is None or initial.mean is None:
        return None
    if max(-initial.minimum, initial.maximum) < UNIFORM * initial.rms and initial.minimum < 0:
        return True
    standard = abs(initial.rms - 1) < 4 / math.sqrt(2 * count) and abs(initial.mean) < 4 / math.sqrt(count)
    return True if standard else None


def loaded(trace: Trace, name: str) -> bool:
    """Whether a saved state was put into the model, or into a part of it that holds the named thing, before it was trained further.

    Bringing the best state back when training is over says nothing about what it was trained from.
    """
    root = name.partition(".")[0]
    model = trace.get(ModelFact, root)
    for event in trace.events:
        if 0 < trace.run.steps <= event.step:
            continue
        matched = int(event.detail.get("matched") or 0)
        if event.kind == "state loaded" and matched > int(event.detail.get("aliased") or 0):
            into = event.component
            if model is not None and event.detail.get("module") == model.kind:
                return True  # under another name: a function calls its argument as it likes
            if into in (name, root) or name.startswith(f"{into}.") or into.startswith(f"{root}."):
                return True
    return False


def plain_execution(trace: Trace, model: str) -> bool:
    """Whether the order of the model's layers was seen: compiled and scripted models hide it."""
    return any(module.order is not None for module in trace.all(ModuleFact) if module.model == model)


def layers_of(found: Iterable[Wire]) -> list[str]:
    """Names of the layers that hold the parameters, each once, in order of execution."""
    return list(dict.fromkeys(wire.fact.module or wire.name for wire in sorted(found, key=_order)))


def _holders(trace: Trace) -> dict[str, str]:
    """Which optimiser has a parameter, by any of its names."""
    found: dict[str, str] = {}
    seen = {model.name for model in trace.models if plain_execution(trace, model.name)}
    for optimizer in trace.optimizers:
        for group in optimizer.groups:
            # Facts about the parameters of a model whose layers are seen are kept up to date, also when one is replaced.
            hidden = [name for name in group.parameters if name.partition(".")[0] not in seen]
            found.update(dict.fromkeys(hidden, optimizer.name))
    for fact in trace.parameters:
        if fact.optimizer is not None:
            found[fact.name] = fact.optimizer
            if fact.tied_to is not None:
                found[fact.tied_to] = fact.optimizer
    return found


def _order(wire: Wire) -> int:
    return wire.module.order if wire.module is not None and wire.module.order is not None else 1 << 30


def _start(fact: ParameterFact) -> tuple[object, ...] | None:
    """What tells one random start from another; None for constants, which many share."""
    initial = fact.initial
    if not initial.rms or initial.std is None or initial.std == 0 or math.prod(fact.shape) < _LEAST_VALUES:
        return None
    return fact.shape, initial.mean, initial.rms, initial.minimum, initial.maximum


def _changed(trace: Trace, name: str) -> bool | None:
    updates = trace.table("update", name)
    weights = trace.table("weight", name)
    if not len(updates) and not len(weights):
        return None
    moved = bool((updates.column("rms") > 0).any())
    drift = weights.known("drift")[1]
    return moved or bool((drift > 0).any())


ZERO_GRADIENT = ("round", "floor", "ceil", "sign")  # defined everywhere, and 0 there


@lru_cache(maxsize=64)
def cut_off(trace: Trace, model: str, least_looks: int) -> tuple[Wire, ...]:
    """Parameters that are held and executed and yet had no gradient and never changed, though others of the run did."""
    everything = wires(trace)
    if not any(wire.flows for wire in everything):
        return ()
    found = [
        wire
        for wire in everything
        if wire.model == model
        and wire.held
        and wire.fact.trainable
        and wire.executed
        and wire.looks >= least_looks
        and not wire.flows
        and wire.changed is False
        and not wire.twin
    ]
    missing = [wire for wire in found if not wire.measured]
    if missing:
        return tuple(missing)
    zeros = {fact.function.strip("_") for fact in trace.all(FunctionFact) if fact.kind == "graph cut"}
    return tuple(found) if zeros.intersection(ZERO_GRADIENT) else ()


def cutting(trace: Trace, model: str, found: tuple[Wire, ...]) -> tuple[FunctionFact, ...]:
    """The recorded operations that lie behind the last of the layers no gradient reaches, nearest first."""
    names = {wire.fact.module for wire in found}
    modules = {module.name: module for module in trace.all(ModuleFact)}
    orders = [m.order for name in names if (m := modules.get(name)) is not None and m.order is not None]
    if not orders:
        return ()
    cuts = [fact for fact in trace.all(FunctionFact) if fact.kind == "graph cut" and fact.site is not None]
    inside = [
        fact
        for fact in cuts
        if fact.model == model
        and (after := modules.get(fact.after)) is not None
        and after.order is not None
        and after.order >= min(orders)
    ]
    whole = all(
        wire in found or not wire.flows
        for wire in wires(trace)
        if wire.model == model and wire.fact.trainable
    )
    # Between two models, or between a model and the loss, only when nothing of the model gets gradients.
    outside = [fact for fact in cuts if not fact.model] if whole and plain_execution(trace, model) else []
    last = max(orders)

    def distance(fact: FunctionFact) -> int:
        order = modules[fact.after].order if fact.after in modules else None
        return abs((order if order is not None else last) - last)

    return tuple(sorted(inside, key=distance)) or tuple(outside)
