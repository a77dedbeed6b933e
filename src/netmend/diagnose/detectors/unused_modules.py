"""D226 UnusedModules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.loop_examples import Layer, network, optimizer, trained
from netmend.diagnose.measures.wiring import layers_of, plain_execution, wires
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace

_IDLE = Layer("extra", executed=False, gradient=None, update=0.0)


@register
class UnusedModules:
    """Layers of the model are given to the optimiser but never executed.

    They may be left over from an earlier version, or forward() was meant to call them.
    Usual causes: a block that forward() skips, a layer that was renamed.
    """

    code: ClassVar[str] = "D226"

    least_looks: int = threshold(
        4, "convention", "closely observed steps; parts that take turns are used on one of them"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        everything = wires(trace)
        for model in dict.fromkeys(wire.model for wire in everything):
            own = [wire for wire in everything if wire.model == model]
            if not plain_execution(trace, model) or not any(wire.flows for wire in own):
                continue
            idle = [
                wire
                for wire in own
                if wire.held
                and wire.fact.trainable
                and wire.module is not None
                and wire.module.registered
                and not wire.executed
                and not wire.measured
                and wire.changed is False
                and wire.looks >= self.least_looks
            ]
            if not idle:
                continue
            layers = layers_of(idle)
            count, total = sum(wire.size for wire in idle), sum(wire.size for wire in own)
            yield Symptom(
                self.code,
                f"`{', '.join(layers[:3])}{', …' if len(layers) > 3 else ''}` "
                f"({count:,} of {total:,} parameters of {model}) were never executed.",
                component=layers[0],
                first_step=0,
                observed=count / total,
                limit=0.0,
                site=idle[0].module.created if idle[0].module is not None else None,
                detail={"layers": layers, "model": model},
            )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("all are used", lambda: trained(optimizer(), *network(Layer("a"), Layer("b")))),
        Run(
            "its weights are used by a function",
            lambda: trained(optimizer(), *network(Layer("a"), replace(_IDLE, gradient=0.1, update=0.01))),
        ),
        Run("a compiled model hides its layers", lambda: trained(optimizer(), *network(_IDLE)[2:])),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "a block is left out",
            lambda: trained(optimizer(), *network(Layer("a"), _IDLE, Layer("b")), losses=[1.0] * 40),
        ),
    )
