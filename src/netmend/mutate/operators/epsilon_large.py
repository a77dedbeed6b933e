"""M110."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.mutate.examples import FUNCTIONS
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.repair.loop.rate_places import set_setting
from netmend.repair.repair import Case, Example


@register
@dataclass(frozen=True)
class EpsilonLarge:
    """Give Adam or RMSprop an epsilon that is larger than gradients are.

    The division by their size is lost and steps become tiny.
    """

    code: ClassVar[str] = "M110"
    causes: ClassVar[tuple[str, ...]] = ("OPT-EPS",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False

    values: tuple[float, ...] = (1.0, 10.0)

    def propose(self, case: Case) -> Iterator[Mutation]:
        optimizer = case.optimizer
        if optimizer is None or optimizer.kind not in (
            "Adam",
            "AdamW",
            "RMSprop",
            "NAdam",
            "RAdam",
            "Adagrad",
        ):
            return
        for index, value in enumerate(self.values, 1):
            edits = set_setting(case, optimizer.created, "eps", f"{value:.1f}", None)
            title = f"{optimizer.kind} with epsilon {value:g}"
            yield from mutation(self, title, edits, grade=index / len(self.values), component=optimizer.name)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("Adam", FUNCTIONS, old="lr=args.lr)", new="lr=args.lr, eps=1.0)"),
    )
