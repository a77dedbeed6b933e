"""M610."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.loop.epoch_loop import epoch_rounds
from netmend.changes.loop.loop_code import block_of, loops_around, spots
from netmend.mutate.examples import FUNCTIONS, LOG_PROBABILITIES
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.mutate.places import trained_model
from netmend.program.source.moving import text_of
from netmend.program.source.writing import insert_before
from netmend.repair.repair import Case, Example


@register
@dataclass(frozen=True)
class ModelRecreated:
    """Create model and optimiser again in every epoch.

    Each epoch starts from nothing.
    """

    code: ClassVar[str] = "M610"
    causes: ClassVar[tuple[str, ...]] = ("ARC-INIT-MULTI",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ()

    def propose(self, case: Case) -> Iterator[Mutation]:
        rounds, model, optimizer = epoch_rounds(case), trained_model(case), case.optimizer
        if rounds is None or model is None or optimizer is None or len(case.trace.optimizers) > 1:
            return
        step = next(iter(spots(case, "step")), None)
        if step is None or len(loops_around(step.file, step.call)) < 2:
            return  # in a single loop the model would be new for every batch
        block = block_of(rounds.file, rounds.loop)
        lines = []
        for site in (model.created, optimizer.created):
            place = case.code.statement_at(site)
            if place is None or place[0] is not rounds.file or not isinstance(place[1], ast.Assign):
                return
            if place[1] not in block or block.index(place[1]) > block.index(rounds.loop):
                return
            lines.append(text_of(*place, comment=False))
        edits = insert_before(rounds.file, rounds.loop.body[0], "\n".join(lines))
        yield from mutation(
            self, "model and optimiser are created again in every epoch", edits, component=model.name
        )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "made before the loop",
            LOG_PROBABILITIES,
            old="    for rows in",
            new="    model = Classifier()\n    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)\n    for rows in",
        ),
        Example("made elsewhere", FUNCTIONS),
    )
