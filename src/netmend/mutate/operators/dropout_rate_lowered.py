"""M420."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.dropout_edits import dropout_rates, set_dropout
from netmend.mutate.examples import LOG_PROBABILITIES, STACK, VALIDATED
from netmend.mutate.magnitude import Knob, Scale, knob
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.repair.repair import Case, Example


@register
@dataclass(frozen=True)
class DropoutRateLowered:
    """Drop fewer hidden units in training than the program did, in the end none.

    Does harm only where the network overfits without it.
    """

    code: ClassVar[str] = "M420"
    causes: ClassVar[tuple[str, ...]] = ("LYR-DROPOUT-RATE",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ("RCD",)

    rates: tuple[float, ...] = (0.25, 0.125)  # DeepCrime's

    def propose(self, case: Case) -> Iterator[Mutation]:
        present = min(dropout_rates(case), default=0.0)
        for index, rate in enumerate(self.rates, 1):
            if rate < present:
                yield from mutation(
                    self,
                    f"dropout of {rate:g}",
                    set_dropout(case, f"{rate:g}"),
                    grade=index / (len(self.rates) + 1),
                    parameter=f"{rate:g}",
                )

    def knobs(self, case: Case) -> Iterator[Knob]:
        """The dropout rate, from the program's own down to 0."""
        present = min(dropout_rates(case), default=0.0)
        if present > 0:
            yield from knob(
                self,
                "dropout lowered",
                Scale(present, 0.0, 0.05),
                lambda rate: set_dropout(case, f"{rate:.2g}"),
                told="dropout of {}",
            )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("a layer", VALIDATED, old="nn.Dropout(0.5)", new="nn.Dropout(0.25)"),
        Example("a little", STACK, old="nn.Dropout(0.2)", new="nn.Dropout(0.125)"),
        Example("there is none", LOG_PROBABILITIES),
    )
