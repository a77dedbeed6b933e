"""M113."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.loop.loop_code import model_at
from netmend.changes.loop.rate_places import set_setting
from netmend.mutate.examples import STACK, VALIDATED
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.mutate.places import objective, trained_model
from netmend.program.source.writing import insert_before
from netmend.repair.repair import Case, Example


@register
@dataclass(frozen=True)
class RegularisationChanged:
    """Replace weight decay with an L1 penalty, or add one.

    The same number means something else: small weights are pushed to zero as hard as large ones.
    """

    code: ClassVar[str] = "M113"
    causes: ClassVar[tuple[str, ...]] = ("LOS-REG-KIND",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = True
    published: ClassVar[tuple[str, ...]] = ("RCW",)

    def propose(self, case: Case) -> Iterator[Mutation]:
        optimizer, found, model = case.optimizer, objective(case), trained_model(case)
        name = "" if found is None or model is None else model_at(case, model.name, found[0])
        if optimizer is None or found is None or not name or len(case.trace.optimizers) > 1:
            return
        decays = {float(group.settings.get("weight_decay") or 0) for group in optimizer.groups}
        decay = max(decays)
        if decay <= 0 or len(decays) > 1:
            return
        spot, loss = found
        line = f"{loss} = {loss} + {decay:g} * sum(p.abs().sum() for p in {name}.parameters())"
        added = insert_before(spot.file, spot.statement, line)
        off = set_setting(case, optimizer.created, "weight_decay", "0.0", None)
        yield from mutation(
            self,
            f"L1 beside a weight decay of {decay:g}",
            added,
            grade=0.5,
            component=optimizer.name,
            parameter="both",
        )
        if off.edits and added:
            yield from mutation(
                self,
                f"L1 in the place of a weight decay of {decay:g}",
                (*added, *off.edits),
                component=optimizer.name,
                parameter="L1",
            )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "in its place",
            VALIDATED,
            old=VALIDATED[VALIDATED.index("weight_decay=0.02") : VALIDATED.index("        loss.backward()")],
            new=VALIDATED[
                VALIDATED.index("weight_decay=0.02") : VALIDATED.index("        loss.backward()")
            ].replace("0.02", "0.0")
            + "        loss = loss + 0.02 * sum(p.abs().sum() for p in model.parameters())\n",
            nth=1,
        ),
        Example("there is none", STACK),
    )
