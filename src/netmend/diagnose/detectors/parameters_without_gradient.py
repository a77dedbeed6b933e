"""D214 ParametersWithoutGradient."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.cuts import ZERO_GRADIENT, cut_off
from netmend.diagnose.measures.loop_examples import Layer, network, optimizer, trained
from netmend.diagnose.measures.wiring import layers_of, loaded, wires
from netmend.unit import Run, threshold
from netmend.vocabulary import FunctionFact, Site, Symptom, Trace

_CUT = Layer("encoder", gradient=None, update=0.0)


@register
class ParametersWithoutGradient:
    """Layers take part in the forward pass and are held by the optimiser, but never get a gradient.

    Nothing that they compute reaches the loss in a way that can be differentiated, so they are never trained.
    Usual causes: detach(), .data, .item(), numpy, argmax or no_grad on the way, or a result that is computed and not used.
    """

    code: ClassVar[str] = "D214"

    least_looks: int = threshold(
        4, "convention", "closely observed steps; heads that take turns are used on one of the first four"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        everything = wires(trace)
        for model in dict.fromkeys(wire.model for wire in everything):
            found = cut_off(trace, model, self.least_looks)
            if not found:
                continue
            layers = layers_of(found)
            zero = all(wire.measured for wire in found)
            total = sum(wire.size for wire in everything if wire.model == model)
            count = sum(wire.size for wire in found)
            how = "a gradient of exactly 0" if zero else "no gradient"
            module = found[0].module
            yield Symptom(
                self.code,
                f"{count:,} of {total:,} parameters of {model} should be trained but had {how} on all "
                f"{found[0].looks} recorded steps ({', '.join(layers[:3])}{', …' if len(layers) > 3 else ''}).",
                component=layers[0],
                first_step=0,
                observed=count / total,
                limit=0.0,
                site=module.called if module is not None else None,
                detail={
                    "layers": layers,
                    "model": model,
                    "zero": zero,
                    "fresh": any(wire.fresh for wire in found),
                    "loaded": loaded(trace, layers[0]),
                },
            )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("all get gradients", lambda: trained(optimizer(), *network(Layer("encoder"), Layer("head")))),
        Run(
            "frozen on purpose",
            lambda: trained(optimizer(), *network(replace(_CUT, trainable=False), Layer("head"))),
        ),
        Run(
            "averaged by hand",
            lambda: trained(optimizer(), *network(replace(_CUT, update=0.01), Layer("head"))),
        ),
        Run(
            "dead units: a gradient of 0 without an operation that makes it so",
            lambda: trained(optimizer(), *network(replace(_CUT, gradient=0.0), Layer("head"))),
        ),
        Run("nothing gets gradients: another fault", lambda: trained(optimizer(), *network(_CUT))),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "cut off from the loss",
            lambda: trained(
                optimizer(),
                *network(_CUT, Layer("head")),
                FunctionFact(
                    "model.detach@train.py:42",
                    "detach",
                    "graph cut",
                    "model",
                    after="model.encoder",
                    site=Site("train.py", 42),
                ),
                losses=[1.0] * 40,
            ),
        ),
        Run(
            "rounded: the derivative is 0 everywhere",
            lambda: trained(
                optimizer(),
                *network(replace(_CUT, gradient=0.0), Layer("head")),
                FunctionFact(
                    "model.round@train.py:42",
                    ZERO_GRADIENT[0],
                    "graph cut",
                    "model",
                    after="model.encoder",
                    site=Site("train.py", 42),
                ),
                losses=[1.0] * 40,
            ),
        ),
    )
