"""Faults of the numbers that a model is given: not scaled, noisy, missing, prepared differently for evaluation."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from netmend.changes.case import Case
from netmend.changes.data.data_holders import Holder, evaluation_inputs, is_array, training_inputs
from netmend.changes.data.data_origins import Flow
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
from netmend.changes.row_edits import noisy, only_trains
from netmend.library.losses import DISTANCES
from netmend.mutate.examples import CUT_LATER, FUNCTIONS, PROBABILITIES, STACK
from netmend.mutate.magnitude import Graded, Knob, Scale
from netmend.mutate.mutation import Mutation, Operator
from netmend.program.source.naming import spelled
from netmend.program.source.writing import replace, united
from netmend.testing.example import changed
from netmend.vocabulary.change import FileEdits


class InputsNotScaled(Graded, code="M504", causes=("PRE-MISS-NORM",)):
    """Feed unscaled inputs: skip the program's own scaling, or change the data's unit.

    Large inputs drive the first layer far outside of the range that its weights are made for.
    """

    units: tuple[str, ...] = ("{} * 20 + 60", "{} * 255", "{} * 2000 - 500")

    def propose(self, case: Case) -> Iterator[Mutation]:
        yield from self.others(case)
        places = _in_training_and_evaluation(case) if takes_amounts(case) else []
        for unit in self.units if places else ():
            name, edits = places[0].name, united(_in_unit(each, unit) for each in places)
            yield from self.mutation(f"inputs in another unit: {unit.format(name)}", edits, component=name)

    def knobs(self, case: Case) -> Iterator[Knob]:
        """How many times as large the inputs are, from 1 to 10,000."""
        if places := _in_training_and_evaluation(case):
            yield from self.knob(
                "inputs in a larger unit",
                Scale(1.0, 1e4, 1.5, logarithmic=True),
                lambda factor: united(_in_unit(each, f"{{}} * {factor:.3g}") for each in places),
                component=places[0].name,
                told="inputs {} times as large",
            )

    def others(self, case: Case) -> Iterator[Mutation]:
        """Without every `(x - mean) / std` on the way to the model."""
        if takes_amounts(case):
            edits = united(_unscaled(case, (*training_inputs(case), *evaluation_inputs(case))))
            yield from self.mutation("inputs as they are", edits)

    EXAMPLES = {
        "the program's own scaling": changed(STACK, "⟨(raw - raw.mean(0)) / raw.std(0) → raw⟩"),
        "another unit": changed(PROBABILITIES, "⟨ → inputs = inputs * 20 + 60\n⟩for step in"),
    }


def _in_training_and_evaluation(case: Case) -> list[Holder]:
    """What holds the inputs, each name once; nothing where some cannot be told."""
    held, others = inputs(case), evaluated(case)
    if held is None or held.part is not None or others is None:
        return []
    return list({(each.name, id(each.statement)): each for each in (held, *others)}.values())


def _in_unit(held: Holder, unit: str) -> FileEdits:
    """`{} * 20 + 60`"""
    return put(held, f"{held.name} = {unit.format(held.name)}")


def _unscaled(case: Case, flows: Iterable[Flow], spared: Collection[int] = ()) -> Iterator[FileEdits]:
    """Every `(x - mean) / std` on the way to the model is `x`; `spared`: the ids of nodes that stay."""
    for flow in flows:
        for each in scaling(flow, case):
            if id(each.value) not in spared:
                yield replace(each.file, each.value, each.file.source(each.data))


class TargetsNotScaled(Graded, code="M509", causes=("PRE-MISS-SCALE",), rescales=True):
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
        for unit in self.units:
            title = f"targets in another unit: {unit.format(held.name)}"
            yield from self.mutation(title, _in_unit(held, unit), component=held.name)

    def knobs(self, case: Case) -> Iterator[Knob]:
        """How many times as large the targets are, from 1 to a million."""
        held = targets(case)
        if held is not None and next(self.propose(case), None) is not None:
            yield from self.knob(
                "targets in a larger unit",
                Scale(1.0, 1e6, 2.0, logarithmic=True),
                lambda factor: _in_unit(held, f"{{}} * {factor:.3g}"),
                component=held.name,
                told="targets {} times as large",
            )

    EXAMPLES = {
        "amounts": changed(FUNCTIONS, "    ⟨ → y = y * 1000\n    ⟩train(net, "),
        "classes": changed(STACK),
    }


class InputsNoisy(Graded, code="M505", causes=("DAT-LOWQ",), published=("TAN", "NP")):
    """Add noise to the training inputs that is stronger than their signal.

    Little is left to learn from.
    """

    only_turned = True  # else evaluation data would be noisy as well
    sizes: tuple[int, ...] = (1, 3)

    def propose(self, case: Case) -> Iterator[Mutation]:
        held = amounts(case)
        if held is None:
            return
        array = bool(is_array(held.flow, held))
        draw, extra = spelled(held.file, "numpy.random.standard_normal" if array else "torch.randn")
        name = part_of(held)
        for size in self.sizes:
            title = f"noise of {size} standard deviations in {held.name}"
            line = f"{name}[:] = {name} + {size} * {name}.std() * {draw}({name}.shape)"
            yield from self.mutation(title, (*put(held, line), *extra), component=held.name)

    def knobs(self, case: Case) -> Iterator[Knob]:
        """The size of the noise in standard deviations of the inputs, from 0 to 3."""
        held = amounts(case)
        if held is None or not only_trains(case, held):
            return
        yield from self.knob(
            f"noise in {held.name}",
            Scale(0.0, float(self.sizes[-1]), 0.1),
            lambda size: noisy(held, size),
            component=held.name,
            told=f"noise of {{}} standard deviations in {held.name}",
        )

    EXAMPLES = {
        "tensors": changed(STACK, "⟨ → x[:] = x + 1 * x.std() * torch.randn(x.shape)\n⟩loader = "),
        "in a function": changed(
            FUNCTIONS, "    ⟨ → x[:] = x + 3 * x.std() * torch.randn(x.shape)\n    ⟩train(net, ", nth=1
        ),
        "a leaf that wants gradients": changed(CUT_LATER),
    }


class ValuesMissing(Operator, code="M506", causes=("PRE-MISS-CLEAN",), crashes=True):
    """Leave missing values in the training inputs.

    One NaN in a batch makes every weight NaN.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        held = amounts(case)
        if held is not None:
            name = part_of(held)
            line = f'{name}[len({name}) // 3] = float("nan")'
            yield from self.mutation(f"missing values in {held.name}", put(held, line), component=held.name)

    EXAMPLES = {
        "a row": changed(STACK, '⟨ → x[len(x) // 3] = float("nan")\n⟩loader = '),
        "a leaf that wants gradients": changed(CUT_LATER),
    }


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
        trained = {id(step.node) for flow in training_inputs(case) for step in flow}
        edits = united(_unscaled(case, evaluation_inputs(case), trained))
        yield from self.mutation("evaluation data is not scaled", edits)
        for unit in ("{} / 10", "{} * 10"):
            edits = united(_in_unit(each, unit) for each in evaluated(case) or [])
            yield from self.mutation(f"evaluation data in another unit: {unit.format('x')}", edits)

    EXAMPLES = {
        "without the scaling": changed(SPLIT, "⟨(test - mean) / std → test⟩"),
        "another unit": changed(SPLIT, "⟨ → test = test / 10\n⟩with torch.no_grad():", nth=1),
        "nothing is evaluated": changed(PROBABILITIES),
    }
