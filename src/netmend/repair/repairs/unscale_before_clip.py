"""R113."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from netmend.changes.case import Case
from netmend.changes.loop.loop_code import Spot, callers, scaler_of, spot, spots
from netmend.program.source.moving import moved_before
from netmend.program.source.writing import insert_after, insert_before, replace
from netmend.program.text.queries import last_name
from netmend.repair.repair import change, register
from netmend.testing.example import Example, example
from netmend.vocabulary.change import FREE, Change, FileEdits

_example = partial(
    example,
    optimizer="torch.optim.SGD(model.parameters(), lr=0.01)",
    setup='scaler = torch.amp.GradScaler("cpu")',
)


@register
@dataclass(frozen=True)
class UnscaleBeforeClip:
    """Bring the calls of a gradient scaler into their order.

    `scaler.unscale_(optimizer)` comes before the gradients are clipped, the step is made by `scaler.step(optimizer)`, and
    `scaler.update()` follows it.
    """

    code: ClassVar[str] = "R113"
    cures: ClassVar[tuple[str, ...]] = ("LOOP-AMP", "OPT-CLIP")
    effort: ClassVar[int] = FREE
    explores: ClassVar[bool] = False

    def propose(self, case: Case) -> Iterator[Change]:
        scaled = scaler_of(case)
        step = next(iter(spots(case, "step")), None)
        if scaled is None or step is None:
            return
        scaler = scaled[0].file.source(scaled[1])
        clip = next(iter(spots(case, "clip")), None)
        found = spot(case.code, case.fault.site) if case.fault is not None else None
        if case.cause == "OPT-CLIP" and clip is None:
            return
        clip = found if found is not None and found.method.startswith("clip_grad") else clip
        if step.call.args and step.method == "step":
            if clip is not None:
                yield from change(
                    self,
                    case,
                    "unscale the gradients before they are clipped",
                    self._unscaled(case, clip, step),
                    knob="scaler",
                )
            if case.cause == "LOOP-AMP" and not _updates(step, scaler):
                yield from change(
                    self,
                    case,
                    "update the scaler",
                    insert_after(step.file, step.statement, f"{scaler}.update()"),
                    knob="scaler",
                )
        elif step.method == "step" and step.is_alone and scaled[0].is_beside(step):
            yield from change(
                self, case, "step through the scaler", self._through(step, scaler), knob="scaler"
            )

    def _unscaled(self, case: Case, clip: Spot, step: Spot) -> FileEdits:
        """Before the clipping, or before the call of the function that clips."""
        text = f"{step.receiver}.unscale_({step.file.source(step.call.args[0])})"
        places = [clip, *callers(case.code, clip.file, clip.call)]
        place = next((each for each in places if each.is_beside(step)), None)
        if place is None:
            return ()
        unscales = [each for each in spots(case, "unscale") if each.method == "unscale_"]
        if not unscales:
            return insert_before(place.file, place.statement, text)
        wrong = unscales[0]
        is_late = wrong.is_beside(place) and wrong.is_alone and wrong.call.lineno > place.call.lineno
        return moved_before(wrong.file, wrong.statement, place.statement) if is_late else ()

    def _through(self, step: Spot, scaler: str) -> FileEdits:
        edits = replace(step.file, step.call, f"{scaler}.step({step.receiver})")
        if _updates(step, scaler):
            return edits
        return replace(step.file, step.statement, f"{scaler}.step({step.receiver})") and (
            *edits,
            *insert_after(step.file, step.statement, f"{scaler}.update()"),
        )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        _example(
            "clipped while scaled",
            step="""
                optimizer.zero_grad()
                loss = model(torch.ones(4, 2)).square().mean()
                scaler.scale(loss).backward()
                + scaler.unscale_(optimizer)
                ⟨nn.utils.clip_grad_norm_(model.parameters(), 1.0)⟩
                scaler.step(optimizer)
                scaler.update()""",
        ),
        _example(
            "unscaled too late",
            step="""
                optimizer.zero_grad()
                loss = model(torch.ones(4, 2)).square().mean()
                scaler.scale(loss).backward()
                + scaler.unscale_(optimizer)
                ⟨nn.utils.clip_grad_norm_(model.parameters(), 1.0)⟩
                - scaler.unscale_(optimizer)
                scaler.step(optimizer)
                scaler.update()""",
        ),
        _example(
            "past the scaler",
            step="""
                optimizer.zero_grad()
                loss = model(torch.ones(4, 2)).square().mean()
                ⟨scaler.scale(loss).backward()⟩
                ⟨optimizer.step() → scaler.step(optimizer)⟩
                scaler.update()""",
            raises=True,
        ),
        _example(
            "in order",
            step="""
                optimizer.zero_grad()
                loss = model(torch.ones(4, 2)).square().mean()
                scaler.scale(loss).backward()
                scaler.unscale_(optimizer)
                ⟨nn.utils.clip_grad_norm_(model.parameters(), 1.0)⟩
                scaler.step(optimizer)
                scaler.update()""",
        ),
    )


def _updates(step: Spot, scaler: str) -> bool:
    return any(
        isinstance(call.func, ast.Attribute)
        and last_name(call.func) == "update"
        and step.file.source(call.func.value) == scaler
        for call in step.file.calls("update")
    )
