"""D212 ClippedBeforeUnscaling."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from netmend.diagnose.detector import register
from netmend.diagnose.measures.loop import first_step, stepping
from netmend.diagnose.measures.loop_examples import optimizer, trained
from netmend.unit import Run, threshold
from netmend.vocabulary import Call, Pattern, Symptom, Table, Trace

_SCALE = Table.of("scale", "GradScaler", dict.fromkeys(range(40), (65536.0,)))
_RIGHT = "zero_grad forward=train,grad backward unscale:optimizer@13 clip=norm step:optimizer"
_WRONG = "zero_grad forward=train,grad backward clip=norm unscale:optimizer@14 step:optimizer"


@register
class ClippedBeforeUnscaling:
    """Gradients are clipped while they are still multiplied by the loss scale of mixed precision.

    The scale is in the tens of thousands, so every gradient looks enormous, is cut to the limit, and is then divided by the
    scale: next to nothing is left of it.
    Usual cause: clip_grad_norm_ without scaler.unscale_(optimizer) before it.
    """

    code: ClassVar[str] = "D212"

    least_scale: float = threshold(16.0, "convention", "a scale near 1 changes little")
    least_steps: int = threshold(4, "convention", "the loop is known exactly; fewer steps may be a warm-up")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        scales = [value for table in trace.tables_of("scale") for value in table.known("scale")[1]]
        if not scales or float(np.median(scales)) < self.least_scale:
            return
        wrong = [pattern for pattern in stepping(trace) if _clipped_first(pattern) is not None]
        steps = sum(pattern.steps for pattern in wrong)
        if steps < self.least_steps:
            return
        call = _clipped_first(wrong[0])
        assert call is not None
        scale = float(np.median(scales))
        yield Symptom(
            self.code,
            f"Gradients were clipped on {steps} steps while they were still multiplied by the loss scale of {scale:,.0f}.",
            component="clip_grad_norm_",
            first_step=first_step(wrong),
            observed=scale,
            limit=self.least_scale,
            site=call.site,
        )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("unscaled first", lambda: trained(optimizer(), _SCALE, loop=[(_RIGHT, 20)])),
        Run("no mixed precision", lambda: trained(optimizer(), loop=[(_WRONG, 20)])),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("clipped first", lambda: trained(optimizer(), _SCALE, loop=[(_WRONG, 20)])),
    )


def _clipped_first(pattern: Pattern) -> Call | None:
    """The clipping after a backward pass that comes before gradients are unscaled for the step."""
    found: Call | None = None
    for call in pattern.calls:
        if call.what == "backward":
            found = None
        elif call.what == "clip" and found is None:
            found = call
        elif call.what == "unscale":
            return found
    return None
