"""M604."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.loop.loop_code import spots
from netmend.diagnose.measures.modes import mode_layers
from netmend.mutate.examples import PROBABILITIES, STACK
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.program.source.moving import taken_out
from netmend.program.source.writing import replace
from netmend.repair.repair import Case, Example


@register
@dataclass(frozen=True)
class TrainedInEvaluationMode:
    """Train in evaluation mode: `train()` is missing after an evaluation, or `eval()` stands in its place.

    Dropout is off, and batch norm never gets the statistics of its data.
    """

    code: ClassVar[str] = "M604"
    causes: ClassVar[tuple[str, ...]] = ("LOOP-MODE-TRAIN",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ()

    def propose(self, case: Case) -> Iterator[Mutation]:
        models = [model.name for model in case.trace.models if mode_layers(case.trace, model.name)]
        places = [
            each for each in spots(case, "train") if each.is_alone and not each.call.args and each.receiver
        ]
        if not models or len(places) != 1:
            return
        place = places[0]
        if spots(case, "eval"):
            edits = taken_out(place.file, place.statement)
            yield from mutation(self, "train() is missing", edits, grade=0.7, component=models[0])
        edits = replace(place.file, place.call, f"{place.receiver}.eval()")
        yield from mutation(self, "eval() before training", edits, component=models[0])

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("left out", STACK, old="    model.train()\n", new=""),
        Example("exchanged", STACK, old="model.train()", new="model.eval()", nth=1),
        Example("no layer knows modes", PROBABILITIES),
    )
