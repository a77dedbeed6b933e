"""LOOP-STEP."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.accumulation import StepBeforeBackward
from netmend.diagnose.detectors.loop_calls import StepMissing as StepMissingDetector
from netmend.diagnose.measures.ending import finished
from netmend.diagnose.measures.loop import is_training
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, fault, for_symptom, register
from netmend.localise.effects import ANY, NOT_LEARNING
from netmend.program.text.queries import last_name
from netmend.unit import Run
from netmend.vocabulary import Call, Fault, Trace


@register
class StepMissing:
    """The optimiser never steps, or steps before the gradients are there.

    Gradients alone change nothing: optimizer.step() applies them, and it must come after backward().
    The order of a training step is zero_grad(), forward, backward(), step().
    """

    code: ClassVar[str] = "LOOP-STEP"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D202"):
            if not finished(case.trace) and _is_written(case, symptom.component):
                continue  # many backward passes may come before the first step, and the run did not get there
            yield fault(
                self.code,
                [for_symptom(symptom, PROVEN + 1.5)],
                component=symptom.component,
                site=symptom.site,
                summary=symptom.message,
                reason="Without `step()` the weights never change, whatever the loss says.",
                remedy=f"Insert `{symptom.component}.step()` after the backward call, inside the loop over batches.",
                refutation="Another part of the program updates the weights where netmend cannot see it.",
                related=[o.created for o in case.trace.optimizers if o.name == symptom.component],
                explains=(*NOT_LEARNING, "D215"),
            )
        for symptom in case.of("D203"):
            lost = bool(symptom.detail.get("lost"))
            name = symptom.component or "optimizer"
            yield fault(
                self.code,
                [for_symptom(symptom, PROVEN + 1.5)],
                component=symptom.component or "training loop",
                site=symptom.site,
                summary=symptom.message,
                reason="A step without gradients changes nothing."
                if lost
                else "Each step uses the previous batch's gradients, computed for weights that have changed since.",
                remedy=f"Move `{name}.zero_grad()` after the step, or before the backward call."
                if symptom.detail["cleared"]
                else f"Move `{name}.step()` below the backward call.",
                refutation="The steps are delayed on purpose, as in pipelined training.",
                explains=(*NOT_LEARNING, "D204", "D214", "D215"),
            )

        for symptom in case.of("D701"):
            step = _stepped_before_backward(case.trace)
            if step is not None and "modified by an inplace operation" in str(symptom.detail["exception"]):
                yield fault(
                    self.code,
                    [for_symptom(symptom, PROVEN + 0.5)],
                    component=step.component or "training loop",
                    site=step.site,
                    summary=f"The optimiser stepped between the forward and the backward pass: {symptom.message}",
                    reason="The step changes weights that the backward pass still needs unchanged.",
                    remedy=f"Move `{step.component or 'optimizer'}.step()` below the backward call.",
                    refutation="",
                    related=[symptom.site],
                    explains=ANY,
                )

    FAULTY: ClassVar[tuple[Run, ...]] = (
        *StepMissingDetector.FAULTY,
        *StepBeforeBackward.FAULTY,
    )


def _stepped_before_backward(trace: Trace) -> Call | None:
    """The step after the last forward pass, when the backward pass of that came only then, and raised."""
    if len(trace.patterns) < 2 or trace.patterns[-1].calls[-1].what != "end":
        return None
    rest = [call.what for call in trace.patterns[-1].calls if call.what != "forward" or is_training(call)]
    if "backward" not in rest or "forward" in rest[: rest.index("backward")]:
        return None
    return next((call for call in reversed(trace.patterns[-2].calls) if call.what == "step"), None)


def _is_written(case: Case, optimizer: str) -> bool:
    """Whether the program has a line that steps this optimiser."""
    sources, script = case.sources, case.trace.run.script
    return any(
        isinstance(node, ast.Attribute) and node.attr == "step" and last_name(node.value) == optimizer
        for file in sources.files(script)
        for node in sources.nodes(file)
    )
