"""ARC-INIT-MODEL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.models import UnregisteredLayers
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, fault, for_symptom, register
from netmend.localise.effects import ANY, NOT_LEARNING
from netmend.localise.lines.blocks import attribute_line, plain_containers
from netmend.unit import Run
from netmend.vocabulary import Evidence, Fault, RunFact, Site, Trace


@register
class LayersNotRegistered:
    """Layers are kept where the model does not see them, such as a plain Python list.

    parameters(), to(), state_dict() and train() pass such layers over, so they are never trained.
    Use nn.ModuleList or nn.ModuleDict, or assign each layer to an attribute of the module.
    """

    code: ClassVar[str] = "ARC-INIT-MODEL"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D216"):
            if symptom.detail["in_forward"]:
                continue
            detail = symptom.detail
            single = "attribute" in detail
            evidence = [for_symptom(symptom, PROVEN)]
            if symptom.detail["loaded"]:
                evidence.append(Evidence("A checkpoint was loaded: they may be hidden on purpose.", -PROVEN))
            yield fault(
                self.code,
                evidence,
                component=str(symptom.detail["model"]),
                site=symptom.site or attribute_line(case.sources, case.trace.run.script, detail),
                summary=symptom.message,
                reason="A tensor that is no registered parameter is invisible to `parameters()`, so it is never trained."
                if single
                else "Layers in a plain container are invisible to `parameters()`, so they are never trained.",
                remedy="Make it an `nn.Parameter`, or put several into an `nn.ParameterList`."
                if single
                else "Wrap the container in `nn.ModuleList` or `nn.ModuleDict`.",
                refutation="The network is fixed and kept out of `parameters()` on purpose.",
                related=[symptom.detail.get("called")],
                explains=(*NOT_LEARNING, "D213", "D226"),
            )
        for symptom in case.of("D701"):
            if "optimizer got an empty parameter list" not in str(symptom.detail["exception"]):
                continue
            place = next(plain_containers(case.sources, case.trace.run.script), None)
            yield fault(
                self.code,
                [for_symptom(symptom, PROVEN)],
                component="optimizer",
                site=place or symptom.site,
                summary=symptom.message,
                reason="`parameters()` only finds layers that are module attributes or in an `nn.ModuleList`.",
                remedy="Wrap the container in `nn.ModuleList`."
                if place is not None
                else "Assign the layers to attributes of the module in `__init__`.",
                refutation="The model is meant to have no parameters.",
                related=[symptom.site],
                explains=ANY,
            )

    FAULTY: ClassVar[tuple[Run, ...]] = (
        *UnregisteredLayers.FAULTY[:2],
        Run(
            "the optimiser finds nothing",
            lambda: Trace(
                facts={
                    "run": {
                        "example": RunFact(
                            "example",
                            "train.py",
                            status="failed",
                            exception="ValueError: optimizer got an empty parameter list",
                            exception_site=Site("train.py", 8),
                        )
                    }
                }
            ),
        ),
    )
