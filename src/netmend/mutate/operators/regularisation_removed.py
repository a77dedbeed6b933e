"""M413."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.loop.rate_places import set_setting
from netmend.changes.network.layer_removal import call_removed, layer_removed
from netmend.changes.network.model_layers import united
from netmend.mutate.examples import FUNCTIONS, STACK
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.mutate.places import is_written
from netmend.repair.repair import Case, Example
from netmend.vocabulary import FunctionFact, ModuleFact
from netmend.vocabulary.change import FileEdits


@register
@dataclass(frozen=True)
class RegularisationRemoved:
    """Remove what keeps the network from memorising its training data: dropout, weight decay.

    Does harm only where the network would overfit without it.
    """

    code: ClassVar[str] = "M413"
    causes: ClassVar[tuple[str, ...]] = ("LYR-DROPOUT-MISSING", "LOS-REG-MISSING")
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ("RRW",)

    def propose(self, case: Case) -> Iterator[Mutation]:
        edits = united(_without_dropout(case))
        yield from mutation(self, "no dropout", edits, cause="LYR-DROPOUT-MISSING")
        optimizer = case.optimizer
        decay = (
            0.0 if optimizer is None else max(g.settings.get("weight_decay") or 0 for g in optimizer.groups)
        )
        if optimizer is not None and decay > 0:
            faces = set_setting(case, optimizer.created, "weight_decay", "0.0", None)
            yield from mutation(
                self, "no weight decay", faces, cause="LOS-REG-MISSING", component=optimizer.name
            )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("a layer", STACK, old="    nn.Dropout(0.2),\n", new=""),
        Example(
            "a function",
            FUNCTIONS,
            old="F.dropout(self.fc2(h).sigmoid(), 0.1, self.training)",
            new="self.fc2(h).sigmoid()",
        ),
    )


def _without_dropout(case: Case) -> Iterator[FileEdits]:
    for module in case.trace.all(ModuleFact):
        if module.kind.startswith("Dropout") and module.order is not None and is_written(case, module):
            yield layer_removed(case, module)
    for fact in case.trace.all(FunctionFact):
        found = case.code.call_at(fact.site) if fact.function == "dropout" else None
        if found is not None:
            yield call_removed(*found)
