"""D215 ParametersUnchanged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import numpy as np

from netmend.diagnose.detector import register
from netmend.diagnose.measures.loop_examples import Layer, network, optimizer, trained
from netmend.diagnose.measures.wiring import layers_of, wires
from netmend.unit import Run, threshold
from netmend.vocabulary import SchedulerFact, Symptom, Table, Trace

_STILL = Layer("fc", update=0.0)


@register
class ParametersUnchanged:
    """Parameters get gradients and the optimiser steps, but not a single value changes.

    The step is computed and has no effect.
    Usual causes: a learning rate of exactly 0, a schedule that starts at 0 and is never stepped, updates too small for the number
    format (half-precision weights).
    """

    code: ClassVar[str] = "D215"

    least_looks: int = threshold(
        4, "convention", "closely observed steps; a warm-up starts at 0 for a step or two"
    )
    share: float = threshold(
        0.5, "convention", "at least half of what is trained; groups are stilled on purpose"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        held = [wire for wire in wires(trace) if wire.held and wire.fact.trainable and wire.flows]
        still = [wire for wire in held if wire.changed is False and wire.looks >= self.least_looks]
        if not still or sum(w.size for w in still) < self.share * sum(w.size for w in held):
            return
        layers = layers_of(still)
        rates = [float(np.max(t.known("rate")[1], initial=0.0)) for t in trace.tables_of("rate")]
        optimizer = next((o for o in trace.optimizers if o.name == still[0].holder), None)
        scheduler = next((s for s in trace.all(SchedulerFact)), None)
        yield Symptom(
            self.code,
            f"{len(still)} parameters had gradients, but not one of their values changed on {still[0].looks} steps.",
            component=layers[0],
            first_step=0,
            observed=0.0,
            site=optimizer.stepped if optimizer is not None else None,
            detail={
                "layers": layers,
                "rate": max(rates, default=None),
                "half": all(wire.fact.dtype in ("float16", "bfloat16") for wire in still),
                "scheduler": "" if scheduler is None else scheduler.name,
            },
        )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("everything moves", lambda: trained(optimizer(), *network(Layer("fc")))),
        Run(
            "frozen", lambda: trained(optimizer(), *network(replace(_STILL, trainable=False), Layer("head")))
        ),
        Run(
            "one small part is stilled",
            lambda: trained(optimizer(), *network(_STILL, Layer("a"), Layer("b"))),
        ),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "a rate of 0",
            lambda: trained(
                optimizer(lr=0.0), *network(_STILL), Table.of("rate", "optimizer[0]", {0: (0.0,)})
            ),
        ),
    )
