"""D203 StepBeforeBackward."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.loop import by_optimizer, first_step, is_training, stepping, unfolded
from netmend.diagnose.measures.loop_examples import Layer, network, optimizer, trained
from netmend.diagnose.measures.wiring import used_gradients
from netmend.unit import Run, threshold
from netmend.vocabulary import Call, Pattern, Symptom, Trace


@register
class StepBeforeBackward:
    """The optimiser steps after the forward pass but before the backward pass of the same batch.

    The step then uses the gradients of the batch before, or none at all where they were cleared in between.
    Usual cause: step() and backward() in the wrong order.
    """

    code: ClassVar[str] = "D203"

    least_steps: int = threshold(4, "convention", "the loop is known exactly; fewer steps may be a warm-up")
    share_limit: float = threshold(
        0.5, "convention", "most steps: single ones may be somebody's own schedule"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        usual = stepping(trace)
        total = sum(pattern.steps for pattern in usual)
        late = [pattern for pattern in usual if _late(pattern)]
        affected = sum(pattern.steps for pattern in late)
        if affected >= self.least_steps and affected >= self.share_limit * total:
            step = next(call for call in reversed(late[0].calls) if call.what == "step")
            lost = _lost(late[0])
            used = "none at all: they had been cleared" if lost else "those of the previous batch"
            yield Symptom(
                self.code,
                f"On {affected} of {total} steps the optimiser stepped before backward() was called: it used {used}.",
                component=step.component,
                first_step=first_step(late),
                observed=affected / total,
                limit=self.share_limit,
                site=step.site,
                detail={"lost": lost, "cleared": False},
            )
            return
        for name, own in by_optimizer(usual).items():
            cleared = [p for p in own if not _late(p) and _cleared(p, trace) is not None]
            affected, total = sum(p.steps for p in cleared), sum(p.steps for p in own)
            if affected < max(self.least_steps, self.share_limit * total) or used_gradients(trace, name):
                continue
            clear = _cleared(cleared[0], trace)
            assert clear is not None
            yield Symptom(
                self.code,
                f"On {affected} of {total} steps the gradients were cleared between backward() and the optimiser step.",
                component=clear.component,
                first_step=first_step(cleared),
                observed=affected / total,
                limit=self.share_limit,
                site=clear.site,
                detail={"lost": True, "cleared": True},
            )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("the usual loop", lambda: trained(optimizer())),
        Run(
            "another forward pass between backward and step",
            lambda: trained(
                optimizer(),
                loop=[("zero_grad forward=train,grad backward forward=train,grad step:optimizer", 20)],
            ),
        ),
        Run(
            "two losses, stepped one after the other",
            lambda: trained(
                optimizer(),
                loop=[("forward=train,grad backward step:a", 20), ("backward step:b", 20)],
            ),
        ),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "cleared before they are used",
            lambda: trained(
                optimizer(),
                loop=[("forward=train,grad loss backward zero_grad:optimizer step:optimizer", 20)],
            ),
        ),
        Run(
            "cleared before they are used, for one of two networks that take turns",
            lambda: trained(
                replace(optimizer(), name="of_one"),
                replace(optimizer(), name="of_other"),
                *network(
                    Layer("one", optimizer="of_one"),
                    Layer("other", optimizer="of_other", gradient=None, update=0.0),
                ),
                loop=[
                    ("zero_grad:of_one forward:model=train,grad loss backward step:of_one", 40),
                    ("forward:model=train,grad loss backward zero_grad:of_other step:of_other", 20),
                ],
            ),
        ),
        Run(
            "gradients are lost",
            lambda: trained(
                optimizer(), loop=[("backward zero_grad forward=train,grad loss step:optimizer", 20)]
            ),
        ),
        Run(
            "gradients are one batch late",
            lambda: trained(
                optimizer(), loop=[("zero_grad backward forward=train,grad loss step:optimizer", 20)]
            ),
        ),
    )


def _cleared(pattern: Pattern, trace: Trace) -> Call | None:
    """The call that clears, after the last backward pass, what the optimiser is about to use."""
    order = unfolded(pattern)
    step = next(call for call in reversed(order) if call.what == "step")
    if step.detail or not any(call.what == "backward" for call in order):
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


def _late(pattern: Pattern) -> bool:
    """Every forward pass with gradients comes after the last backward pass."""
    order = _order(pattern)
    return "backward" in order and "forward" in order and order.index("forward") > _last_backward(order)


def _lost(pattern: Pattern) -> bool:
    order = _order(pattern)
    return "zero_grad" in order[_last_backward(order) :]


def _last_backward(order: list[str]) -> int:
    return len(order) - 1 - order[::-1].index("backward")


def _order(pattern: Pattern) -> list[str]:
    """What is called, with forward passes only where they record gradients."""
    return [call.what for call in unfolded(pattern) if call.what != "forward" or is_training(call)]
