"""M509."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.data.data_holders import evaluation_inputs
from netmend.changes.data_edits import evaluates_too, inputs, put, targets
from netmend.changes.network.heads_in_source import head_of
from netmend.library.losses import DISTANCES
from netmend.mutate.examples import FUNCTIONS, STACK
from netmend.mutate.magnitude import Knob, Scale, knob
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.repair.repair import Case, Example


@register
@dataclass(frozen=True)
class TargetsNotScaled:
    """Change the targets' unit, far from the scale of a new network's outputs.

    Losses and gradients are huge, and the weights have to travel far.
    """

    code: ClassVar[str] = "M509"
    causes: ClassVar[tuple[str, ...]] = ("PRE-MISS-SCALE",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = True
    published: ClassVar[tuple[str, ...]] = ()

    units: tuple[str, ...] = ("{} * 1000", "{} * 50000 + 200000")

    def propose(self, case: Case) -> Iterator[Mutation]:
        head, held = head_of(case), targets(case)
        if head is None or held is None or head.loss.criterion not in DISTANCES or head.last != "raw":
            return
        given = inputs(case)
        together = held.part is not None or (given is not None and evaluates_too(case, given))
        if evaluation_inputs(case) and not together:
            return  # targets of evaluation lie elsewhere and would keep their unit
        for index, unit in enumerate(self.units, 1):
            yield from mutation(
                self,
                f"targets in another unit: {unit.format(held.name)}",
                put(held, f"{held.name} = {unit.format(held.name)}"),
                grade=index / len(self.units),
                component=held.name,
                parameter=unit.format("y"),
            )

    def knobs(self, case: Case) -> Iterator[Knob]:
        """How many times as large the targets are, from 1 to a million."""
        if next(self.propose(case), None) is None:
            return
        held = targets(case)
        if held is not None:
            name = held.name
            yield from knob(
                self,
                "targets in a larger unit",
                Scale(1.0, 1e6, 2.0, logarithmic=True),
                lambda factor: put(held, f"{name} = {name} * {factor:.3g}"),
                component=name,
                told="targets {} times as large",
            )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("amounts", FUNCTIONS, old="    train(net, ", new="    y = y * 1000\n    train(net, "),
        Example("classes", STACK),
    )
