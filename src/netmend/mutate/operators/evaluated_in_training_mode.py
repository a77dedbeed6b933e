"""M605."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.loop.loop_code import spots
from netmend.changes.network.model_layers import united
from netmend.diagnose.measures.modes import mode_layers
from netmend.mutate.examples import PROBABILITIES, STACK
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.program.source.moving import taken_out
from netmend.repair.repair import Case, Example


@register
@dataclass(frozen=True)
class EvaluatedInTrainingMode:
    """Evaluate without `eval()`.

    Dropout disturbs the answers, and batch norm takes its statistics from the data that is asked about.
    """

    code: ClassVar[str] = "M605"
    causes: ClassVar[tuple[str, ...]] = ("LOOP-MODE-EVAL",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ()

    def propose(self, case: Case) -> Iterator[Mutation]:
        models = [model.name for model in case.trace.models if mode_layers(case.trace, model.name)]
        places = spots(case, "eval")
        if models and places and all(each.is_alone for each in places):
            edits = united(taken_out(each.file, each.statement) for each in places)
            yield from mutation(self, "eval() is missing", edits, component=models[0])

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("left out", STACK, old="    model.eval()\n", new=""),
        Example("no layer knows modes", PROBABILITIES),
    )
