"""M114."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.loop.loop_code import model_at, spots
from netmend.mutate.examples import FUNCTIONS, LOG_PROBABILITIES
from netmend.mutate.magnitude import Knob, Scale, knob
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.mutate.places import trained_model
from netmend.program.source.naming import spelled
from netmend.program.source.writing import insert_before
from netmend.repair.repair import Case, Example
from netmend.vocabulary.change import FileEdits


@register
@dataclass(frozen=True)
class GradientValuesClipped:
    """Clip every single number of the gradients.

    What is large and what is small become alike: steps no longer follow the gradient's direction.
    """

    code: ClassVar[str] = "M114"
    causes: ClassVar[tuple[str, ...]] = ("OPT-CLIP",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ("OCG",)

    limits: tuple[str, ...] = ("0.5", "0.0001")  # the first is DeepCrime's
    hardly_any: float = 100.0
    extreme: float = 1e-6

    def propose(self, case: Case) -> Iterator[Mutation]:
        for index, limit in enumerate(self.limits, 1):
            yield from mutation(
                self,
                f"values of gradients clipped to {limit}",
                _clipped(case, limit),
                grade=index / len(self.limits),
                parameter=limit,
            )

    def knobs(self, case: Case) -> Iterator[Knob]:
        """The largest value in a gradient, from 100 down to 1e-6."""
        yield from knob(
            self,
            "values of gradients clipped",
            Scale(self.hardly_any, self.extreme, 2.0, logarithmic=True),
            lambda limit: _clipped(case, f"{limit:.2g}"),
            told="values of gradients clipped to {}",
        )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "before the step",
            LOG_PROBABILITIES,
            old="        optimizer.step()",
            new="        nn.utils.clip_grad_value_(model.parameters(), 0.5)\n        optimizer.step()",
        ),
        Example("there is clipping already", FUNCTIONS),
    )


def _clipped(case: Case, limit: str) -> FileEdits:
    steps, model = spots(case, "step"), trained_model(case)
    if spots(case, "clip") or len(steps) != 1 or model is None or not steps[0].is_alone:
        return ()
    step = steps[0]
    name = model_at(case, model.name, step)
    clip, extra = spelled(step.file, "torch.nn.utils.clip_grad_value_")
    line = f"{clip}({name}.parameters(), {limit})"
    return (*insert_before(step.file, step.statement, line), *extra) if name else ()
