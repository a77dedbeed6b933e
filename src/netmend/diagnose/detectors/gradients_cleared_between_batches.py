"""D207 GradientsClearedBetweenBatches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.loop import first_step, is_training, stepping, unfolded
from netmend.diagnose.measures.loop_examples import Layer, network, optimizer, trained
from netmend.diagnose.measures.wiring import stepped_optimizers
from netmend.unit import Run, threshold
from netmend.vocabulary import Call, Pattern, Symptom, Trace

_LOST = "batch*4 zero_grad:optimizer*4 forward:model=train,grad*4 loss*4 backward*4 step:optimizer"


@register
class GradientsClearedBetweenBatches:
    """Several batches are passed back for one optimiser step, but the gradients are cleared between them.

    Only the last batch then counts; the work of the others is lost, and the step is as noisy as that of one small batch.
    Usual cause: gradient accumulation with zero_grad() at the top of the loop over batches instead of after the step.
    """

    code: ClassVar[str] = "D207"

    least_steps: int = threshold(4, "convention", "the loop is known exactly; fewer steps may be a warm-up")
    share_limit: float = threshold(
        0.8, "convention", "nearly all steps: where single steps are skipped on a condition, most are not"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        usual = [pattern for pattern in stepping(trace) if _backwards(pattern)]
        single = len(stepped_optimizers(trace)) == 1 and len(trace.models) <= 1
        models = {model.name for model in trace.models} if single else set()
        total = sum(pattern.steps for pattern in usual if not _without_step(pattern))
        losing = [
            pattern for pattern in usual if not _without_step(pattern) and _clear_between(pattern, models)
        ]
        affected = sum(pattern.steps for pattern in losing)
        if affected < self.least_steps or affected < self.share_limit * total:
            return
        clear = _clear_between(losing[0], models)
        assert clear is not None
        batches = _backwards(losing[0])
        yield Symptom(
            self.code,
            f"On {affected} of {total} steps the gradients of {batches - 1} of {batches} backward passes were cleared "
            "before the optimiser used them.",
            component=clear.component,
            first_step=first_step(losing),
            observed=float(batches),
            limit=1.0,
            site=clear.site,
            detail={
                "batches": batches,
                "backward": _site(losing[0], "backward"),
                "step": _site(losing[0], "step"),
            },
        )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("the usual loop", lambda: trained(optimizer())),
        Run(
            "accumulation, cleared after the step",
            lambda: trained(
                optimizer(),
                loop=[("zero_grad:optimizer forward=train,grad*4 loss*4 backward*4 step:optimizer", 20)],
            ),
        ),
        Run(
            "another optimiser is cleared in between",
            lambda: trained(
                optimizer(),
                loop=[
                    (
                        "zero_grad:a forward=train,grad backward@20 zero_grad:b forward=train,grad backward@22 step:a",
                        20,
                    )
                ],
            ),
        ),
        Run(
            "two passes from two lines: sharpness-aware minimisation",
            lambda: trained(
                optimizer(),
                loop=[
                    (
                        "forward=train,grad@20 backward@21 zero_grad:optimizer forward=train,grad@23 backward@24 "
                        "step:optimizer",
                        20,
                    )
                ],
            ),
        ),
        Run(
            "a closure that is evaluated several times",
            lambda: trained(optimizer(), loop=[(_LOST + "=closure", 20)]),
        ),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("cleared for every small batch", lambda: trained(optimizer(), loop=[(_LOST, 20)])),
        Run(
            "cleared by the model",
            lambda: trained(
                optimizer(),
                *network(Layer("fc")),
                loop=[(_LOST.replace("zero_grad:optimizer", "zero_grad:model"), 20)],
            ),
        ),
    )


def _clear_between(pattern: Pattern, models: set[str]) -> Call | None:
    """The call that clears what an earlier backward pass of the same line has left for the step; models may clear, too."""
    order = unfolded(pattern)
    step = next(call for call in reversed(order) if call.what == "step")
    cleared: Call | None = None
    earlier: Call | None = None
    forward = False
    for call in order:
        if call.what == "backward":
            if earlier is not None and cleared is not None and forward and earlier.site == call.site:
                return cleared
            earlier, cleared, forward = call, None, False
        elif call.what == "zero_grad" and call.component in (step.component, *models) and earlier is not None:
            cleared, forward = call, False
        elif is_training(call):
            forward = True
    return None


def _backwards(pattern: Pattern) -> int:
    return sum(call.times for call in pattern.calls if call.what == "backward")


def _without_step(pattern: Pattern) -> bool:
    """Iterations that ended without an optimiser, in a closure, or skipped."""
    return any(call.what == "step" and (call.detail or not call.component) for call in pattern.calls)


def _site(pattern: Pattern, what: str) -> object:
    return next((call.site for call in pattern.calls if call.what == what), None)
