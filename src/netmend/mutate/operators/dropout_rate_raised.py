"""M411."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.data.data_holders import forward_calls
from netmend.changes.dropout_edits import dropout_rates, dropout_sites, set_dropout
from netmend.changes.function_edits import hidden
from netmend.changes.loop.loop_code import spots
from netmend.changes.network.model_layers import in_stack, united
from netmend.changes.network.stacks import put_behind
from netmend.mutate.examples import CUT_LATER, FUNCTIONS, LOG_PROBABILITIES, STACK
from netmend.mutate.magnitude import Knob, Scale, knob
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.program.source.naming import spelled
from netmend.program.source.writing import wrap
from netmend.repair.repair import Case, Example
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
    published: ClassVar[tuple[str, ...]] = ("RCD",)

    rates: tuple[float, ...] = (0.8, 0.9, 0.95)
    highest: float = 0.99

    def propose(self, case: Case) -> Iterator[Mutation]:
        for index, rate in enumerate(self.rates, 1):
            edits = self._dropped(case, f"{rate:g}")
            yield from mutation(
                self, f"dropout of {rate:g}", edits, grade=index / len(self.rates), parameter=f"{rate:g}"
            )

    def knobs(self, case: Case) -> Iterator[Knob]:
        """The dropout rate, from the program's own (0 where there is none) up to 0.99."""
        rates = dropout_rates(case)
        present = max(rates, default=0.0)
        if present < self.highest and (rates or not dropout_sites(case)):
            yield from knob(
                self,
                "dropout raised",
                Scale(present, self.highest, 0.05),
                lambda rate: self._dropped(case, f"{rate:.2g}"),
                told="dropout of {}",
            )

    def _dropped(self, case: Case, rate: str) -> FileEdits:
        if dropout_sites(case):
            return set_dropout(case, rate)
        return united(_added(case, rate)) if _is_off_in_evaluation(case) else ()

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("a layer", STACK, old="nn.Dropout(0.2)", new="nn.Dropout(0.8)"),
        Example("a function", FUNCTIONS, old="0.1, self.training", new="0.95, self.training", nth=2),
        Example(
            "where there was none",
            LOG_PROBABILITIES,
            old="F.relu(self.norm(self.hidden(x)))",
            new="F.dropout(F.relu(self.norm(self.hidden(x))), 0.8, self.training)",
        ),
        Example("it would stay on in evaluation", CUT_LATER),
    )


def _is_off_in_evaluation(case: Case) -> bool:
    """Whether new dropout would be: else the fault would be that evaluation runs in training mode."""
    return bool(spots(case, "eval")) or not forward_calls(case, training=False)


def _added(case: Case, rate: str) -> Iterator[FileEdits]:
    """Behind every hidden activation."""
    for link in hidden(case):
        found = case.code.call_at(link.site)
        if found is None:
            continue
        file, call = found
        if link.module is not None and in_stack(case, link.module):
            name, extra = spelled(file, "torch.nn.Dropout", like=call.func)
            yield (*put_behind(file, call, f"{name}({rate})", "drop"), *extra)
        elif link.module is None and file.owner(call) is not None:
            name, extra = spelled(file, "torch.nn.functional.dropout")
            yield (*wrap(file, call, f"{name}(", f", {rate}, self.training)"), *extra)
