"""Faults of the numbers that a model is given: not scaled, noisy, missing, prepared differently for evaluation."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.changes.case import Case
from netmend.changes.data.data_holders import evaluation_inputs, is_array, training_inputs
from netmend.changes.data_edits import (
    amounts,
    evaluated,
    evaluates_too,
    inputs,
    part_of,
    put,
    scaling,
    takes_amounts,
    targets,
)
from netmend.changes.network.heads_in_source import head_of
from netmend.changes.network.model_layers import united
from netmend.changes.row_edits import normal, only_trains
from netmend.library.losses import DISTANCES
from netmend.mutate.examples import CUT_LATER, FUNCTIONS, PROBABILITIES, STACK
from netmend.mutate.magnitude import Knob, Scale, knob
from netmend.mutate.mutation import Mutation, Operator, mutation
from netmend.program.source.naming import spelled
from netmend.program.source.writing import replace
from netmend.testing.example import Example
from netmend.vocabulary.change import FileEdits


class InputsNotScaled(Operator, code="M504", causes=("PRE-MISS-NORM",)):
    """Feed unscaled inputs: skip the program's own scaling, or change the data's unit.

    Large inputs drive the first layer far outside of the range that its weights are made for.
    """

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

    EXAMPLES = (
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


class TargetsNotScaled(Operator, code="M509", causes=("PRE-MISS-SCALE",), rescales=True):
    """Change the targets' unit, far from the scale of a new network's outputs.

    Losses and gradients are huge, and the weights have to travel far.
    """

    units: tuple[str, ...] = ("{} * 1000", "{} * 50000 + 200000")

    def propose(self, case: Case) -> Iterator[Mutation]:
        head, held = head_of(case), targets(case)
        if head is None or held is None or head.loss.criterion not in DISTANCES or head.last != "raw":
            return
        given = inputs(case)
        together = held.part is not None or (given is not None and evaluates_too(case, given))
        if evaluation_inputs(case) and not together:
            return  # targets of evaluation lie elsewhere and would keep their unit
        for index, unit in enumerate(self.units, 1):
            yield from mutation(
                self,
                f"targets in another unit: {unit.format(held.name)}",
                put(held, f"{held.name} = {unit.format(held.name)}"),
                grade=index / len(self.units),
                component=held.name,
                parameter=unit.format("y"),
            )

    def knobs(self, case: Case) -> Iterator[Knob]:
        """How many times as large the targets are, from 1 to a million."""
        if next(self.propose(case), None) is None:
            return
        held = targets(case)
        if held is not None:
            name = held.name
            yield from knob(
                self,
                "targets in a larger unit",
                Scale(1.0, 1e6, 2.0, logarithmic=True),
                lambda factor: put(held, f"{name} = {name} * {factor:.3g}"),
                component=name,
                told="targets {} times as large",
            )

    EXAMPLES = (
        Example("amounts", FUNCTIONS, old="    train(net, ", new="    y = y * 1000\n    train(net, "),
        Example("classes", STACK),
    )


class InputsNoisy(Operator, code="M505", causes=("DAT-LOWQ",), published=("TAN", "NP")):
    """Add noise to the training inputs that is stronger than their signal.

    Little is left to learn from.
    """

    sizes: tuple[int, ...] = (1, 3)

    def propose(self, case: Case) -> Iterator[Mutation]:
        held = amounts(case)
        if held is None:
            return
        array = bool(is_array(held.flow, held))
        draw, extra = spelled(held.file, "numpy.random.standard_normal" if array else "torch.randn")
        name = part_of(held)
        for index, size in enumerate(self.sizes, 1):
            line = f"{name}[:] = {name} + {size} * {name}.std() * {draw}({name}.shape)"
            yield from mutation(
                self,
                f"noise of {size} standard deviations in {held.name}",
                (*put(held, line), *extra),
                grade=index / len(self.sizes),
                component=held.name,
                parameter=f"{size} std",
            )

    def knobs(self, case: Case) -> Iterator[Knob]:
        """The size of the noise in standard deviations of the inputs, from 0 to 3."""
        held = amounts(case)
        if held is None or not only_trains(case, held):
            return
        name = part_of(held)
        noise, extra = normal(held, f"{name}.shape")
        yield from knob(
            self,
            f"noise in {held.name}",
            Scale(0.0, float(self.sizes[-1]), 0.1),
            lambda size: (*put(held, f"{name}[:] = {name} + {size:g} * {name}.std() * {noise}"), *extra),
            component=held.name,
            told=f"noise of {{}} standard deviations in {held.name}",
        )

    def others(self, case: Case) -> Iterator[Mutation]:
        """None: where nothing can be turned, evaluation data would be changed as well."""
        return iter(())

    EXAMPLES = (
        Example(
            "tensors",
            STACK,
            old="loader = ",
            new="x[:] = x + 1 * x.std() * torch.randn(x.shape)\nloader = ",
        ),
        Example(
            "in a function",
            FUNCTIONS,
            old="    train(net, ",
            new="    x[:] = x + 3 * x.std() * torch.randn(x.shape)\n    train(net, ",
            nth=1,
        ),
        Example("a leaf that wants gradients", CUT_LATER),
    )


class ValuesMissing(Operator, code="M506", causes=("PRE-MISS-CLEAN",), crashes=True):
    """Leave missing values in the training inputs.

    One NaN in a batch makes every weight NaN.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        held = amounts(case)
        if held is not None:
            name = part_of(held)
            line = f'{name}[len({name}) // 3] = float("nan")'
            yield from mutation(self, f"missing values in {held.name}", put(held, line), component=held.name)

    EXAMPLES = (
        Example("a row", STACK, old="loader = ", new='x[len(x) // 3] = float("nan")\nloader = '),
        Example("a leaf that wants gradients", CUT_LATER),
    )


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


class EvaluationPreparedDifferently(Operator, code="M508", causes=("PRE-TRAIN-TEST-SKEW",)):
    """Prepare evaluation data differently from training data.

    The model is asked about numbers of a scale that it was never trained on.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        if not takes_amounts(case):
            return
        edits = united(_unprepared_evaluation_prepared_differently(case))
        yield from mutation(self, "evaluation data is not scaled", edits, parameter="no scaling")
        others = evaluated(case) or []
        for grade, unit in ((0.4, "{} / 10"), (0.8, "{} * 10")):
            own = united(put(each, f"{each.name} = {unit.format(each.name)}") for each in others)
            title = f"evaluation data in another unit: {unit.format('x')}"
            yield from mutation(self, title, own, grade=grade, parameter=unit.format("x"))

    EXAMPLES = (
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


def _unprepared_evaluation_prepared_differently(case: Case) -> Iterator[FileEdits]:
    """What only evaluation data goes through: `(x_test - mean) / std`."""
    trained = {id(step.node) for flow in training_inputs(case) for step in flow}
    for flow in evaluation_inputs(case):
        for each in scaling(flow, case):
            if id(each.value) not in trained:
                yield replace(each.file, each.value, each.file.source(each.data))
