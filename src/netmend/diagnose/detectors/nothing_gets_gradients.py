"""D240 NothingGetsGradients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.loop_examples import Layer, network, optimizer, trained
from netmend.diagnose.measures.wiring import wires
from netmend.unit import Run, threshold
from netmend.vocabulary import FunctionFact, Site, Symptom, Trace

_CUT = Layer("fc", gradient=None, update=0.0)


@register
class NothingGetsGradients:
    """backward() runs at every step, but no parameter in an optimiser ever has a gradient.

    The loss has a graph, but one that begins behind the model: what the model said was taken out of its graph and then told to require gradients
    anew. The optimiser steps and changes nothing.
    Usual causes: `.detach().requires_grad_()`, `torch.tensor(output)`, `Variable(output.data)`, or a loss that is made from a plain number.
    """

    code: ClassVar[str] = "D240"

    least_looks: int = threshold(4, "convention", "closely observed steps, as in D214")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        held = [wire for wire in wires(trace) if wire.held and wire.fact.trainable and wire.executed]
        passes = [call for pattern in trace.patterns for call in pattern.calls if call.what == "backward"]
        if not held or not passes or any(wire.measured or wire.changed is not False for wire in held):
            return
        looks = min(wire.looks for wire in held)
        if looks < self.least_looks:
            return
        yield Symptom(
            self.code,
            f"None of the {sum(wire.size for wire in held):,} parameters in the optimiser had a gradient on any of the "
            f"{looks} recorded steps, although backward() ran.",
            component=held[0].model,
            first_step=0,
            observed=0.0,
            limit=1.0,
            site=passes[0].site,
            detail={"model": held[0].model},
        )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("all get gradients", lambda: trained(optimizer(), *network(Layer("fc")))),
        Run("a part gets gradients", lambda: trained(optimizer(), *network(_CUT, Layer("head")))),
        Run(
            "changed by other means",
            lambda: trained(optimizer(), *network(Layer("fc", gradient=None, update=0.01))),
        ),
        Run(
            "dead units have gradients of 0",
            lambda: trained(optimizer(), *network(Layer("fc", gradient=0.0, update=0.0))),
        ),
        Run(
            "backward() is missing: another fault",
            lambda: trained(
                optimizer(),
                *network(_CUT),
                loop=[("zero_grad:optimizer forward:model=train,grad loss step:optimizer", 20)],
            ),
        ),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "taken out of the graph behind the model",
            lambda: trained(
                optimizer(),
                *network(_CUT),
                FunctionFact("detach@train.py:12", "detach", "graph cut", site=Site("train.py", 12)),
                losses=[1.0] * 40,
            ),
        ),
        Run("a loss made from a number", lambda: trained(optimizer(), *network(_CUT), losses=[1.0] * 40)),
    )
