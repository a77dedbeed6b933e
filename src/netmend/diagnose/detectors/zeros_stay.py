"""D129 ZerosStay."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.loop_examples import Layer, network, optimizer, trained
from netmend.diagnose.measures.wiring import Wire, layers_of, loaded, wires
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace

_ZERO = Layer("users", "Embedding", zeros=True, gradient=0.0, update=0.0)
_TOO = Layer("items", "Embedding", zeros=True, gradient=0.0, update=0.0)


@register
class ZerosStay:
    """Weights start at zero, have a gradient of exactly zero at every step, and never change.

    The derivative of a product is the other factor: where both factors start at zero, neither ever leaves it.
    Usual causes: all factors of a factorisation, or both matrices of a low-rank adapter, set to zero; one of them must be random.
    """

    code: ClassVar[str] = "D129"

    least_looks: int = threshold(4, "convention", "closely observed steps, all with a gradient of zero")
    least_together: int = threshold(
        2, "exact", "a product has two factors; of one alone another thing may be the reason"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        everything = wires(trace)
        for model in dict.fromkeys(wire.model for wire in everything):
            found = [wire for wire in everything if wire.model == model and self._stays(wire)]
            if len(found) < self.least_together or loaded(trace, found[0].name):
                continue
            if not any(wire.flows for wire in everything):
                continue  # nothing gets a gradient at all: another fault
            layers = layers_of(found)
            first = next(wire for wire in found if layers[0] in (wire.fact.module, wire.name))
            yield Symptom(
                self.code,
                f"{sum(wire.size for wire in found):,} weights of {', '.join(layers[:3])}{', …' if len(layers) > 3 else ''} start at 0 "
                f"and had a gradient of exactly 0 on all {first.looks} recorded steps.",
                component=layers[0],
                first_step=0,
                observed=0.0,
                site=first.module.created if first.module is not None else None,
                detail={"layers": layers, "value": 0.0},
            )

    def _stays(self, wire: Wire) -> bool:
        return (
            wire.held
            and wire.executed
            and wire.fact.trainable
            and len(wire.fact.shape) >= 2
            and wire.fact.initial.zero_share == 1.0
            and wire.measured >= self.least_looks
            and not wire.flows
            and wire.changed is False
        )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("random weights", lambda: trained(optimizer(), *network(Layer("users"), Layer("items")))),
        Run(
            "one factor is random: the other one gets a gradient",
            lambda: trained(optimizer(), *network(Layer("down"), Layer("up", zeros=True))),
        ),
        Run(
            "a layer of zeros that nothing depends on",
            lambda: trained(optimizer(), *network(_ZERO, Layer("head"))),
        ),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "both factors of a product",
            lambda: trained(optimizer(), *network(_ZERO, _TOO, Layer("bias")), losses=[1.0] * 40),
        ),
    )
