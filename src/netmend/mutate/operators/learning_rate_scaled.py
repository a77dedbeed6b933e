"""M101."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.loop.good_rates import rate_text
from netmend.changes.loop.rate_places import present_rate, set_rate
from netmend.mutate.examples import FUNCTIONS, STACK
from netmend.mutate.magnitude import Knob, Scale, knob
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.repair.repair import Case, Example


@register
@dataclass(frozen=True)
class LearningRateScaled:
    """Multiply or divide the learning rate by a power of ten.

    Far too high, weights jump about or overflow; far too low, training hardly moves.
    """

    code: ClassVar[str] = "M101"
    causes: ClassVar[tuple[str, ...]] = ("HYP-LR-HIGH", "HYP-LR-LOW")
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ("HLR",)

    high: tuple[int, ...] = (10, 30, 100, 1000)
    low: tuple[int, ...] = (30, 100, 1000, 10000)
    precision: float = 1.5  # ratio of two rates that are told apart

    def propose(self, case: Case) -> Iterator[Mutation]:
        optimizer = case.optimizer
        present = present_rate(case, optimizer)
        if not present:
            return
        name = "" if optimizer is None else optimizer.name
        for cause, sign, factors in zip(self.causes, "×÷", (self.high, self.low), strict=True):
            for index, factor in enumerate(factors, 1):
                rate = present * factor if sign == "×" else present / factor
                yield from mutation(
                    self,
                    f"learning rate {rate_text(present)} → {rate_text(rate)}",
                    set_rate(case, optimizer, rate, present),
                    cause=cause,
                    grade=index / len(factors),
                    component=name,
                    parameter=f"lr {sign}{factor}",
                )

    def knobs(self, case: Case) -> Iterator[Knob]:
        """The learning rate, from the program's own down to a 10,000th and up to 1,000 times of it."""
        optimizer = case.optimizer
        present = present_rate(case, optimizer)
        if not present:
            return
        for cause, title, extreme in (
            ("HYP-LR-LOW", "learning rate lowered", present / self.low[-1]),
            ("HYP-LR-HIGH", "learning rate raised", present * self.high[-1]),
        ):
            yield from knob(
                self,
                title,
                Scale(present, extreme, self.precision, logarithmic=True),
                lambda rate: set_rate(case, optimizer, rate, present),
                cause=cause,
                component="" if optimizer is None else optimizer.name,
                told=lambda rate: f"learning rate {rate_text(present)} → {rate_text(rate)}",
            )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("a literal", STACK, old="lr=0.1", new="lr=1.0"),
        Example("the default of an option", FUNCTIONS, old="default=0.01", new="default=1e-06", nth=7),
    )
