"""M115."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.mutate.examples import STACK
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.mutate.operators.optimizer_exchanged import with_optimizer
from netmend.repair.repair import Case, Example

# Each with its own default rate, as someone writes who exchanges the name only.
_DEFAULTS = {"Adam": 0.001, "NAdam": 0.002, "Adamax": 0.002, "RMSprop": 0.01, "SGD": 0.001}


@register
@dataclass(frozen=True)
class OptimizerVaried:
    """Replace the optimiser with another common one at its default settings.

    It may do as well; whether a rate that was chosen with care mattered is what this asks.
    """

    code: ClassVar[str] = "M115"
    causes: ClassVar[tuple[str, ...]] = ("OPT-SELECT",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ("OCH",)

    def propose(self, case: Case) -> Iterator[Mutation]:
        optimizer = case.optimizer
        if optimizer is None or len(optimizer.groups) > 1:
            return
        others = {kind: rate for kind, rate in _DEFAULTS.items() if kind != optimizer.kind}
        for index, (kind, rate) in enumerate(others.items(), 1):
            yield from mutation(
                self,
                f"{optimizer.kind} → {kind} with its default rate",
                with_optimizer(case, optimizer, kind, rate),
                grade=index / len(others),
                component=optimizer.name,
                parameter=kind,
            )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "in the place of SGD",
            STACK,
            old="torch.optim.SGD(model.parameters(), lr=0.1)",
            new="torch.optim.Adam(model.parameters(), lr=0.001)",
        ),
    )
