"""M109."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.mutate.examples import FUNCTIONS, LOG_PROBABILITIES
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.mutate.places import trained_model
from netmend.repair.loop.loop_code import model_at, spots
from netmend.repair.repair import Case, Example
from netmend.repair.source.naming import spelled
from netmend.repair.source.numbers import set_number
from netmend.repair.source.writing import insert_before


@register
@dataclass(frozen=True)
class ClippingTiny:
    """Clip gradients to a norm that leaves nothing of them.

    Every step of SGD becomes tiny. Adam, which divides by the size of gradients, hardly notices.
    """

    code: ClassVar[str] = "M109"
    causes: ClassVar[tuple[str, ...]] = ("OPT-CLIP",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False

    limits: tuple[str, ...] = ("0.001", "1e-05")

    def propose(self, case: Case) -> Iterator[Mutation]:
        clips, steps, model = spots(case, "clip"), spots(case, "step"), trained_model(case)
        for index, limit in enumerate(self.limits, 1):
            grade, title = index / len(self.limits), f"gradients clipped to {limit}"
            if clips:
                value = case.code.sources.argument(clips[0].call, "max_norm", 1)
                value = value or case.code.sources.argument(clips[0].call, "clip_value", 1)
                if value is not None:
                    faces = set_number(case.code, clips[0].file, value, limit, case.arguments)
                    yield from mutation(self, title, faces, grade=grade)
                continue
            if len(steps) != 1 or model is None or not steps[0].is_alone:
                return
            step = steps[0]
            name = model_at(case, model.name, step)
            clip, extra = spelled(step.file, "torch.nn.utils.clip_grad_norm_")
            if name:
                line = f"{clip}({name}.parameters(), {limit})"
                edits = (*insert_before(step.file, step.statement, line), *extra)
                yield from mutation(self, title, edits, grade=grade)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("another limit", FUNCTIONS, old="parameters(), 1.0)", new="parameters(), 0.001)"),
        Example(
            "where nothing was clipped",
            LOG_PROBABILITIES,
            old="        optimizer.step()",
            new="        nn.utils.clip_grad_norm_(model.parameters(), 0.001)\n        optimizer.step()",
        ),
    )
