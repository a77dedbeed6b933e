"""M107."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.loop.loop_code import model_at
from netmend.mutate.examples import LOG_PROBABILITIES
from netmend.mutate.magnitude import Knob, Scale, knob
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.mutate.places import objective, trained_model
from netmend.program.source.writing import insert_before
from netmend.repair.repair import Case, Example


@register
@dataclass(frozen=True)
class PenaltyAdded:
    """Add a penalty on the size of all weights to the loss that outweighs the fit.

    The weights go to zero whatever the data says.
    """

    code: ClassVar[str] = "M107"
    causes: ClassVar[tuple[str, ...]] = ("LOS-REG-EXTRA",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = True
    published: ClassVar[tuple[str, ...]] = ("RAW",)

    values: tuple[float, ...] = (0.01, 0.1)

    def propose(self, case: Case) -> Iterator[Mutation]:
        found, model = objective(case), trained_model(case)
        name = "" if found is None or model is None else model_at(case, model.name, found[0])
        if found is None or not name:
            return
        spot, loss = found
        for index, value in enumerate(self.values, 1):
            edits = insert_before(spot.file, spot.statement, _line(loss, name, f"{value:g}"))
            yield from mutation(
                self, f"L1 penalty {value:g}", edits, grade=index / len(self.values), parameter=f"{value:g}"
            )

    def knobs(self, case: Case) -> Iterator[Knob]:
        """The weight of the penalty, from 1e-7 to 1."""
        found, model = objective(case), trained_model(case)
        name = "" if found is None or model is None else model_at(case, model.name, found[0])
        if found is None or not name:
            return
        spot, loss = found
        yield from knob(
            self,
            "L1 penalty on all weights",
            Scale(1e-7, 1.0, 2.0, logarithmic=True),
            lambda value: insert_before(spot.file, spot.statement, _line(loss, name, f"{value:.2g}")),
            told="L1 penalty {}",
        )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "before the gradient is taken",
            LOG_PROBABILITIES,
            old="        loss.backward()",
            new="        loss = loss + 0.01 * sum(p.abs().sum() for p in model.parameters())\n        loss.backward()",
        ),
    )


def _line(loss: str, model: str, strength: str) -> str:
    return f"{loss} = {loss} + {strength} * sum(p.abs().sum() for p in {model}.parameters())"
