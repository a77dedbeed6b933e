"""Optimisers that do not hold or do not move the parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.loops import Layer, network, optimizer, trained
from netmend.diagnose.measures.wiring import (
    Part,
    Wire,
    by_model,
    layers_of,
    loaded,
    stepped_optimizers,
    wires,
)
from netmend.diagnose.measures.words import few
from netmend.unit import convention
from netmend.vocabulary import GroupFact, OptimizerFact, ParameterFact, SchedulerFact, Symptom, Table, Trace

_LOST = Layer("body", optimizer=None, update=None)


def _in_charge(trace: Trace, own: Sequence[Wire], lost: Sequence[Wire]) -> OptimizerFact:
    """Of several optimisers the one that should hold them: it trains the rest of the model, and steps while they get gradients."""
    optimizers = stepped_optimizers(trace)
    holders = {wire.holder for wire in own}
    related = [
        one
        for one in optimizers
        if one.name in holders or any(group.unknown_parameters for group in one.groups)
    ]
    begun = min(int(trace.table("gradient", wire.name).steps.min()) for wire in lost)
    return max(
        related or optimizers, key=lambda one: int((trace.table("step", one.name).steps >= begun).sum())
    )


class ParametersWithoutOptimizer(Detector, code="D213", figure="update ratio"):
    """Trainable parameters get gradients, but are in no optimiser: they never change.

    The program computes the gradients and throws them away; these layers are never trained.
    Usual causes: only a part's parameters() were given to the optimiser, a second network was forgotten, a layer was replaced or
    the model created anew after the optimiser was made.
    """

    least_looks = convention(3, "closely observed steps with a gradient: not a single stray backward pass")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        optimizers = stepped_optimizers(trace)
        unknown = sum(group.unknown_parameters for optimizer in optimizers for group in optimizer.groups)
        for model, own in by_model(trace).items() if optimizers else ():
            lost = [
                wire
                for wire in own
                if wire.fact.trainable
                and wire.holder is None
                and wire.flows
                and wire.measured >= self.least_looks
            ]
            if not lost:
                continue
            part = Part(model, own, lost)
            message = f"{part.words} get gradients but are in no optimiser ({few(part.layers)})."
            detail = {
                **part.detail,
                "fresh": any(wire.fresh for wire in lost),
                "loaded": loaded(trace, part.layers[0]),
                "copied": all(wire.twin for wire in lost),
                "unknown": unknown,
                "count": len(lost),
                "others_held": any(wire.held for wire in own),
                "any_held": any(wire.held for wire in wires(trace)),
                "created": lost[0].created,
            }
            place = part.layers[0], _in_charge(trace, own, lost).created
            yield self.symptom(message, place, part.share, 0.0, detail, first_step=0)

    HEALTHY = {
        "all are held": lambda: trained(Layer("body"), Layer("head")),
        "frozen parts need no optimiser": lambda: trained(
            replace(_LOST, trainable=False, gradient=None), Layer("head")
        ),
        "a teacher that is not passed back through": lambda: trained(
            replace(_LOST, gradient=None), Layer("head")
        ),
        "updates by hand": lambda: trained(_LOST, ("forward backward step=by", 20), optimised=False),
    }
    FAULTY = {
        "only the head was given": lambda: trained(_LOST, Layer("head"), losses=[1.0] * 40),
        "a layer was replaced afterwards": lambda: trained(
            replace(optimizer(), groups=(GroupFact({"lr": 0.1}, ("?",), 2),)),
            Layer("body"),
            replace(_LOST, name="head"),
            losses=[1.0] * 40,
        ),
    }


class IdleOptimizer(Detector, code="D228", needs_fixed_data=True):
    """An optimiser steps, but none of its parameters ever gets a gradient.

    Its steps change nothing, whatever the loss does. Other values that move by themselves (running averages of batch norm) can
    hide that.
    Usual causes: the parameters that it holds were frozen, the model got new parameters after the optimiser was made (wrapped, sharded,
    moved, a layer replaced), the optimiser belongs to another model.
    """

    least_looks = convention(4, "closely observed steps of this optimiser")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for holder in stepped_optimizers(trace):
            names = list(_held(holder))
            if not names or not all(self._still(trace, name) for name in names):
                continue
            facts = [known[0] for name in names if (known := _facts(trace, name))]
            frozen = [fact.name for fact in facts if not fact.trainable]
            unknown = sum(group.unknown_parameters for group in holder.groups)
            if len(frozen) + unknown < len(names):
                continue  # parameters in use without a gradient: backward() is missing, or comes after the step
            what = f"{unknown} of them belong to no model in use" if unknown else "all of them are frozen"
            message = (
                f"`{holder.name}` steps, but none of the {len(names)} parameters it holds ever got a gradient: "
                f"{what}."
            )
            detail = {"frozen": frozen, "unknown": unknown, "count": len(names)}
            yield self.symptom(message, holder.name, 0.0, detail=detail, first_step=0, site=holder.created)

    def _still(self, trace: Trace, name: str) -> bool:
        """Whether the parameter was watched, and neither had a gradient nor changed, under any of its names."""
        facts = _facts(trace, name)
        names = {name, *(fact.name for fact in facts), *(fact.tied_to for fact in facts if fact.tied_to)}
        updates = [trace.table("update", known).column("rms") for known in names]
        return (
            sum(map(len, updates)) >= self.least_looks
            and not any(len(trace.table("gradient", known)) for known in names)
            and not any(bool((rows > 0).any()) for rows in updates)
        )

    HEALTHY = {
        "what it holds gets gradients": lambda: trained(Layer("fc")),
        "one of its layers is frozen": lambda: trained(
            replace(optimizer(), groups=(GroupFact({"lr": 0.1}, ("model.body.weight", "model.fc.weight")),)),
            Layer("body", trainable=False, gradient=None, update=0.0),
            Layer("fc"),
        ),
        "backward() is missing: another fault": lambda: trained(Layer("fc", gradient=None, update=0.0)),
        "it trains something that is no model's: an image": lambda: trained(
            replace(optimizer(), groups=(GroupFact({"lr": 0.1}, ("?",), 1),)),
            Layer("fc", optimizer=None, update=None),
            Table.of("gradient", "optimizer[0].params[0]", dict.fromkeys(range(8), (0.0, 0.1))),
        ),
    }
    FAULTY = {
        "what it holds is frozen": lambda: trained(
            Layer("norm", optimizer=None, update=None),
            Layer("fc", trainable=False, gradient=None, update=0.0),
            losses=[1.0] * 40,
        ),
        "it holds a frozen copy in place of the network that is trained": lambda: trained(
            optimizer(),
            *network(Layer("fc", trainable=False, gradient=None, update=0.0)),
            *network(Layer("fc", optimizer=None, update=None), model="trained"),
            losses=[1.0] * 40,
        ),
        "the model owns other parameters by now": lambda: trained(
            replace(optimizer(), groups=(GroupFact({"lr": 0.1}, ("?", "?"), 2),)),
            Layer("fc", optimizer=None, update=None),
            *(
                Table.of("update", f"optimizer[0].params[{n}]", dict.fromkeys(range(8), (0.0, 0.0)))
                for n in range(2)
            ),
            losses=[1.0] * 40,
        ),
    }


def _held(optimizer: OptimizerFact) -> Iterator[str]:
    """Names under which what an optimiser holds is measured."""
    for index, group in enumerate(optimizer.groups):
        for position, name in enumerate(group.parameters):
            yield name if name != "?" else f"{optimizer.name}[{index}].params[{position}]"


def _facts(trace: Trace, name: str) -> list[ParameterFact]:
    """What is known of a parameter, under its own name and under others that share its storage."""
    return [fact for fact in trace.parameters if name in (fact.name, fact.tied_to)]


_STILL = Layer("fc", update=0.0)


class ParametersUnchanged(Detector, code="D215", figure="update ratio"):
    """Parameters get gradients and the optimiser steps, but not a single value changes.

    The step is computed and has no effect.
    Usual causes: a learning rate of exactly 0, a schedule that starts at 0 and is never stepped, updates too small for the number
    format (half-precision weights).
    """

    least_looks = convention(4, "closely observed steps; a warm-up starts at 0 for a step or two")
    share = convention(0.5, "at least half of what is trained; groups are stilled on purpose")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        held = [wire for wire in wires(trace) if wire.held and wire.fact.trainable and wire.flows]
        still = [wire for wire in held if wire.changed is False and wire.looks >= self.least_looks]
        if not still or sum(w.size for w in still) < self.share * sum(w.size for w in held):
            return
        layers = layers_of(still)
        rates = [float(np.max(t.known("rate")[1], initial=0.0)) for t in trace.tables_of("rate")]
        optimizer = next((o for o in trace.optimizers if o.name == still[0].holder), None)
        scheduler = next((s for s in trace.all(SchedulerFact)), None)
        message = f"{len(still)} parameters had gradients, but not one of their values changed on {still[0].looks} steps."
        yield self.symptom(
            message,
            (layers[0], optimizer.stepped if optimizer is not None else None),
            observed=0.0,
            detail={
                "layers": layers,
                "rate": max(rates, default=None),
                "half": all(wire.fact.dtype in ("float16", "bfloat16") for wire in still),
                "scheduler": "" if scheduler is None else scheduler.name,
            },
            first_step=0,
        )

    HEALTHY = {
        "everything moves": lambda: trained(Layer("fc")),
        "frozen": lambda: trained(replace(_STILL, trainable=False), Layer("head")),
        "one small part is stilled": lambda: trained(_STILL, Layer("a"), Layer("b")),
    }
    FAULTY = {
        "a rate of 0": lambda: trained(
            optimizer(lr=0.0), _STILL, Table.of("rate", "optimizer[0]", {0: (0.0,)})
        )
    }
