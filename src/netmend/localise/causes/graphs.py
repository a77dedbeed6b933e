"""Graphs: kept, carried from step to step, or with a wrong gradient in them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from netmend.diagnose.detectors.experiments import GradientWrong
from netmend.diagnose.detectors.graphs import CarriedState
from netmend.diagnose.detectors.graphs import GraphsKept as GraphsKeptDetector
from netmend.diagnose.examples.curves import crashed
from netmend.diagnose.measures.loop import calls, stepping
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, WEAK, Accusation, Cause, accuses, fault, for_symptom
from netmend.localise.effects import ANY
from netmend.localise.lines.blocks import handed_on_state, retains_graph
from netmend.localise.lines.values import collecting, keeping, kept_call
from netmend.unit import Run
from netmend.vocabulary import Evidence, Fault, Site, Symptom


class GraphsKept(Cause, code="TRN-MEM"):
    """Memory fills up with the graphs of earlier steps.

    A loss that is added up or collected as a tensor keeps its whole graph alive.
    Collect numbers: loss.item(), or loss.detach() where the device should not be waited for.
    """

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D219"):
            evidence = [for_symptom(symptom, STRONG + FAIR if symptom.detail["never"] else STRONG)]
            line = keeping(case.sources, symptom.site)
            if line is not None:
                message = f"`{case.sources.line(line)}` keeps the loss with its graph."
                evidence.append(Evidence(message, FAIR + WEAK))
            yield self.fault(
                symptom,
                evidence,
                site=line or symptom.site,
                reason="Each kept loss holds the graph of its step, so memory grows with the number of steps.",
                remedy="Keep the number instead of the tensor: `loss.item()`.",
                refutation="The losses are backpropagated together later on purpose.",
                related=[symptom.site],
                explains=("D221",),
            )
        for symptom in case.of("D221"):
            if symptom.site is None or not case.sources.line(symptom.site):
                continue
            line = collecting(case.sources, symptom.site)
            if line is not None and not retains_graph(case.sources, symptom.site):
                told = f"`{case.sources.line(line)}` keeps tensors with their graphs."
                yield self.fault(
                    symptom,
                    [for_symptom(symptom, STRONG), Evidence(told, STRONG)],
                    site=line,
                    reason="Each kept tensor holds the graph of its step, so memory grows with the number of steps.",
                    remedy="Keep what is needed without its graph: `.detach()`.",
                    refutation="The tensors are backpropagated together later on purpose.",
                    related=[symptom.site],
                )
        for symptom in case.of("D224"):
            line = kept_call(case.sources, symptom.site)
            if line is not None:
                told = f"`{case.sources.line(line)}` keeps the value with its graph."
                yield self.fault(
                    symptom,
                    [for_symptom(symptom, FAIR + WEAK), Evidence(told, STRONG)],
                    site=line,
                    reason="Each kept value holds the graph of its step, so memory grows with the number of steps.",
                    remedy="Compute it inside `with torch.no_grad():`, and keep the number: `.item()`.",
                    refutation="The values are backpropagated together later on purpose.",
                )
        for symptom in case.of("D701"):
            text = str(symptom.detail["exception"])
            if "out of memory" in text and case.has("D219", "D221"):
                kept = case.of("D219", "D221")[0]
                yield fault(
                    self.code,
                    [for_symptom(symptom, PROVEN), for_symptom(kept, FAIR)],
                    component=kept.component,
                    site=keeping(case.sources, kept.site) or kept.site,
                    summary=f"{symptom.message} {kept.message}",
                    reason="The graphs of earlier steps fill up the memory.",
                    remedy="Keep numbers instead of tensors (`loss.item()`), and detach hidden states between steps.",
                    refutation="The very first step already runs out of memory.",
                    related=[symptom.site],
                )

    FAULTY = GraphsKeptDetector.FAULTY


_SECOND = re.compile(r"backward through the graph a second time")
_CHANGED = re.compile(r"modified by an inplace operation")


class StateCarried(Cause, code="LOOP-DETACH"):
    """A state is carried from one step to the next together with its graph.

    The graph then grows with every step, or PyTorch refuses to go through the part that it has freed already.
    Detach the state between steps: `hidden = hidden.detach()`.
    """

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D221"):
            evidence = [for_symptom(symptom, STRONG + FAIR)]
            if retains_graph(case.sources, symptom.site):
                evidence.append(Evidence("The graph is kept with `retain_graph=True`.", FAIR))
            elif symptom.site is not None and case.sources.line(symptom.site):
                message = "The graph is freed after each step, so nothing goes through it again."
                evidence.append(Evidence(message, -STRONG))
            yield self._fault(case, symptom, evidence, ("D219", "D501", "D503", "D508"))
        if not case.has("D221"):
            yield from self._within_a_step(case)
        for symptom in case.of("D701"):
            text = str(symptom.detail["exception"])
            if _SECOND.search(text) and case.trace.run.steps and not _twice(case, symptom.site):
                yield self._fault(case, symptom, [for_symptom(symptom, PROVEN)], ANY)
            elif _CHANGED.search(text) and retains_graph(case.sources, symptom.site):
                evidence = [
                    for_symptom(symptom, STRONG),
                    Evidence("The graph is kept with `retain_graph=True`.", STRONG),
                ]
                yield self._fault(case, symptom, evidence, ANY)

    def _within_a_step(self, case: Case) -> Iterator[Fault]:
        """Several backward passes before one step, each through all parts before it: the state is handed on with its graph."""
        several = [
            p for p in stepping(case.trace) if any(c.what == "backward" and c.times >= 3 for c in p.calls)
        ]
        pattern = next(iter(several), None)
        backward = (
            next((c for c in pattern.calls if c.what == "backward"), None) if pattern is not None else None
        )
        forward = (
            next((c for c in pattern.calls if c.what == "forward"), None) if pattern is not None else None
        )
        if backward is None or forward is None or not retains_graph(case.sources, backward.site):
            return
        state = handed_on_state(case.sources, forward.site)
        if state is None:
            return
        message = (
            f"`{state}` goes from one call of the model to the next with its graph, which `retain_graph=True` keeps: each of "
            f"{backward.times} backward passes per step goes through all parts before it again."
        )
        symptom = Symptom("", message, forward.component, None, site=backward.site)
        yield self._fault(case, symptom, [Evidence(message, STRONG + STRONG)], ("D508",))

    def _fault(
        self, case: Case, symptom: Symptom, evidence: list[Evidence], explains: tuple[str, ...]
    ) -> Fault:
        forward = next((c.site for _, c in calls(case.trace, "forward") if c.detail == "train, grad"), None)
        return self.fault(
            symptom,
            evidence,
            component=symptom.component or "training loop",
            site=forward or symptom.site,
            reason="The state carried from step to step keeps the graphs of all earlier steps alive.",
            remedy="Detach the state from the previous step, for example `hidden = hidden.detach()`.",
            refutation="The graph spans several steps on purpose.",
            related=[symptom.site],
            explains=explains,
        )

    FAULTY = (
        *CarriedState.FAULTY,
        Run(
            "the freed graph is needed again",
            lambda: crashed(
                "RuntimeError: Trying to backward through the graph a second time (or …)", steps=1, line=21
            ),
        ),
    )


def _twice(case: Case, site: Site | None) -> bool:
    """Whether the last, unfinished step had called backward() before."""
    last = next((p for p in reversed(case.trace.patterns) if p.calls and p.calls[-1].what == "end"), None)
    return last is not None and sum(call.times for call in last.calls if call.what == "backward") > 1


@accuses("TRN-GRAD", GradientWrong)
def custom_gradient_wrong(case: Case, symptom: Symptom) -> Accusation:
    """The backward of a custom autograd.Function does not return the gradient of its forward.

    Layers before the function follow a direction that has little to do with the loss.
    Correct backward(), and let `torch.autograd.gradcheck` confirm it on a small input in double precision.
    """
    line = case.sources.line(symptom.site) if symptom.site is not None else ""
    quoted = f"`{line}`" if line else "What backward() returns"
    return Accusation(
        PROVEN + 1.5,
        reason="Everything before this function is trained with a wrong gradient.",
        remedy=f"Correct {quoted}{_hint(symptom)} `torch.autograd.gradcheck` shows when it is right.",
        refutation="The backward deliberately differs from the true gradient.",
        explains=(*ANY, "D215", "D605"),
    )


def _hint(symptom: Symptom) -> str:
    """What a plain factor between the two gradients gives away."""
    ratio, error = symptom.detail.get("ratio"), symptom.observed
    if not ratio or error is None or abs(error - abs(ratio - 1)) > 0.02:
        return "."
    if abs(ratio + 1) < 0.02:
        return ": its sign is wrong."
    return f": it returns about {ratio:.2g} times the gradient."
