"""TRN-MEM."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.graphs import GraphsKept as GraphsKeptDetector
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, WEAK, fault, for_symptom, register
from netmend.localise.lines.blocks import retains_graph
from netmend.localise.lines.values import collecting, keeping, kept_call
from netmend.unit import Run
from netmend.vocabulary import Evidence, Fault


@register
class GraphsKept:
    """Memory fills up with the graphs of earlier steps.

    A loss that is added up or collected as a tensor keeps its whole graph alive.
    Collect numbers: loss.item(), or loss.detach() where the device should not be waited for.
    """

    code: ClassVar[str] = "TRN-MEM"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D219"):
            evidence = [for_symptom(symptom, STRONG + FAIR if symptom.detail["never"] else STRONG)]
            line = keeping(case.sources, symptom.site)
            if line is not None:
                evidence.append(
                    Evidence(f"`{case.sources.line(line)}` keeps the loss with its graph.", FAIR + WEAK)
                )
            yield fault(
                self.code,
                evidence,
                component=symptom.component,
                site=line or symptom.site,
                summary=symptom.message,
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
                yield fault(
                    self.code,
                    [for_symptom(symptom, STRONG), Evidence(told, STRONG)],
                    component=symptom.component,
                    site=line,
                    summary=symptom.message,
                    reason="Each kept tensor holds the graph of its step, so memory grows with the number of steps.",
                    remedy="Keep what is needed without its graph: `.detach()`.",
                    refutation="The tensors are backpropagated together later on purpose.",
                    related=[symptom.site],
                )
        for symptom in case.of("D224"):
            line = kept_call(case.sources, symptom.site)
            if line is not None:
                told = f"`{case.sources.line(line)}` keeps the value with its graph."
                yield fault(
                    self.code,
                    [for_symptom(symptom, FAIR + WEAK), Evidence(told, STRONG)],
                    component=symptom.component,
                    site=line,
                    summary=symptom.message,
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

    FAULTY: ClassVar[tuple[Run, ...]] = GraphsKeptDetector.FAULTY
