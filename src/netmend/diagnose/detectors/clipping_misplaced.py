"""D227 ClippingMisplaced."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.loop import first_step, stepping, unfolded
from netmend.diagnose.measures.loop_examples import optimizer, trained
from netmend.unit import Run, threshold
from netmend.vocabulary import Call, Pattern, Symptom, Trace


@register
class ClippingMisplaced:
    """Gradients are clipped where it has no effect: after the step, or before they are computed.

    The step uses gradients of full length, so a burst does what clipping should prevent.
    Usual cause: clip_grad_norm_ below optimizer.step(), or above backward().
    """

    code: ClassVar[str] = "D227"

    least_steps: int = threshold(4, "convention", "the loop is known exactly; fewer steps may be a warm-up")
    share_limit: float = threshold(
        0.8, "convention", "nearly all steps; single ones may be somebody's own schedule"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        if len(trace.optimizers) > 1:
            return  # what is clipped for one may be used by the other
        usual = [pattern for pattern in stepping(trace) if _backward_and_step(pattern)]
        total = sum(pattern.steps for pattern in usual)
        wrong = [pattern for pattern in usual if _useless(pattern) is not None]
        affected = sum(pattern.steps for pattern in wrong)
        if affected < self.least_steps or affected < self.share_limit * total:
            return
        call = _useless(wrong[0])
        assert call is not None
        yield Symptom(
            self.code,
            f"On {affected} of {total} steps gradients were clipped before they were computed or after they were used.",
            component="clip_grad_norm_",
            first_step=first_step(wrong),
            observed=affected / total,
            limit=self.share_limit,
            site=call.site,
        )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run(
            "between backward and step",
            lambda: trained(
                optimizer(), loop=[("zero_grad forward=train,grad backward clip=norm step:optimizer", 20)]
            ),
        ),
        Run(
            "after each of several backward passes",
            lambda: trained(
                optimizer(),
                loop=[
                    ("zero_grad forward=train,grad*2 backward@20 clip=norm backward@22 step:optimizer", 20)
                ],
            ),
        ),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "after the step",
            lambda: trained(
                optimizer(),
                loop=[
                    ("zero_grad forward=train,grad backward step:optimizer", 1),
                    ("clip=norm zero_grad forward=train,grad backward step:optimizer", 20),
                ],
            ),
        ),
    )


def _backward_and_step(pattern: Pattern) -> bool:
    order = {call.what for call in pattern.calls}
    return "backward" in order and all(not c.detail for c in pattern.calls if c.what == "step")


def _useless(pattern: Pattern) -> Call | None:
    """A clipping that comes before all backward passes of its step, where none comes after them."""
    order = unfolded(pattern)
    first = next(index for index, call in enumerate(order) if call.what == "backward")
    early = [call for call in order[:first] if call.what == "clip"]
    late = [call for call in order[first:] if call.what == "clip"]
    return early[0] if early and not late else None
