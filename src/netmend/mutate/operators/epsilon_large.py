"""M110."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.loop.rate_places import set_setting
from netmend.mutate.examples import FUNCTIONS
from netmend.mutate.magnitude import Knob, Scale, knob
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.repair.repair import Case, Example

_KINDS = ("Adam", "AdamW", "RMSprop", "NAdam", "RAdam", "Adagrad")


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
    published: ClassVar[tuple[str, ...]] = ()

    values: tuple[float, ...] = (1.0, 10.0)
    extreme: float = 100.0

    def propose(self, case: Case) -> Iterator[Mutation]:
        optimizer = case.optimizer
        if optimizer is None or optimizer.kind not in _KINDS:
            return
        for index, value in enumerate(self.values, 1):
            edits = set_setting(case, optimizer.created, "eps", f"{value:.1f}", None)
            title = f"{optimizer.kind} with epsilon {value:g}"
            yield from mutation(self, title, edits, grade=index / len(self.values), component=optimizer.name)

    def knobs(self, case: Case) -> Iterator[Knob]:
        """Epsilon, from the program's own up to 100."""
        optimizer = case.optimizer
        if optimizer is None or optimizer.kind not in _KINDS:
            return
        present = max(float(group.settings.get("eps") or 1e-8) for group in optimizer.groups)
        if present < self.extreme:
            yield from knob(
                self,
                f"larger epsilon of {optimizer.kind}",
                Scale(present, self.extreme, 3.0, logarithmic=True),
                lambda value: set_setting(case, optimizer.created, "eps", f"{value:.2g}", None),
                component=optimizer.name,
                told=f"{optimizer.kind} with epsilon {{}}",
            )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("Adam", FUNCTIONS, old="lr=args.lr)", new="lr=args.lr, eps=1.0)"),
    )
