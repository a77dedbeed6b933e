"""M305."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.loss.losses import Criterion, criterion_of, exchange
from netmend.changes.network.heads_in_source import head_of
from netmend.mutate.examples import FUNCTIONS, STACK
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.repair.repair import Case, Example

_AMOUNTS = ("smooth_l1_loss", "huber_loss", "l1_loss", "mse_loss")


@register
@dataclass(frozen=True)
class LossVaried:
    """Replace the regression loss with another common one.

    Large errors count for more or for less than they did: a mild fault, if it is one.
    """

    code: ClassVar[str] = "M305"
    causes: ClassVar[tuple[str, ...]] = ("LOS-SELECT",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = True
    published: ClassVar[tuple[str, ...]] = ("LCH",)

    def propose(self, case: Case) -> Iterator[Mutation]:
        head = head_of(case)
        found = None if head is None else criterion_of(case, head.loss)
        if head is None or found is None or not found.calls or head.loss.criterion not in _AMOUNTS:
            return
        criterion = found if found.created is not None else Criterion(found.kind, None, found.calls[:1])
        others = [name for name in _AMOUNTS if name != head.loss.criterion]
        for index, new in enumerate(others, 1):
            yield from mutation(
                self,
                f"{head.loss.criterion} → {new}",
                exchange(criterion, new),
                grade=index / len(others),
                component=head.loss.name,
                parameter=new,
            )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "absolute errors",
            FUNCTIONS,
            old="loss = F.mse_loss(",
            new="loss = F.l1_loss(",
            nth=2,
        ),
        Example("classes", STACK),
    )
