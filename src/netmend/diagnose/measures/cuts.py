"""Cuts: layers that no gradient reaches, and the operations that keep it from them."""

from __future__ import annotations

from functools import lru_cache

from netmend.diagnose.measures.wiring import Wire, plain_execution, wires
from netmend.vocabulary import FunctionFact, ModuleFact, Trace

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
