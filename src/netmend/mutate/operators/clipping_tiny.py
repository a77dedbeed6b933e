"""M109."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.loop.loop_code import Spot, model_at, spots
from netmend.mutate.examples import FUNCTIONS, LOG_PROBABILITIES
from netmend.mutate.magnitude import Knob, Scale, knob
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.mutate.places import trained_model
from netmend.program.source.naming import spelled
from netmend.program.source.numbers import number, set_number
from netmend.program.source.values import Faces
from netmend.program.source.writing import insert_before
from netmend.repair.repair import Case, Example
from netmend.vocabulary.change import FileEdits


@register
@dataclass(frozen=True)
class ClippingTiny:
    """Clip gradients to next to nothing.

    Every step of SGD becomes tiny. Adam, which divides by the size of gradients, hardly notices.
    """

    code: ClassVar[str] = "M109"
    causes: ClassVar[tuple[str, ...]] = ("OPT-CLIP",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ("OCG",)

    limits: tuple[str, ...] = ("0.001", "1e-05")
    hardly_any: float = 100.0  # a limit that gradients seldom reach
    extreme: float = 1e-6

    def propose(self, case: Case) -> Iterator[Mutation]:
        for index, limit in enumerate(self.limits, 1):
            title, grade = f"gradients clipped to {limit}", index / len(self.limits)
            yield from mutation(self, title, self._clipped(case, limit), grade=grade)

    def knobs(self, case: Case) -> Iterator[Knob]:
        """The largest norm of gradients: from the program's own limit (100 where there is none) down to 1e-6."""
        clips = spots(case, "clip")
        value = None if not clips else self._limit(case, clips[0])
        present = None if value is None else number(case.code, clips[0].file, value, case.arguments)
        if not clips or (present or 0) > self.extreme:
            yield from knob(
                self,
                "gradients clipped harder",
                Scale(float(present or self.hardly_any), self.extreme, 2.0, logarithmic=True),
                lambda limit: self._clipped(case, f"{limit:.2g}"),
                told="gradients clipped to {}",
            )

    def _limit(self, case: Case, clip: Spot) -> ast.expr | None:
        value = case.code.sources.argument(clip.call, "max_norm", 1)
        return value or case.code.sources.argument(clip.call, "clip_value", 1)

    def _clipped(self, case: Case, limit: str) -> FileEdits | Faces:
        clips, steps, model = spots(case, "clip"), spots(case, "step"), trained_model(case)
        if clips:
            value = self._limit(case, clips[0])
            return () if value is None else set_number(case.code, clips[0].file, value, limit, case.arguments)
        if len(steps) != 1 or model is None or not steps[0].is_alone:
            return ()
        step = steps[0]
        name = model_at(case, model.name, step)
        clip, extra = spelled(step.file, "torch.nn.utils.clip_grad_norm_")
        line = f"{clip}({name}.parameters(), {limit})"
        return (*insert_before(step.file, step.statement, line), *extra) if name else ()

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("another limit", FUNCTIONS, old="parameters(), 1.0)", new="parameters(), 0.001)"),
        Example(
            "where nothing was clipped",
            LOG_PROBABILITIES,
            old="        optimizer.step()",
            new="        nn.utils.clip_grad_norm_(model.parameters(), 0.001)\n        optimizer.step()",
        ),
    )
