"""M504."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.data.data_holders import evaluation_inputs, training_inputs
from netmend.changes.data_edits import evaluated, inputs, put, scaling, takes_amounts
from netmend.changes.network.model_layers import united
from netmend.mutate.examples import PROBABILITIES, STACK
from netmend.mutate.magnitude import Knob, Scale, knob
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.program.source.writing import replace
from netmend.repair.repair import Case, Example
from netmend.vocabulary.change import FileEdits


@register
@dataclass(frozen=True)
class InputsNotScaled:
    """Feed unscaled inputs: skip the program's own scaling, or change the data's unit.

    Large inputs drive the first layer far outside of the range that its weights are made for.
    """

    code: ClassVar[str] = "M504"
    causes: ClassVar[tuple[str, ...]] = ("PRE-MISS-NORM",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ()

    units: tuple[str, ...] = ("{} * 20 + 60", "{} * 255", "{} * 2000 - 500")

    def propose(self, case: Case) -> Iterator[Mutation]:
        if not takes_amounts(case):
            return
        edits = united(_unprepared(case))
        yield from mutation(self, "inputs as they are", edits, grade=0.5, parameter="no scaling")
        held, others = inputs(case), evaluated(case)
        if held is None or held.part is not None or others is None:
            return
        for index, unit in enumerate(self.units, 1):
            places = {(each.name, id(each.statement)): each for each in (held, *others)}
            own = united(put(each, f"{each.name} = {unit.format(each.name)}") for each in places.values())
            yield from mutation(
                self,
                f"inputs in another unit: {unit.format(held.name)}",
                own,
                grade=index / len(self.units),
                component=held.name,
                parameter=unit.format("x"),
            )

    def knobs(self, case: Case) -> Iterator[Knob]:
        """How many times as large the inputs are, from 1 to 10,000."""
        held, others = inputs(case), evaluated(case)
        if held is None or held.part is not None or others is None:
            return
        places = {(each.name, id(each.statement)): each for each in (held, *others)}
        yield from knob(
            self,
            "inputs in a larger unit",
            Scale(1.0, 1e4, 1.5, logarithmic=True),
            lambda factor: united(
                put(each, f"{each.name} = {each.name} * {factor:.3g}") for each in places.values()
            ),
            component=held.name,
            told="inputs {} times as large",
        )

    def others(self, case: Case) -> Iterator[Mutation]:
        return (each for each in self.propose(case) if each.parameter == "no scaling")

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("the program's own scaling", STACK, old="(raw - raw.mean(0)) / raw.std(0)", new="raw"),
        Example(
            "another unit",
            PROBABILITIES,
            old="for step in",
            new="inputs = inputs * 20 + 60\nfor step in",
        ),
    )


def _unprepared(case: Case) -> Iterator[FileEdits]:
    """Every `(x - mean) / std` on the way to the model, in training and in evaluation."""
    for flow in (*training_inputs(case), *evaluation_inputs(case)):
        for each in scaling(flow, case):
            yield replace(each.file, each.value, each.file.source(each.data))
