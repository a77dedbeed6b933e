"""LOOP-NO-GRAD."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.measures.loop import calls
from netmend.diagnose.measures.loop_examples import patterns
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, WEAK, fault, for_symptom, register
from netmend.localise.effects import ANY
from netmend.localise.lines.blocks import freezing, grad_switched_off, no_grad_around
from netmend.unit import Run
from netmend.vocabulary import Fault, FunctionFact, RunFact, Site, Symptom, Trace

_NO_GRAPH = "does not require grad"


def _no_graph(*loop: tuple[str, int]) -> Trace:
    text = "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn"
    run = RunFact("example", "train.py", status="failed", exception=text, exception_site=Site("train.py", 21))
    return Trace(facts={"run": {"example": run}}, patterns=patterns(*loop))


@register
class GradientsSwitchedOff:
    """Gradients are switched off where training needs them, or the loss does not depend on the weights.

    backward() then has nothing to go through and raises. Evaluation that records gradients only wastes memory.
    Keep torch.no_grad() around evaluation alone, and compute the loss from the model's output by differentiable operations.
    """

    code: ClassVar[str] = "LOOP-NO-GRAD"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D701"):
            if _NO_GRAPH in str(symptom.detail["exception"]):
                yield self._raised(case, symptom)
        for symptom in case.of("D224"):
            yield fault(
                self.code,
                [for_symptom(symptom, WEAK)],
                component=symptom.component,
                site=symptom.site,
                summary=symptom.message,
                reason="Recording costs memory and time; results are not affected.",
                remedy="Put `with torch.no_grad():` around the evaluation.",
                refutation="The gradients are used, for example for saliency maps.",
            )

    def _raised(self, case: Case, symptom: Symptom) -> Fault:
        code, place, why, remedy = self._why(case, symptom)
        return fault(
            code,
            [for_symptom(symptom, PROVEN + 0.5)],
            component="objective",
            site=place or symptom.site,
            summary=symptom.message,
            reason=why,
            remedy=remedy,
            refutation="",
            related=[symptom.site],
            explains=ANY,
        )

    def _why(self, case: Case, symptom: Symptom) -> tuple[str, Site | None, str, str]:
        trace = case.trace
        passes = [call for _, call in calls(trace, "forward")]
        if passes and all(call.detail.endswith("no_grad") for call in passes):
            place = next((b for c in passes if (b := no_grad_around(case.sources, c.site))), None)
            place = place or grad_switched_off(case.sources, trace.run.script) or passes[0].site
            why = "Gradients are switched off during the training pass, so the loss has no graph."
            return self.code, place, why, "Run the training pass outside `no_grad`."
        if trace.models and all(model.trainable == 0 and model.parameters for model in trace.models):
            why = "All parameters are frozen, so there is nothing to train."
            place = freezing(case.sources, trace.run.script)
            return "LOOP-FREEZE", place, why, "Freeze only the part that should stay fixed."
        cuts = [f for f in trace.all(FunctionFact) if f.kind == "graph cut" and f.site is not None]
        cut = cuts[-1] if cuts else None
        name = f"`{cut.function.strip('_')}`" if cut is not None else "An operation"
        why = f"{name} between the model and `backward()` detaches the value from the graph."
        place = cut.site if cut is not None else next((c.site for _, c in calls(trace, "loss")), None)
        return (
            "LOS-GRAPH-CUT",
            place,
            why,
            "Compute the loss from the model's output with differentiable operations.",
        )

    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "all under no_grad", lambda: _no_graph(("zero_grad forward:model=train,no_grad backward end", 1))
        ),
        Run(
            "cut",
            lambda: _no_graph(("zero_grad forward:model=train,grad loss backward end", 1)),
            "LOS-GRAPH-CUT",
        ),
    )
