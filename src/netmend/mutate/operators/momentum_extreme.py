"""M105."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.loop.rate_places import set_setting
from netmend.mutate.examples import PROBABILITIES
from netmend.mutate.magnitude import Knob, Scale, knob
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.repair.repair import Case, Example


@register
@dataclass(frozen=True)
class MomentumExtreme:
    """Give SGD a momentum of almost 1.

    With a momentum of 0.99 and more the weights swing past every minimum.
    """

    code: ClassVar[str] = "M105"
    causes: ClassVar[tuple[str, ...]] = ("OPT-MOMENTUM",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ()

    values: tuple[float, ...] = (0.99, 0.999)

    def propose(self, case: Case) -> Iterator[Mutation]:
        optimizer = case.optimizer
        if optimizer is None or optimizer.kind not in ("SGD", "RMSprop"):
            return
        for index, value in enumerate(self.values, 1):
            edits = set_setting(case, optimizer.created, "momentum", f"{value:g}", None)
            yield from mutation(
                self,
                f"momentum {value:g}",
                edits,
                grade=index / len(self.values),
                component=optimizer.name,
            )

    def knobs(self, case: Case) -> Iterator[Knob]:
        """How many steps a step lasts, 1 / (1 - momentum): 10, 100 and 1,000 are 0.9, 0.99 and 0.999."""
        optimizer = case.optimizer
        if optimizer is None or optimizer.kind not in ("SGD", "RMSprop"):
            return
        present = max(float(group.settings.get("momentum") or 0) for group in optimizer.groups)
        if present >= self.values[-1]:
            return
        yield from knob(
            self,
            "momentum raised",
            Scale(1 / (1 - present), 1 / (1 - self.values[-1]), 1.5, logarithmic=True),
            lambda lasts: set_setting(case, optimizer.created, "momentum", _text(lasts), None),
            component=optimizer.name,
            told=lambda lasts: f"momentum {_text(lasts)}",
        )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("in the place of the usual one", PROBABILITIES, old="momentum=0.9", new="momentum=0.99"),
    )


def _text(lasts: float) -> str:
    return f"{1 - 1 / lasts:.4g}"
