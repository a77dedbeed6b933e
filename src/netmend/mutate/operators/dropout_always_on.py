"""M412."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.function_edits import hidden
from netmend.mutate.examples import FUNCTIONS, LOG_PROBABILITIES
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.program.source.naming import spelled
from netmend.program.source.values import set_argument
from netmend.program.source.writing import wrap
from netmend.repair.repair import Case, Example
from netmend.vocabulary import FunctionFact


@register
@dataclass(frozen=True)
class DropoutAlwaysOn:
    """Drop hidden units in evaluation as well.

    Without `training=…` a functional dropout does not follow the mode of the model.
    """

    code: ClassVar[str] = "M412"
    causes: ClassVar[tuple[str, ...]] = ("LYR-DROPOUT-MODE",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ()

    rates: tuple[float, ...] = (0.3, 0.6)

    def propose(self, case: Case) -> Iterator[Mutation]:
        existing = [f for f in case.trace.all(FunctionFact) if f.function == "dropout" and f.site is not None]
        for fact in existing[:1]:
            edits = set_argument(case.code, fact.site, "training", "True", 2, case.arguments)
            yield from mutation(self, "dropout that ignores the mode", edits, grade=0.5, component=fact.name)
        functional = [link for link in hidden(case) if link.module is None]
        for link in functional[-1:] if not existing else []:
            found = case.code.call_at(link.site)
            if found is None:
                continue
            name, extra = spelled(found[0], "torch.nn.functional.dropout")
            for index, rate in enumerate(self.rates, 1):
                edits_around = wrap(found[0], found[1], f"{name}(", f", {rate:g})")
                yield from mutation(
                    self,
                    f"dropout of {rate:g} that ignores the mode",
                    (*edits_around, *extra),
                    grade=index / len(self.rates),
                    component=link.name,
                    parameter=f"{rate:g}",
                )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("told to", FUNCTIONS, old="0.1, self.training", new="0.1, True"),
        Example(
            "not told otherwise",
            LOG_PROBABILITIES,
            old="F.relu(self.norm(self.hidden(x)))",
            new="F.dropout(F.relu(self.norm(self.hidden(x))), 0.3)",
        ),
    )
