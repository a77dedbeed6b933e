"""M411."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.mutate.examples import FUNCTIONS, LOG_PROBABILITIES, STACK
from netmend.mutate.function_edits import hidden
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.mutate.places import is_written
from netmend.repair.network.model_layers import in_stack, united
from netmend.repair.network.stacks import put_behind
from netmend.repair.repair import Case, Example
from netmend.repair.source.naming import spelled
from netmend.repair.source.values import set_argument
from netmend.repair.source.writing import wrap
from netmend.vocabulary import FunctionFact, ModuleFact, Site
from netmend.vocabulary.change import FileEdits


@register
@dataclass(frozen=True)
class DropoutRateRaised:
    """Drop nearly all hidden units in training.

    What little passes through is too noisy to learn from.
    """

    code: ClassVar[str] = "M411"
    causes: ClassVar[tuple[str, ...]] = ("LYR-DROPOUT-RATE",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False

    rates: tuple[float, ...] = (0.8, 0.9, 0.95)

    def propose(self, case: Case) -> Iterator[Mutation]:
        sites = _sites(case)
        for index, rate in enumerate(self.rates, 1):
            if sites:
                faces = [
                    set_argument(case.code, site, "p", f"{rate:g}", place, case.arguments)
                    for site, place in sites.items()
                ]
                edits = united(face.edits for face in faces) if all(faces) else ()
            else:
                edits = united(_added(case, rate))
            yield from mutation(
                self, f"dropout of {rate:g}", edits, grade=index / len(self.rates), parameter=f"{rate:g}"
            )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("a layer", STACK, old="nn.Dropout(0.2)", new="nn.Dropout(0.8)"),
        Example("a function", FUNCTIONS, old="0.1, self.training", new="0.95, self.training", nth=2),
        Example(
            "where there was none",
            LOG_PROBABILITIES,
            old="F.relu(self.norm(self.hidden(x)))",
            new="F.dropout(F.relu(self.norm(self.hidden(x))), 0.8, self.training)",
        ),
    )


def _sites(case: Case) -> dict[Site, int]:
    """Where rates are given, and as which argument."""
    found: dict[Site, int] = {}
    for module in case.trace.all(ModuleFact):
        ran = module.created is not None and module.order is not None
        if (
            module.kind.startswith("Dropout")
            and ran
            and is_written(case, module)
            and module.created is not None
        ):
            found[module.created] = 0
    for fact in case.trace.all(FunctionFact):
        if fact.function == "dropout" and fact.site is not None:
            found[fact.site] = 1
    return found


def _added(case: Case, rate: float) -> Iterator[FileEdits]:
    """Behind every hidden activation."""
    for link in hidden(case):
        found = case.code.call_at(link.site)
        if found is None:
            continue
        file, call = found
        if link.module is not None and in_stack(case, link.module):
            name, extra = spelled(file, "torch.nn.Dropout", like=call.func)
            yield (*put_behind(file, call, f"{name}({rate:g})", "drop"), *extra)
        elif link.module is None and file.owner(call) is not None:
            name, extra = spelled(file, "torch.nn.functional.dropout")
            yield (*wrap(file, call, f"{name}(", f", {rate:g}, self.training)"), *extra)
