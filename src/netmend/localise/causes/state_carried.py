"""LOOP-DETACH."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.graphs import CarriedState
from netmend.diagnose.measures.loop import calls, stepping
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, fault, for_symptom, register
from netmend.localise.effects import ANY
from netmend.localise.lines.blocks import handed_on_state, retains_graph
from netmend.unit import Run
from netmend.vocabulary import Evidence, Fault, RunFact, Site, Symptom, Trace

_SECOND = re.compile(r"backward through the graph a second time")
_CHANGED = re.compile(r"modified by an inplace operation")


@register
class StateCarried:
    """A state is carried from one step to the next together with its graph.

    The graph then grows with every step, or PyTorch refuses to go through the part that it has freed already.
    Detach the state between steps: `hidden = hidden.detach()`.
    """

    code: ClassVar[str] = "LOOP-DETACH"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D221"):
            evidence = [for_symptom(symptom, STRONG + FAIR)]
            if retains_graph(case.sources, symptom.site):
                evidence.append(Evidence("The graph is kept with `retain_graph=True`.", FAIR))
            elif symptom.site is not None and case.sources.line(symptom.site):
                evidence.append(
                    Evidence("The graph is freed after each step, so nothing goes through it again.", -STRONG)
                )
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
        return fault(
            self.code,
            evidence,
            component=symptom.component or "training loop",
            site=forward or symptom.site,
            summary=symptom.message,
            reason="The state carried from step to step keeps the graphs of all earlier steps alive.",
            remedy="Detach the state from the previous step, for example `hidden = hidden.detach()`.",
            refutation="The graph spans several steps on purpose.",
            related=[symptom.site],
            explains=explains,
        )

    FAULTY: ClassVar[tuple[Run, ...]] = (
        *CarriedState.FAULTY,
        Run(
            "the freed graph is needed again",
            lambda: Trace(
                facts={
                    "run": {
                        "example": RunFact(
                            "example",
                            "train.py",
                            steps=1,
                            status="failed",
                            exception="RuntimeError: Trying to backward through the graph a second time (or …)",
                            exception_site=Site("train.py", 21),
                        )
                    }
                }
            ),
        ),
    )


def _twice(case: Case, site: Site | None) -> bool:
    """Whether the last, unfinished step had called backward() before."""
    last = next((p for p in reversed(case.trace.patterns) if p.calls and p.calls[-1].what == "end"), None)
    return last is not None and sum(call.times for call in last.calls if call.what == "backward") > 1
