"""D208 AccumulationNotAveraged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.loop import first_step, stepping, unfolded
from netmend.diagnose.measures.loop_examples import optimizer, trained
from netmend.unit import Run, threshold
from netmend.vocabulary import LossFact, Pattern, Site, Symptom, Trace

_SCALING = ("DivBackward0", "MulBackward0")
_LOOP = "zero_grad:optimizer forward:model=train,grad*8 loss*8 backward@12*8 step:optimizer"
_LOSS = LossFact(
    "cross_entropy@train.py:11",
    "cross_entropy",
    settings={"reduction": "mean"},
    operations=("NllLossBackward0", "LogSoftmaxBackward0"),
    backward=Site("train.py", 12),
)


@register
class AccumulationNotAveraged:
    """Gradients of several batches are added up for one step, each of them a full mean over its batch.

    The step is then as many times too long as there are batches. Optimisers that divide by the size of the gradient (Adam and its
    kin) do not notice; plain SGD does, and may become unstable.
    Usual cause: gradient accumulation without dividing the loss by the number of batches.
    """

    code: ClassVar[str] = "D208"

    least_steps: int = threshold(4, "convention", "the loop is known exactly; fewer steps may be a warm-up")
    least_batches: int = threshold(2, "exact", "with one batch per step there is nothing to average")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        means: dict[Site | None, LossFact] = {
            loss.backward: loss
            for loss in trace.losses
            if loss.backward is not None and _is_mean(trace, loss)
        }
        usual = [pattern for pattern in stepping(trace) if _added(pattern, means) >= self.least_batches]
        steps = sum(pattern.steps for pattern in usual)
        total = sum(pattern.steps for pattern in stepping(trace))
        if steps < self.least_steps or 2 * steps < total:
            return
        batches = _added(usual[0], means)
        backward = next(c for c in usual[0].calls if c.what == "backward" and c.site in means)
        yield Symptom(
            self.code,
            f"The gradients of {batches} batches were summed for one step, and each loss is a mean that was not divided "
            f"by {batches}.",
            component=means[backward.site].name,
            first_step=first_step(usual),
            observed=float(batches),
            limit=1.0,
            site=backward.site,
            detail={"batches": batches, "share": steps / total},
        )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("one batch per step", lambda: trained(optimizer(), _LOSS)),
        Run(
            "divided",
            lambda: trained(
                optimizer(),
                replace(_LOSS, criterion="expression", operations=("DivBackward0", "NllLossBackward0")),
                loop=[(_LOOP, 20)],
            ),
        ),
        Run(
            "sums that are scaled by the rate",
            lambda: trained(optimizer(), replace(_LOSS, settings={"reduction": "sum"}), loop=[(_LOOP, 20)]),
        ),
        Run(
            "two losses of one batch",
            lambda: trained(
                optimizer(),
                _LOSS,
                loop=[("zero_grad forward=train,grad backward@12 backward@13 step:optimizer", 20)],
            ),
        ),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("not divided", lambda: trained(optimizer(), _LOSS, loop=[(_LOOP, 20)])),
    )


def _is_mean(trace: Trace, loss: LossFact) -> bool:
    if loss.operations[:1] and loss.operations[0] in _SCALING:
        return False
    return loss.settings.get("reduction") == "mean" or loss.operations[:1] == ("MeanBackward0",)


def _added(pattern: Pattern, means: dict[Site | None, LossFact]) -> int:
    """How many batches the loop adds up from one line, uncleared."""
    if any(call.what == "step" and (call.detail or not call.component) for call in pattern.calls):
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
    forwards = sum(
        call.times for call in pattern.calls if call.what == "forward" and call.detail == "train, grad"
    )
    counts = [c.times for c in pattern.calls if c.what == "backward" and c.site in means]
    return min(sum(counts), forwards)
