"""Calls that a training loop leaves out or puts in the wrong order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.curves import trace_of
from netmend.diagnose.examples.loops import Layer, optimizer, trained
from netmend.diagnose.measures.ending import finished
from netmend.diagnose.measures.loop import (
    by_optimizer,
    calls,
    first_step,
    is_training,
    stepping,
    steps_in,
    usual_site,
)
from netmend.diagnose.measures.wiring import stepped_optimizers, used_gradients
from netmend.unit import convention, exact
from netmend.vocabulary import Call, OptimizerFact, Pattern, Site, Symptom, Trace


def _run(*patterns: tuple[str, int]) -> Trace:
    """Patterns written as "zero_grad forward backward step", with the number of steps each was seen."""
    made, start = [], 0
    for text, steps in patterns:
        calls = tuple(
            Call(what, site=Site("train.py", 10 + index)) for index, what in enumerate(text.split())
        )
        made.append(Pattern(calls, ((start, start + steps - 1),)))
        start += steps
    return trace_of(*made)


def _accumulated() -> Trace:
    calls = (Call("forward"), Call("backward"), Call("step", detail="none"))
    real = (Call("zero_grad"), Call("forward", times=40), Call("backward", times=40), Call("step"))
    return trace_of(Pattern(calls, ((0, 30),)), Pattern(real, ((31, 40),)))


def _by_hand() -> Trace:
    trace = _run(("forward backward step", 20))
    cleared = Pattern((Call("zero_grad", detail="found clear"), *trace.patterns[0].calls), ((20, 22),))
    return trace_of(cleared, onto=trace)


def _dead() -> Trace:
    trace = _run(("zero_grad forward backward step", 2), ("forward backward step", 18))
    clear = Pattern((Call("zero_grad", detail="found clear"), *trace.patterns[1].calls), ((20, 21),))
    return trace_of(clear, onto=trace)


class GradientsNotCleared(Detector, code="D201"):
    """The optimiser steps repeatedly without the gradients being cleared in between.

    backward() adds to what is stored in `.grad`. Without zero_grad() every step uses the sum of all gradients so far,
    as if momentum were 1: training overshoots, oscillates or diverges.
    Usual causes: zero_grad() forgotten, called once before the loop, once per epoch, or on one branch only.
    """

    least_steps = convention(4, "the loop is known exactly; fewer steps may be a warm-up of some kind")
    share_limit = convention(0.5, "most steps: sparing single ones is somebody's own schedule")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        # Many batches before the first step of the optimiser (accumulation) look like steps that changed nothing.
        patterns = [
            pattern
            for pattern in stepping(trace)
            if any(c.what == "step" and c.detail != "none" for c in pattern.calls)
        ]
        total = steps_in(patterns)
        clearings = [call for pattern in patterns for call in pattern.calls if call.what == "zero_grad"]
        if clearings and all(call.detail == "found clear" for call in clearings):
            return  # the program clears them in its own way; that was seen where it was looked at closely
        uncleared = [
            pattern for pattern in patterns if not _clears(pattern) and any(map(_accumulates, pattern.calls))
        ]
        affected = steps_in(uncleared)
        if affected < self.least_steps or affected < self.share_limit * total:
            return
        call = next(call for call in uncleared[0].calls if _accumulates(call))
        first = first_step(uncleared)
        cleared = sum(pattern.steps for pattern in patterns if _clears(pattern))
        often = "Gradients were never cleared"
        if cleared:
            often = f"Gradients were cleared on only {cleared} of {total} steps"
        message = f"{often}: {affected} of {total} recorded steps used gradients of earlier batches too."
        detail = {"steps": total}
        yield self.symptom(message, call, affected / total, self.share_limit, detail, first_step=first)

    HEALTHY = {
        "cleared first": lambda: _run(("zero_grad forward backward step", 20)),
        "cleared after the step": lambda: _run(
            ("forward backward step", 1), ("zero_grad forward backward step", 20)
        ),
        "accumulation over four batches": lambda: _run(
            ("zero_grad forward backward forward backward step", 9)
        ),
        "forty batches before each step": lambda: _accumulated(),
        "cleared by hand": lambda: _by_hand(),
        "too short to judge": lambda: _run(("forward backward step", 3)),
    }
    FAULTY = {
        "never cleared": lambda: _run(("forward backward step", 20)),
        "cleared once per epoch": lambda: _run(
            ("zero_grad forward backward step", 2), ("forward backward step", 18)
        ),
        "cleared once per epoch, and dead units have no gradient": lambda: _dead(),
    }


def _clears(pattern: Pattern) -> bool:
    return any(call.what == "zero_grad" for call in pattern.calls)


def _accumulates(call: Call) -> bool:
    """torch.autograd.grad returns gradients; only backward() adds them to what is stored."""
    return call.what == "backward" and call.detail != "grad"


_IDLE = replace(optimizer(), stepped=None)
_OTHER = replace(optimizer("base"), groups=_IDLE.groups)
_LOOP = "zero_grad:optimizer forward:model=train,grad backward step=none"


class StepMissing(Detector, code="D202"):
    """Gradients are computed, but the optimiser that holds the parameters never takes a step.

    The weights stay what they were at the start, so the loss only wanders with the batches.
    Usual causes: optimizer.step() forgotten, called on another optimiser, or on a branch that is never taken.
    """

    least_backwards = convention(
        8, "backward passes without a step; accumulation over more batches than a short run has is rare"
    )
    least_unfinished = convention(
        64, "the same where the run was cut short: the step that ends an accumulation may have been near"
    )
    least_clears = convention(4, "an optimiser that is cleared again and again is meant to be used")

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
            clears = _times_cleared(trace, idle)
            if stepped and (
                clears < self.least_clears
                or used.issuperset(name for group in idle.groups for name in group.parameters)
            ):
                continue
            yield self.symptom(
                f"`{idle.name}` never took a step although backward() was called {backwards} times.",
                (idle.name, _left_without_step(trace, idle) or usual_site(trace, "backward")),
                observed=0.0,
                limit=float(self.least_backwards),
                first_step=0,
            )

    HEALTHY = {
        "the usual loop": lambda: trained(),
        "updated by hand beside an unused optimiser": lambda: Trace(
            facts={"optimizer": {"optimizer": _IDLE}},
            patterns=(Pattern((Call("backward"), Call("step", detail="by hand")), ((0, 39),)),),
        ),
        "a wrapper around another optimiser": lambda: trained(
            _IDLE, _OTHER, ("zero_grad:optimizer forward backward step:base", 40)
        ),
        "too few passes to judge": lambda: trained(_IDLE, (_LOOP, 7)),
    }
    FAULTY = {
        "step is never called": lambda: trained(_IDLE, (_LOOP, 40)),
        "one of two optimisers is only cleared": lambda: trained(
            _IDLE,
            replace(optimizer("other"), groups=()),
            ("zero_grad:optimizer zero_grad:other forward backward step:other", 40),
        ),
    }


def _times_cleared(trace: Trace, optimizer: OptimizerFact) -> int:
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


_STEP_ONLY = ("zero_grad:optimizer forward:model=train,grad loss step:optimizer", 20)


class BackwardMissing(Detector, code="D204"):
    """The optimiser steps again and again although no gradient is ever computed.

    Without backward() every `.grad` stays empty and a step changes nothing.
    Usual causes: loss.backward() forgotten, or commented out while trying something.
    """

    least_steps = convention(4, "the loop is known exactly; fewer steps may be a warm-up")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        usual = [pattern for pattern in stepping(trace) if any(is_training(call) for call in pattern.calls)]
        for name, own in by_optimizer(usual).items():
            steps = [call for pattern in own for call in pattern.calls if call.what == "step"]
            count = steps_in(own)
            if count < self.least_steps or any(call.detail for call in steps):
                continue  # a closure, an update by hand or a skipped step computes its gradients in another way
            within = own if len(trace.optimizers) > 1 else trace.patterns
            if any(call.what == "backward" for pattern in within for call in pattern.calls):
                continue
            if used_gradients(trace, name):
                continue
            message = f"The optimiser took {count} steps, but backward() was never called and no parameter ever had a gradient."
            yield self.symptom(message, name, 0.0, 1.0, first_step=first_step(own), site=steps[0].site)

    HEALTHY = {
        "the usual loop": lambda: trained(),
        "gradients written by hand": lambda: trained(Layer("fc"), _STEP_ONLY),
        "too short to judge": lambda: trained((_STEP_ONLY[0], 3)),
    }
    FAULTY = {
        "one of two networks that take turns": lambda: trained(
            replace(optimizer(), name="of_one"),
            replace(optimizer(), name="of_other"),
            Layer("one", optimizer="of_one"),
            Layer("other", optimizer="of_other", gradient=None, update=0.0),
            ("zero_grad:of_one forward:model=train,grad loss backward step:of_one", 20),
            ("zero_grad:of_other forward:model=train,grad loss step:of_other", 20),
        ),
        "never called": lambda: trained(Layer("fc", gradient=None), _STEP_ONLY),
    }


class SchedulerOrder(Detector, code="D209", figure="learning rate"):
    """The learning-rate scheduler was stepped before the optimiser had taken its first step.

    The first value of the schedule is skipped and every later one comes a step or an epoch too early. It seldom costs much.
    Usual cause: scheduler.step() at the top of the loop, or before optimizer.step().
    """

    earliest = exact(0, "the order is wrong when the very first step is preceded by the scheduler")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for pattern in trace.patterns:
            if pattern.spans[:1] and pattern.spans[0][0] <= self.earliest:
                before: list[Call] = []
                for call in pattern.calls:
                    if call.what == "step":
                        break
                    before.append(call)
                early = next((call for call in before if call.what == "scheduler"), None)
                # With accumulated gradients a scheduler that counts batches comes before the first step, as it should.
                if early is not None and sum(c.times for c in before if c.what == "backward") == 1:
                    message = (
                        f"`{early.component or 'scheduler'}` was stepped before the optimiser's first step."
                    )
                    yield self.symptom(message, early, first_step=0)

    HEALTHY = {
        "after every step": lambda: trained(
            ("zero_grad forward=train,grad backward step:optimizer", 1),
            ("scheduler:StepLR zero_grad forward=train,grad backward step:optimizer", 20),
        ),
        "counts batches while gradients are accumulated": lambda: trained(
            ("forward=train,grad*4 backward*4 scheduler*4 step:optimizer", 20)
        ),
    }
    FAULTY = {
        "before every step": lambda: trained(
            ("zero_grad forward=train,grad backward scheduler:StepLR step:optimizer", 20)
        )
    }
