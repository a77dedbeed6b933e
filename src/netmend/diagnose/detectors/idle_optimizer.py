"""D228 IdleOptimizer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.loop_examples import Layer, network, optimizer, trained
from netmend.diagnose.measures.wiring import stepped_optimizers
from netmend.unit import Run, threshold
from netmend.vocabulary import GroupFact, OptimizerFact, ParameterFact, Symptom, Table, Trace


@register
class IdleOptimizer:
    """An optimiser steps, but none of its parameters ever gets a gradient.

    Its steps change nothing, whatever the loss does. Other values that move by themselves (running averages of batch norm) can
    hide that.
    Usual causes: the parameters that it holds were frozen, the model got new parameters after the optimiser was made (wrapped, sharded,
    moved, a layer replaced), the optimiser belongs to another model.
    """

    code: ClassVar[str] = "D228"

    least_looks: int = threshold(4, "convention", "closely observed steps of this optimiser")

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
            yield Symptom(
                self.code,
                f"`{holder.name}` steps, but none of the {len(names)} parameters it holds ever got a gradient: "
                f"{what}.",
                component=holder.name,
                first_step=0,
                observed=0.0,
                site=holder.created,
                detail={"frozen": frozen, "unknown": unknown, "count": len(names)},
            )

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

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("what it holds gets gradients", lambda: trained(optimizer(), *network(Layer("fc")))),
        Run(
            "one of its layers is frozen",
            lambda: trained(
                replace(
                    optimizer(), groups=(GroupFact({"lr": 0.1}, ("model.body.weight", "model.fc.weight")),)
                ),
                *network(Layer("body", trainable=False, gradient=None, update=0.0), Layer("fc")),
            ),
        ),
        Run(
            "backward() is missing: another fault",
            lambda: trained(optimizer(), *network(Layer("fc", gradient=None, update=0.0))),
        ),
        Run(
            "it trains something that is no model's: an image",
            lambda: trained(
                replace(optimizer(), groups=(GroupFact({"lr": 0.1}, ("?",), 1),)),
                *network(Layer("fc", optimizer=None, update=None)),
                Table.of("gradient", "optimizer[0].params[0]", dict.fromkeys(range(8), (0.0, 0.1))),
            ),
        ),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "what it holds is frozen",
            lambda: trained(
                optimizer(),
                *network(
                    Layer("norm", optimizer=None, update=None),
                    Layer("fc", trainable=False, gradient=None, update=0.0),
                ),
                losses=[1.0] * 40,
            ),
        ),
        Run(
            "it holds a frozen copy in place of the network that is trained",
            lambda: trained(
                optimizer(),
                *network(Layer("fc", trainable=False, gradient=None, update=0.0)),
                *network(Layer("fc", optimizer=None, update=None), model="trained"),
                losses=[1.0] * 40,
            ),
        ),
        Run(
            "the model owns other parameters by now",
            lambda: trained(
                replace(optimizer(), groups=(GroupFact({"lr": 0.1}, ("?", "?"), 2),)),
                *network(Layer("fc", optimizer=None, update=None)),
                *(
                    Table.of("update", f"optimizer[0].params[{n}]", dict.fromkeys(range(8), (0.0, 0.0)))
                    for n in range(2)
                ),
                losses=[1.0] * 40,
            ),
        ),
    )


def _held(optimizer: OptimizerFact) -> Iterator[str]:
    """Names under which what an optimiser holds is measured."""
    for index, group in enumerate(optimizer.groups):
        for position, name in enumerate(group.parameters):
            yield name if name != "?" else f"{optimizer.name}[{index}].params[{position}]"


def _facts(trace: Trace, name: str) -> list[ParameterFact]:
    """What is known of a parameter, under its own name and under others that share its storage."""
    return [fact for fact in trace.parameters if name in (fact.name, fact.tied_to)]
