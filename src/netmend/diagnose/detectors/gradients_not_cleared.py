"""D201 GradientsNotCleared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.loop import stepping
from netmend.unit import Run, threshold
from netmend.vocabulary import Call, Pattern, Site, Symptom, Trace


def _run(*patterns: tuple[str, int]) -> Trace:
    """Patterns written as "zero_grad forward backward step", with the number of steps each was seen."""
    made, start = [], 0
    for text, steps in patterns:
        calls = tuple(
            Call(what, site=Site("train.py", 10 + index)) for index, what in enumerate(text.split())
        )
        made.append(Pattern(calls, ((start, start + steps - 1),)))
        start += steps
    return Trace(patterns=tuple(made))


def _accumulated() -> Trace:
    calls = (Call("forward"), Call("backward"), Call("step", detail="none"))
    real = (Call("zero_grad"), Call("forward", times=40), Call("backward", times=40), Call("step"))
    return Trace(patterns=(Pattern(calls, ((0, 30),)), Pattern(real, ((31, 40),))))


def _by_hand() -> Trace:
    trace = _run(("forward backward step", 20))
    cleared = Pattern((Call("zero_grad", detail="found clear"), *trace.patterns[0].calls), ((20, 22),))
    return Trace(patterns=(*trace.patterns, cleared))


def _dead() -> Trace:
    trace = _run(("zero_grad forward backward step", 2), ("forward backward step", 18))
    clear = Pattern((Call("zero_grad", detail="found clear"), *trace.patterns[1].calls), ((20, 21),))
    return Trace(patterns=(*trace.patterns, clear))


@register
class GradientsNotCleared:
    """The optimiser steps repeatedly without the gradients being cleared in between.

    backward() adds to what is stored in `.grad`. Without zero_grad() every step uses the sum of all gradients so far,
    as if momentum were 1: training overshoots, oscillates or diverges.
    Usual causes: zero_grad() forgotten, called once before the loop, once per epoch, or on one branch only.
    """

    code: ClassVar[str] = "D201"

    least_steps: int = threshold(
        4, "convention", "the loop is known exactly; fewer steps may be a warm-up of some kind"
    )
    share_limit: float = threshold(
        0.5, "convention", "most steps: sparing single ones is somebody's own schedule"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        # Many batches before the first step of the optimiser (accumulation) look like steps that changed nothing.
        patterns = [pattern for pattern in stepping(trace) if not _changed_nothing(pattern)]
        total = sum(pattern.steps for pattern in patterns)
        clearings = [call for pattern in patterns for call in pattern.calls if call.what == "zero_grad"]
        if clearings and all(call.detail == "found clear" for call in clearings):
            return  # the program clears them in its own way; that was seen where it was looked at closely
        uncleared = [pattern for pattern in patterns if _steps_on_old_gradients(pattern)]
        affected = sum(pattern.steps for pattern in uncleared)
        if affected < self.least_steps or affected < self.share_limit * total:
            return
        call = next(call for call in uncleared[0].calls if _accumulates(call))
        first = min(pattern.spans[0][0] for pattern in uncleared if pattern.spans)
        cleared = sum(pattern.steps for pattern in patterns if _clears(pattern))
        often = (
            "Gradients were never cleared"
            if not cleared
            else f"Gradients were cleared on only {cleared} of {total} steps"
        )
        yield Symptom(
            self.code,
            f"{often}: {affected} of {total} recorded steps used gradients of earlier batches too.",
            component=call.component,
            first_step=first,
            observed=affected / total,
            limit=self.share_limit,
            site=call.site,
            detail={"cleared_steps": cleared, "steps": total},
        )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("cleared first", lambda: _run(("zero_grad forward backward step", 20))),
        Run(
            "cleared after the step",
            lambda: _run(("forward backward step", 1), ("zero_grad forward backward step", 20)),
        ),
        Run(
            "accumulation over four batches",
            lambda: _run(("zero_grad forward backward forward backward step", 9)),
        ),
        Run("forty batches before each step", lambda: _accumulated()),
        Run("cleared by hand", lambda: _by_hand()),
        Run("too short to judge", lambda: _run(("forward backward step", 3))),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("never cleared", lambda: _run(("forward backward step", 20))),
        Run(
            "cleared once per epoch",
            lambda: _run(("zero_grad forward backward step", 2), ("forward backward step", 18)),
        ),
        Run("cleared once per epoch, and dead units have no gradient", lambda: _dead()),
    )


def _changed_nothing(pattern: Pattern) -> bool:
    return all(call.detail == "none" for call in pattern.calls if call.what == "step")


def _clears(pattern: Pattern) -> bool:
    return any(call.what == "zero_grad" for call in pattern.calls)


def _steps_on_old_gradients(pattern: Pattern) -> bool:
    return not _clears(pattern) and any(_accumulates(call) for call in pattern.calls)


def _accumulates(call: Call) -> bool:
    """torch.autograd.grad returns gradients; only backward() adds them to what is stored."""
    return call.what == "backward" and call.detail != "grad"
