"""M106."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.loop.rate_places import present_rate, set_setting
from netmend.mutate.examples import STACK
from netmend.mutate.magnitude import Knob, Scale, knob
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.repair.repair import Case, Example


@register
@dataclass(frozen=True)
class WeightDecayExtreme:
    """Set a far too strong weight decay.

    The weights follow the penalty instead of the data and end near zero.
    """

    code: ClassVar[str] = "M106"
    causes: ClassVar[tuple[str, ...]] = ("LOS-REG-EXTRA",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ("RAW",)

    values: tuple[float, ...] = (0.1, 0.5, 2.0)
    strongest: float = 10.0
    kinds: tuple[str, ...] = ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "NAdam", "RAdam")

    def propose(self, case: Case) -> Iterator[Mutation]:
        optimizer = case.optimizer
        rate = None if optimizer is None else present_rate(case, optimizer)
        if optimizer is None or rate is None or optimizer.kind not in self.kinds:
            return
        for index, value in enumerate(self.values, 1):
            # Where a single step would turn the weights round it is a rate that is too high.
            if optimizer.kind == "SGD" and rate * value > 0.5:
                continue
            edits = set_setting(case, optimizer.created, "weight_decay", f"{value:g}", None)
            title = f"weight decay {value:g}"
            yield from mutation(self, title, edits, grade=index / len(self.values), component=optimizer.name)

    def knobs(self, case: Case) -> Iterator[Knob]:
        """Weight decay, from the program's own up to 10, or to where a step of SGD would turn weights round."""
        optimizer = case.optimizer
        rate = None if optimizer is None else present_rate(case, optimizer)
        if optimizer is None or not rate or optimizer.kind not in self.kinds:
            return
        present = max(float(group.settings.get("weight_decay") or 0) for group in optimizer.groups)
        mildest = present or 1e-6
        extreme = min(self.strongest, 0.5 / rate if optimizer.kind == "SGD" else self.strongest)
        if extreme <= mildest:
            return
        yield from knob(
            self,
            "weight decay raised",
            Scale(mildest, extreme, 2.0, logarithmic=True),
            lambda decay: set_setting(case, optimizer.created, "weight_decay", f"{decay:.2g}", None),
            component=optimizer.name,
            told="weight decay {}",
        )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("where there was none", STACK, old="lr=0.1)", new="lr=0.1, weight_decay=0.1)"),
    )
