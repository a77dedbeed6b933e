"""D202 StepMissing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.ending import finished
from netmend.diagnose.measures.loop import calls, stepping, usual_site
from netmend.diagnose.measures.loop_examples import optimizer, trained
from netmend.diagnose.measures.wiring import stepped_optimizers
from netmend.unit import Run, threshold
from netmend.vocabulary import Call, OptimizerFact, Pattern, Site, Symptom, Trace

_IDLE = replace(optimizer(), stepped=None)
_OTHER = replace(optimizer("base"), groups=_IDLE.groups)
_LOOP = "zero_grad:optimizer forward:model=train,grad backward step=none"


@register
class StepMissing:
    """Gradients are computed, but the optimiser that holds the parameters never takes a step.

    The weights stay what they were at the start, so the loss only wanders with the batches.
    Usual causes: optimizer.step() forgotten, called on another optimiser, or on a branch that is never taken.
    """

    code: ClassVar[str] = "D202"

    least_backwards: int = threshold(
        8,
        "convention",
        "backward passes without a step; accumulation over more batches than a short run has is rare",
    )
    least_unfinished: int = threshold(
        64,
        "convention",
        "the same where the run was cut short: the step that ends an accumulation may have been near",
    )
    least_clears: int = threshold(
        4, "convention", "an optimiser that is cleared again and again is meant to be used"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        backwards = sum(pattern.steps * call.times for pattern, call in calls(trace, "backward"))
        ended = [(pattern.steps, call.detail) for pattern, call in calls(trace, "step")]
        by_hand = sum(n for n, how in ended if how == "by hand") > sum(n for n, how in ended if how == "none")
        stepped = stepped_optimizers(trace)
        used = {name for optimizer in stepped for group in optimizer.groups for name in group.parameters}
        for idle in trace.optimizers:
            least = self.least_backwards if finished(trace) else self.least_unfinished
            if idle in stepped or by_hand or backwards < least:
                continue
            clears = _clears(trace, idle)
            if stepped and (clears < self.least_clears or _names(idle) <= used):
                continue
            yield Symptom(
                self.code,
                f"`{idle.name}` never took a step although backward() was called {backwards} times.",
                component=idle.name,
                first_step=0,
                observed=0.0,
                limit=float(self.least_backwards),
                site=_left_without_step(trace, idle) or usual_site(trace, "backward"),
                detail={"backwards": backwards, "others_step": bool(stepped)},
            )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("the usual loop", lambda: trained(optimizer())),
        Run(
            "updated by hand beside an unused optimiser",
            lambda: Trace(
                facts={"optimizer": {"optimizer": _IDLE}},
                patterns=(Pattern((Call("backward"), Call("step", detail="by hand")), ((0, 39),)),),
            ),
        ),
        Run(
            "a wrapper around another optimiser",
            lambda: trained(_IDLE, _OTHER, loop=[("zero_grad:optimizer forward backward step:base", 40)]),
        ),
        Run("too few passes to judge", lambda: trained(_IDLE, loop=[(_LOOP, 7)])),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("step is never called", lambda: trained(_IDLE, loop=[(_LOOP, 40)])),
        Run(
            "one of two optimisers is only cleared",
            lambda: trained(
                _IDLE,
                replace(optimizer("other"), groups=()),
                loop=[("zero_grad:optimizer zero_grad:other forward backward step:other", 40)],
            ),
        ),
    )


def _clears(trace: Trace, optimizer: OptimizerFact) -> int:
    found = calls(trace, "zero_grad")
    return sum(pattern.steps * call.times for pattern, call in found if call.component == optimizer.name)


def _left_without_step(trace: Trace, idle: OptimizerFact) -> Site | None:
    """The backward pass that no step follows before the next one; best one that comes after this optimiser was cleared."""
    found: dict[Site, int] = {}
    for pattern in stepping(trace):
        cleared = False
        for index, call in enumerate(pattern.calls):
            if call.what == "zero_grad":
                cleared = call.component == idle.name
            if call.what != "backward" or call.site is None:
                continue
            following = (other.what for other in pattern.calls[index + 1 :])
            if next((what for what in following if what in ("backward", "step")), "") != "step":
                found[call.site] = found.get(call.site, 0) + pattern.steps * (2 if cleared else 1)
    return max(found, key=lambda site: found[site], default=None)


def _names(optimizer: OptimizerFact) -> set[str]:
    return {name for group in optimizer.groups for name in group.parameters}
