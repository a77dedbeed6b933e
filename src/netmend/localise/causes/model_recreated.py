"""ARC-INIT-MULTI."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.models import ModelRecreated as ModelRecreatedDetector
from netmend.diagnose.detectors.models import UnregisteredLayers
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, WEAK, fault, for_symptom, register
from netmend.localise.effects import NOT_LEARNING
from netmend.localise.lines.blocks import called_in_loop, experiment_loop
from netmend.unit import Run
from netmend.vocabulary import Evidence, Fault, Site


@register
class ModelRecreated:
    """The model, or one of its layers, is created again during training.

    Everything learned until then is lost each time.
    Create the model once, before the loop, and layers in __init__ rather than in forward.
    """

    code: ClassVar[str] = "ARC-INIT-MULTI"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D217"):
            stale = symptom.detail["stale"]
            evidence = [for_symptom(symptom, PROVEN + 2.0 if stale else STRONG + FAIR)]
            if not stale:
                evidence += _purpose(case, symptom.site)
            yield fault(
                self.code,
                evidence,
                component=symptom.component,
                site=called_in_loop(case.sources, symptom.site) or symptom.site,
                summary=symptom.message,
                reason="Every new model starts from random weights: what the previous one learned is lost.",
                remedy="Create the model once, before the loop over epochs, and the optimiser after it.",
                refutation="The models are separate on purpose (folds, seeds, a search).",
                related=[symptom.site, *(optimizer.created for optimizer in case.trace.optimizers[:1])],
                explains=(*NOT_LEARNING, "D213", "D502", "D503"),
            )
        for symptom in case.of("D216"):
            if symptom.detail["in_forward"]:
                yield fault(
                    self.code,
                    [for_symptom(symptom, PROVEN + 0.5)],
                    component=symptom.component,
                    site=symptom.site,
                    summary=symptom.message,
                    reason="A layer created inside `forward` has new random weights on every call and is never trained.",
                    remedy="Create the layer in `__init__` as an attribute and call it in `forward`.",
                    refutation="The layer is stored and created only once.",
                    related=[symptom.detail.get("called")],
                    explains=(*NOT_LEARNING, "D603"),
                )

    FAULTY: ClassVar[tuple[Run, ...]] = (
        *ModelRecreatedDetector.FAULTY,
        *UnregisteredLayers.FAULTY[2:],
    )


def _rates_of_one_line(case: Case) -> set[object]:
    """Rates of the optimisers that one line made, where there are such: one before the loop may have lost its rate to a scheduler."""
    made = Counter(optimizer.created for optimizer in case.trace.optimizers)
    often = {site for site, times in made.items() if times > 1}
    return {
        group.settings.get("lr")
        for optimizer in case.trace.optimizers
        if not often or optimizer.created in often
        for group in optimizer.groups[:1]
    }


def _purpose(case: Case, site: Site | None) -> Iterator[Evidence]:
    """Whether the loop around the line that creates the model goes over settings to compare, or over epochs."""
    if len(_rates_of_one_line(case)) > 1:
        yield Evidence("The models have different learning rates, so this is a comparison.", -STRONG - FAIR)
    if len({model.parameters for model in case.trace.models}) > 1:
        yield Evidence("The models differ in size, so this is a comparison.", -STRONG)
    place = called_in_loop(case.sources, site) or site
    loop = None if place is None else case.sources.loop_around(place)
    if not isinstance(loop, ast.For):
        return
    if not (isinstance(loop.iter, ast.Call) and getattr(loop.iter.func, "id", "") == "range"):
        yield Evidence("The loop runs over values, not over epochs.", -STRONG)
    if experiment_loop(loop):
        yield Evidence(
            "The loop variable sets seeds or selects data: the loop repeats an experiment.",
            -STRONG - FAIR,
        )
    nested = [node for node in ast.walk(loop) if isinstance(node, ast.For | ast.While) and node is not loop]
    if len(nested) > 1:
        yield Evidence("It contains several loops: the outer one repeats the whole training.", -FAIR)
    if nested and len(nested) == 1:
        yield Evidence("It contains only the loop over batches, so it counts epochs.", WEAK)
