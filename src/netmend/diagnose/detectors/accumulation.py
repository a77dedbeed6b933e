"""Gradients of several batches: cleared, applied or averaged at the wrong time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.loops import Layer, optimizer, trained
from netmend.diagnose.measures.loop import (
    by_optimizer,
    first_step,
    is_training,
    misplaced,
    stepping,
    steps_in,
    unfolded,
)
from netmend.diagnose.measures.wiring import stepped_optimizers, used_gradients
from netmend.unit import convention, exact
from netmend.vocabulary import Call, LossFact, Pattern, Site, Symptom, Trace


class StepBeforeBackward(Detector, code="D203"):
    """The optimiser steps after the forward pass but before the backward pass of the same batch.

    The step then uses the gradients of the batch before, or none at all where they were cleared in between.
    Usual cause: step() and backward() in the wrong order.
    """

    least_steps = convention(4, "the loop is known exactly; fewer steps may be a warm-up")
    share_limit = convention(0.5, "most steps: single ones may be somebody's own schedule")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        usual = stepping(trace)
        late = misplaced(usual, _late_step, self.least_steps, self.share_limit)
        if late is not None:
            lost = _lost(late.pattern)
            used = "none at all: they had been cleared" if lost else "those of the previous batch"
            message = f"On {late.steps} of {late.total} steps the optimiser stepped before backward() was called: it used {used}."
            yield self.symptom(message, late, late.share, self.share_limit, {"lost": lost, "cleared": False})
            return
        for name, own in by_optimizer(usual).items():
            clear = misplaced(
                own, lambda pattern: _cleared(pattern, trace), self.least_steps, self.share_limit
            )
            if clear is None or used_gradients(trace, name):
                continue
            message = f"On {clear.steps} of {clear.total} steps the gradients were cleared between backward() and the optimiser step."
            yield self.symptom(message, clear, clear.share, self.share_limit, {"lost": True, "cleared": True})

    HEALTHY = {
        "the usual loop": lambda: trained(),
        "another forward pass between backward and step": lambda: trained(
            ("zero_grad forward=train,grad backward forward=train,grad step:optimizer", 20)
        ),
        "two losses, stepped one after the other": lambda: trained(
            ("forward=train,grad backward step:a", 20), ("backward step:b", 20)
        ),
    }
    FAULTY = {
        "cleared before they are used": lambda: trained(
            ("forward=train,grad loss backward zero_grad:optimizer step:optimizer", 20)
        ),
        "cleared before they are used, for one of two networks that take turns": lambda: trained(
            replace(optimizer(), name="of_one"),
            replace(optimizer(), name="of_other"),
            Layer("one", optimizer="of_one"),
            Layer("other", optimizer="of_other", gradient=None, update=0.0),
            ("zero_grad:of_one forward:model=train,grad loss backward step:of_one", 40),
            ("forward:model=train,grad loss backward zero_grad:of_other step:of_other", 20),
        ),
        "gradients are lost": lambda: trained(
            ("backward zero_grad forward=train,grad loss step:optimizer", 20)
        ),
        "gradients are one batch late": lambda: trained(
            ("zero_grad backward forward=train,grad loss step:optimizer", 20)
        ),
    }


def _cleared(pattern: Pattern, trace: Trace) -> Call | None:
    """The call that clears, after the last backward pass, what the optimiser is about to use."""
    order = unfolded(pattern)
    step = next(call for call in reversed(order) if call.what == "step")
    if _late_step(pattern) or step.detail or not any(call.what == "backward" for call in order):
        return None
    single = len(trace.optimizers) == 1
    names = (step.component, *(model.name for model in trace.models if single))
    found: Call | None = None
    for call in order:
        if call.what == "backward":
            found = None
        elif call.what == "zero_grad" and call.component in names and call.component:
            found = call
    return found


def _late_step(pattern: Pattern) -> Call | None:
    """The step, if every forward pass with gradients comes after the last backward pass."""
    order = _order(pattern)
    if not {"backward", "forward"} <= set(order) or order.index("forward") < _last_backward(order):
        return None
    return next(call for call in reversed(pattern.calls) if call.what == "step")


def _lost(pattern: Pattern) -> bool:
    order = _order(pattern)
    return "zero_grad" in order[_last_backward(order) :]


def _last_backward(order: list[str]) -> int:
    return len(order) - 1 - order[::-1].index("backward")


def _order(pattern: Pattern) -> list[str]:
    """What is called, with forward passes only where they record gradients."""
    return [call.what for call in unfolded(pattern) if call.what != "forward" or is_training(call)]


_LOST = "batch*4 zero_grad:optimizer*4 forward:model=train,grad*4 loss*4 backward*4 step:optimizer"


class GradientsClearedBetweenBatches(Detector, code="D207"):
    """Several batches are passed back for one optimiser step, but the gradients are cleared between them.

    Only the last batch then counts; the work of the others is lost, and the step is as noisy as that of one small batch.
    Usual cause: gradient accumulation with zero_grad() at the top of the loop over batches instead of after the step.
    """

    least_steps = convention(4, "the loop is known exactly; fewer steps may be a warm-up")
    share_limit = convention(
        0.8, "nearly all steps: where single steps are skipped on a condition, most are not"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        usual = [p for p in stepping(trace) if p.times("backward") and not _without_step(p)]
        single = len(stepped_optimizers(trace)) == 1 and len(trace.models) <= 1
        models = {model.name for model in trace.models} if single else set()
        losing = misplaced(
            usual, lambda pattern: _clear_between(pattern, models), self.least_steps, self.share_limit
        )
        if losing is None:
            return
        batches = losing.pattern.times("backward")
        message = (
            f"On {losing.steps} of {losing.total} steps the gradients of {batches - 1} of {batches} backward passes were cleared "
            "before the optimiser used them."
        )
        sites = {what: call.site for what in ("backward", "step") if (call := losing.pattern.first(what))}
        yield self.symptom(message, losing, float(batches), 1.0, {**sites})

    HEALTHY = {
        "the usual loop": lambda: trained(),
        "accumulation, cleared after the step": lambda: trained(
            ("zero_grad:optimizer forward=train,grad*4 loss*4 backward*4 step:optimizer", 20)
        ),
        "another optimiser is cleared in between": lambda: trained(
            (
                "zero_grad:a forward=train,grad backward@20 zero_grad:b forward=train,grad backward@22 step:a",
                20,
            )
        ),
        "two passes from two lines: sharpness-aware minimisation": lambda: trained(
            (
                "forward=train,grad@20 backward@21 zero_grad:optimizer forward=train,grad@23 backward@24 "
                "step:optimizer",
                20,
            )
        ),
        "a closure that is evaluated several times": lambda: trained((_LOST + "=closure", 20)),
    }
    FAULTY = {
        "cleared for every small batch": lambda: trained((_LOST, 20)),
        "cleared by the model": lambda: trained(
            Layer("fc"), (_LOST.replace("zero_grad:optimizer", "zero_grad:model"), 20)
        ),
    }


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


def _without_step(pattern: Pattern) -> bool:
    """Iterations that ended without an optimiser, in a closure, or skipped."""
    return any(call.what == "step" and (call.detail or not call.component) for call in pattern.calls)


_SCALING = ("DivBackward0", "MulBackward0")
_LOOP = "zero_grad:optimizer forward:model=train,grad*8 loss*8 backward@12*8 step:optimizer"
_LOSS = LossFact(
    "cross_entropy@train.py:11",
    "cross_entropy",
    settings={"reduction": "mean"},
    operations=("NllLossBackward0", "LogSoftmaxBackward0"),
    backward=Site("train.py", 12),
)


class AccumulationNotAveraged(Detector, code="D208"):
    """Gradients of several batches are added up for one step, each of them a full mean over its batch.

    The step is then as many times too long as there are batches. Optimisers that divide by the size of the gradient (Adam and its
    kin) do not notice; plain SGD does, and may become unstable.
    Usual cause: gradient accumulation without dividing the loss by the number of batches.
    """

    least_steps = convention(4, "the loop is known exactly; fewer steps may be a warm-up")
    least_batches = exact(2, "with one batch per step there is nothing to average")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        means: dict[Site | None, LossFact] = {
            loss.backward: loss
            for loss in trace.losses
            if loss.backward is not None and _is_mean(trace, loss)
        }
        usual = [pattern for pattern in stepping(trace) if _added(pattern, means) >= self.least_batches]
        steps, total = steps_in(usual), steps_in(stepping(trace))
        if steps < self.least_steps or 2 * steps < total:
            return
        batches = _added(usual[0], means)
        backward = next(c for c in usual[0].calls if c.what == "backward" and c.site in means)
        message = (
            f"The gradients of {batches} batches were summed for one step, and each loss is a mean that was not divided "
            f"by {batches}."
        )
        yield self.symptom(
            message,
            (means[backward.site].name, backward.site),
            observed=float(batches),
            limit=1.0,
            detail={"share": steps / total},
            first_step=first_step(usual),
        )

    HEALTHY = {
        "one batch per step": lambda: trained(_LOSS),
        "divided": lambda: trained(
            replace(_LOSS, criterion="expression", operations=("DivBackward0", "NllLossBackward0")),
            (_LOOP, 20),
        ),
        "sums that are scaled by the rate": lambda: trained(
            replace(_LOSS, settings={"reduction": "sum"}), (_LOOP, 20)
        ),
        "two losses of one batch": lambda: trained(
            _LOSS, ("zero_grad forward=train,grad backward@12 backward@13 step:optimizer", 20)
        ),
    }
    FAULTY = {"not divided": lambda: trained(_LOSS, (_LOOP, 20))}


def _is_mean(trace: Trace, loss: LossFact) -> bool:
    if loss.operations[:1] and loss.operations[0] in _SCALING:
        return False
    return loss.settings.get("reduction") == "mean" or loss.operations[:1] == ("MeanBackward0",)


def _added(pattern: Pattern, means: dict[Site | None, LossFact]) -> int:
    """How many batches the loop adds up from one line, uncleared."""
    if _without_step(pattern):
        return 0
    between = False
    seen = 0
    for call in unfolded(pattern):
        if call.what == "backward" and call.site in means:
            seen += 1
        elif call.what == "zero_grad" and seen:
            between = True
    if between or seen < 2:
        return 0
    forwards = sum(call.times for call in pattern.calls if call.detail == "train, grad")
    counts = [c.times for c in pattern.calls if c.what == "backward" and c.site in means]
    return min(sum(counts), forwards)
