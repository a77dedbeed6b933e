"""Calls of the training loop that are missing or in the wrong order."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.diagnose.detectors.accumulation import GradientsClearedBetweenBatches, StepBeforeBackward
from netmend.diagnose.detectors.loop_calls import BackwardMissing, GradientsNotCleared, SchedulerOrder
from netmend.diagnose.detectors.loop_calls import StepMissing as StepMissingDetector
from netmend.diagnose.detectors.optimizer_settings import ClippedBeforeUnscaling
from netmend.diagnose.measures.ending import finished
from netmend.diagnose.measures.loop import is_training, usual_site
from netmend.diagnose.measures.wiring import stepped_optimizers
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, WEAK, Accusation, Cause, accuses, for_symptom
from netmend.localise.effects import NOT_LEARNING, UNSTABLE, outcome, stopped
from netmend.localise.lines.blocks import writes_gradients
from netmend.program.text.queries import last_name
from netmend.vocabulary import Call, Evidence, Fault, Symptom, Trace


@accuses("LOOP-ZERO-GRAD", GradientsNotCleared)
def gradients_not_cleared(case: Case, symptom: Symptom) -> Accusation:
    """Gradients are not cleared between optimiser steps.

    Every backward() adds to the stored gradients, so each step follows the sum of all batches seen so far: the
    effective step grows until training overshoots.
    Call `optimizer.zero_grad()` once per step, before backward().
    """
    optimizer = next((o.name for o in case.trace.optimizers), "optimizer")
    return Accusation(
        PROVEN + 1.5,
        component=symptom.component or "training loop",
        reason="`backward()` adds to the stored gradients, so every step uses the sum over all batches so far.",
        remedy=f"Insert `{optimizer}.zero_grad()` before the backward call, inside the loop over batches.",
        refutation="Gradients are cleared in a way netmend cannot see, for example in C++ code.",
        explains=("D101", "D103", "D501", "D502", "D503", "D504"),
    )


@accuses("LOOP-BACKWARD", BackwardMissing)
def backward_missing(case: Case, symptom: Symptom) -> Accusation:
    """backward() is never called.

    Without it no parameter has a gradient, and optimizer.step() has nothing to apply.
    Call loss.backward() after the loss is computed and before step().
    """
    return Accusation(
        PROVEN + 1.5,
        component=symptom.component or "training loop",
        reason="Without gradients, an optimiser step changes nothing.",
        remedy="Insert `loss.backward()` between the loss and the optimiser's step.",
        refutation="A library that bypasses PyTorch's autograd computes the gradients.",
        related=[usual_site(case.trace, "loss")],
        explains=(*NOT_LEARNING, "D201", "D214", "D215"),
    )


class StepMissing(Cause, code="LOOP-STEP"):
    """The optimiser never steps, or steps before the gradients are there.

    Gradients alone change nothing: optimizer.step() applies them, and it must come after backward().
    The order of a training step is zero_grad(), forward, backward(), step().
    """

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D202"):
            if not finished(case.trace) and _is_written(case, symptom.component):
                continue  # many backward passes may come before the first step, and the run did not get there
            yield self.fault(
                symptom,
                [for_symptom(symptom, PROVEN + 1.5)],
                reason="Without `step()` the weights never change, whatever the loss says.",
                remedy=f"Insert `{symptom.component}.step()` after the backward call, inside the loop over batches.",
                refutation="Another part of the program updates the weights where netmend cannot see it.",
                related=[o.created for o in case.trace.optimizers if o.name == symptom.component],
                explains=(*NOT_LEARNING, "D215"),
            )
        for symptom in case.of("D203"):
            lost = bool(symptom.detail.get("lost"))
            name = symptom.component or "optimizer"
            yield self.fault(
                symptom,
                [for_symptom(symptom, PROVEN + 1.5)],
                component=symptom.component or "training loop",
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
                yield stopped(
                    symptom,
                    "The step changes weights that the backward pass still needs unchanged.",
                    f"Move `{step.component or 'optimizer'}.step()` below the backward call.",
                    PROVEN + 0.5,
                    component=step.component or "training loop",
                    site=step.site,
                    summary=f"The optimiser stepped between the forward and the backward pass: {symptom.message}",
                ).fault(self.code, symptom)

    FAULTY = (*StepMissingDetector.FAULTY, *StepBeforeBackward.FAULTY)


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


SCALED = ("SGD", "ASGD", "Rprop")  # optimisers whose step is as long as the gradient


class AccumulationWrong(Cause, code="LOOP-ACCUM"):
    """Gradient accumulation is wrong: gradients are cleared too often, or added up without dividing.

    Cleared between the batches of one step, all but the last batch are lost; added up as full means, the step is too long.
    Clear after the step, and divide each loss by the number of batches.
    """

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D207"):
            evidence = [for_symptom(symptom, PROVEN)]
            if writes_gradients(case.sources, symptom.site):
                evidence.append(Evidence("The program combines gradients itself.", -2 * PROVEN))
            yield self.fault(
                symptom,
                evidence,
                reason="Only the last batch counts, so the step is as noisy as with a single batch.",
                remedy=f"Move `{symptom.component}.zero_grad()` after the optimiser's step.",
                refutation="The program copied these gradients before they were cleared.",
                related=[symptom.detail.get("backward"), symptom.detail.get("step")],
                explains=(*NOT_LEARNING, "D208", "D313", "D503"),
            )
        for symptom in case.of("D208"):
            kinds = {optimizer.kind for optimizer in stepped_optimizers(case.trace)}
            evidence = [for_symptom(symptom, WEAK)]
            if not kinds.intersection(SCALED):
                text = "This optimiser divides by the gradient's size, so it hardly matters."
                evidence.append(Evidence(text, -STRONG - FAIR))
            wild = case.first("D502", "D503", "D110", "D107", "D101", "D103")
            if wild is not None:
                evidence.append(
                    for_symptom(wild, 2 * STRONG if (symptom.observed or 0) >= 4 else STRONG + FAIR)
                )
            evidence += outcome(case, bad=WEAK)
            batches = int(symptom.observed or 2)
            yield self.fault(
                symptom,
                evidence,
                reason=f"Each step is {batches} times as long as the learning rate implies.",
                remedy=f"Divide the loss by {batches} before `backward()`.",
                refutation=f"The learning rate was chosen for sums of {batches} batches.",
                explains=UNSTABLE,
            )

    FAULTY = (*GradientsClearedBetweenBatches.FAULTY,)


@accuses("LOOP-SCHED-ORDER", SchedulerOrder)
def scheduler_order(case: Case, symptom: Symptom) -> Accusation:
    """The learning-rate scheduler is stepped before the optimiser.

    The first value of the schedule is skipped, and all others come too early. On its own it seldom hurts.
    Call scheduler.step() after optimizer.step().
    """
    evidence: list[Evidence] = []
    if any(event.kind == "state loaded" for event in case.trace.events):
        evidence.append(Evidence("A checkpoint was loaded: the schedule may be fast-forwarded.", -STRONG))
    return Accusation(
        STRONG,
        evidence=evidence,
        component=symptom.component or "scheduler",
        reason="The initial rate, meant for the first step or epoch, is never used.",
        remedy="Call `scheduler.step()` after the optimiser has stepped.",
        refutation="The schedule is advanced on purpose, to resume an earlier run.",
    )


class MixedPrecisionMisused(Cause, code="LOOP-AMP"):
    """Mixed precision is used in a way that loses the gradients.

    Gradients are multiplied by the loss scale until they are unscaled; clipping before that cuts them to nothing. Weights kept in
    half precision swallow small updates.
    Call scaler.unscale_(optimizer) before clipping, and keep weights in float32.
    """

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D212"):
            yield self.fault(
                symptom,
                [for_symptom(symptom, PROVEN + 1.0)],
                reason="Scaled gradients are huge, so clipping leaves next to nothing after unscaling.",
                remedy="Call `scaler.unscale_(optimizer)` before this line.",
                refutation="The limit is scaled too.",
                explains=(*NOT_LEARNING, "D211"),
            )
        for symptom in case.of("D225"):
            yield self.fault(
                symptom,
                [for_symptom(symptom, FAIR)],
                reason="A skipped step teaches nothing.",
                remedy="Find the value that overflows in half precision, or compute that part in float32.",
                refutation="The weights diverge in float32 as well.",
            )
        for symptom in case.of("D215"):
            if symptom.detail.get("half") and symptom.detail.get("rate") != 0:
                yield self.fault(
                    symptom,
                    [for_symptom(symptom, STRONG + FAIR)],
                    reason="In half precision, adding a small update to a weight does not change it.",
                    remedy="Keep the weights in float32 and use autocast for the forward pass.",
                    refutation="The weights do change, but between two recorded steps.",
                    explains=NOT_LEARNING,
                )

    FAULTY = ClippedBeforeUnscaling.FAULTY
