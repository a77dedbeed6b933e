"""M508."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.data.data_holders import evaluation_inputs, training_inputs
from netmend.changes.data_edits import evaluated, put, scaling, takes_amounts
from netmend.changes.network.model_layers import united
from netmend.mutate.examples import PROBABILITIES
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.program.source.writing import replace
from netmend.repair.repair import Case, Example
from netmend.vocabulary.change import FileEdits

SPLIT = """
import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(40, 3) * 5 + 2, torch.randn(40, 1)
test = torch.randn(10, 3) * 5 + 2
mean, std = x.mean(0), x.std(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(4):
    loss = nn.functional.mse_loss(model((x - mean) / std), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
with torch.no_grad():
    print(model((test - mean) / std).mean())
"""


@register
@dataclass(frozen=True)
class EvaluationPreparedDifferently:
    """Prepare evaluation data differently from training data.

    The model is asked about numbers of a scale that it was never trained on.
    """

    code: ClassVar[str] = "M508"
    causes: ClassVar[tuple[str, ...]] = ("PRE-TRAIN-TEST-SKEW",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ()

    def propose(self, case: Case) -> Iterator[Mutation]:
        if not takes_amounts(case):
            return
        edits = united(_unprepared(case))
        yield from mutation(self, "evaluation data is not scaled", edits, parameter="no scaling")
        others = evaluated(case) or []
        for grade, unit in ((0.4, "{} / 10"), (0.8, "{} * 10")):
            own = united(put(each, f"{each.name} = {unit.format(each.name)}") for each in others)
            title = f"evaluation data in another unit: {unit.format('x')}"
            yield from mutation(self, title, own, grade=grade, parameter=unit.format("x"))

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("without the scaling", SPLIT, old="(test - mean) / std", new="test"),
        Example(
            "another unit",
            SPLIT,
            old="with torch.no_grad():",
            new="test = test / 10\nwith torch.no_grad():",
            nth=1,
        ),
        Example("nothing is evaluated", PROBABILITIES),
    )


def _unprepared(case: Case) -> Iterator[FileEdits]:
    """What only evaluation data goes through: `(x_test - mean) / std`."""
    trained = {id(step.node) for flow in training_inputs(case) for step in flow}
    for flow in evaluation_inputs(case):
        for each in scaling(flow, case):
            if id(each.value) not in trained:
                yield replace(each.file, each.value, each.file.source(each.data))
