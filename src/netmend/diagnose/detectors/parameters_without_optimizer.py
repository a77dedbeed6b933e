"""D213 ParametersWithoutOptimizer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.loop_examples import Layer, network, optimizer, trained
from netmend.diagnose.measures.wiring import Wire, layers_of, loaded, stepped_optimizers, wires
from netmend.unit import Run, threshold
from netmend.vocabulary import GroupFact, OptimizerFact, Symptom, Trace

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


@register
class ParametersWithoutOptimizer:
    """Trainable parameters get gradients, but are in no optimiser: they never change.

    The program computes the gradients and throws them away; these layers are never trained.
    Usual causes: only a part's parameters() were given to the optimiser, a second network was forgotten, a layer was replaced or
    the model created anew after the optimiser was made.
    """

    code: ClassVar[str] = "D213"

    least_looks: int = threshold(
        3, "convention", "closely observed steps with a gradient: not a single stray backward pass"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        optimizers = stepped_optimizers(trace)
        if not optimizers:
            return
        everything = wires(trace)
        unknown = sum(group.unknown_parameters for optimizer in optimizers for group in optimizer.groups)
        for model in dict.fromkeys(wire.model for wire in everything):
            own = [wire for wire in everything if wire.model == model]
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
            layers = layers_of(lost)
            count = sum(wire.size for wire in lost)
            total = sum(wire.size for wire in own)
            first = lost[0].module
            yield Symptom(
                self.code,
                f"{count:,} of {total:,} parameters of {model} get gradients but are in no optimiser "
                f"({', '.join(layers[:3])}{', …' if len(layers) > 3 else ''}).",
                component=layers[0],
                first_step=0,
                observed=count / total,
                limit=0.0,
                site=_in_charge(trace, own, lost).created,
                detail={
                    "layers": layers,
                    "model": model,
                    "fresh": any(wire.fresh for wire in lost),
                    "loaded": loaded(trace, layers[0]),
                    "copied": all(wire.twin for wire in lost),
                    "unknown": unknown,
                    "count": len(lost),
                    "others_held": any(wire.held for wire in own),
                    "any_held": any(wire.held for wire in everything),
                    "created": first.created if first is not None else None,
                },
            )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("all are held", lambda: trained(optimizer(), *network(Layer("body"), Layer("head")))),
        Run(
            "frozen parts need no optimiser",
            lambda: trained(
                optimizer(), *network(replace(_LOST, trainable=False, gradient=None), Layer("head"))
            ),
        ),
        Run(
            "a teacher that is not passed back through",
            lambda: trained(optimizer(), *network(replace(_LOST, gradient=None), Layer("head"))),
        ),
        Run("updates by hand", lambda: trained(*network(_LOST), loop=[("forward backward step=by", 20)])),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "only the head was given",
            lambda: trained(optimizer(), *network(_LOST, Layer("head")), losses=[1.0] * 40),
        ),
        Run(
            "a layer was replaced afterwards",
            lambda: trained(
                replace(optimizer(), groups=(GroupFact({"lr": 0.1}, ("?",), 2),)),
                *network(Layer("body"), replace(_LOST, name="head")),
                losses=[1.0] * 40,
            ),
        ),
    )
