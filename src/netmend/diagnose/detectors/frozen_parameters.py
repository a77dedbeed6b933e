"""D220 FrozenParameters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.loop_examples import Layer, network, optimizer, trained
from netmend.diagnose.measures.wiring import Wire, layers_of, loaded, wires
from netmend.unit import Run, threshold
from netmend.vocabulary import Event, ModuleFact, Symptom, Trace

_FROZEN = Layer("body", trainable=False, gradient=None, update=None, optimizer=None)


@register
class FrozenParameters:
    """Layers are frozen at random values while the rest of the model is trained.

    Freezing makes sense for layers that were trained before. Random layers that stay random only throw information away.
    Usual causes: requires_grad=False on the wrong part, freezing a backbone whose weights were never loaded.
    """

    code: ClassVar[str] = "D220"

    least_share: float = threshold(
        0.05, "convention", "of the model's parameters: small fixed projections are made on purpose"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        everything = wires(trace)
        for model in dict.fromkeys(wire.model for wire in everything):
            own = [wire for wire in everything if wire.model == model]
            if not any(wire.fact.trainable and wire.flows for wire in own):
                continue  # frozen as a whole: a teacher, a target, a fixed judge
            frozen = [
                wire
                for wire in own
                if not wire.fact.trainable and wire.executed and not wire.changed and not wire.twin
            ]
            random = [
                wire
                for wire in frozen
                if wire.fresh and wire.module is not None and not wire.module.kind.startswith("Embedding")
            ]
            count, total = sum(wire.size for wire in random), sum(wire.size for wire in own)
            if not random or count < self.least_share * total or loaded(trace, random[0].name):
                continue
            layers = layers_of(random)
            module = random[0].module
            yield Symptom(
                self.code,
                f"{count:,} of {total:,} parameters of {model} are frozen at their random initial values "
                f"({', '.join(layers[:3])}{', …' if len(layers) > 3 else ''}).",
                component=layers[0],
                first_step=0,
                observed=count / total,
                limit=self.least_share,
                site=module.created if module is not None else None,
                detail={
                    "layers": layers,
                    "model": model,
                    "share": count / total,
                    "adapted": _adapted(own, layers),
                    "resting": _resting(trace, model, module),
                },
            )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("nothing is frozen", lambda: trained(optimizer(), *network(Layer("body"), Layer("head")))),
        Run(
            "a backbone with loaded weights",
            lambda: trained(
                optimizer(),
                *network(_FROZEN, Layer("head")),
                events=[Event(0, "state loaded", "loaded", "model.body", detail={"matched": 4})],
            ),
        ),
        Run(
            "weights that training has shaped",
            lambda: trained(optimizer(), *network(replace(_FROZEN, fresh=False), Layer("head"))),
        ),
        Run("a frozen model as a whole", lambda: trained(optimizer(), *network(_FROZEN))),
        Run(
            "trained earlier in the same run",
            lambda: trained(
                optimizer(), *network(replace(_FROZEN, update=0.01, optimizer="optimizer"), Layer("head"))
            ),
        ),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "random layers are frozen",
            lambda: trained(optimizer(), *network(_FROZEN, Layer("head")), losses=[0.9] * 40),
        ),
        Run(
            "random layers are frozen, and the best state is brought back at the end",
            lambda: trained(
                optimizer(),
                *network(_FROZEN, Layer("head")),
                losses=[0.9] * 40,
                events=[Event(64, "state loaded", "loaded", "model", detail={"matched": 4})],
            ),
        ),
    )


def _resting(trace: Trace, model: str, layer: ModuleFact | None) -> bool:
    """Whether the layer was in evaluation mode while the model was in training mode."""
    root = trace.get(ModuleFact, model)
    return root is not None and layer is not None and root.training and not layer.training


def _adapted(own: list[Wire], layers: list[str]) -> bool:
    """Whether each frozen layer lies in a block, below the model itself, that has trainable parameters beside it."""
    blocks = {name.rpartition(".")[0] for name in layers}
    learning = [wire.fact.module for wire in own if wire.fact.trainable]
    return all(
        "." in block and any(name == block or name.startswith(f"{block}.") for name in learning)
        for block in blocks
    )
