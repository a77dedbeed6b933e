"""D604 ModelIsAffine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.probe_examples import probed
from netmend.unit import Run, threshold
from netmend.vocabulary import FunctionFact, ModuleFact, Symptom, Trace


@register
class ModelIsAffine:
    """The model has several weight layers, but as a whole it is an affine function of its input.

    Half-way between two inputs the output was exactly half-way between theirs, for every pair that was tried: all its layers together
    can do no more than a single one.
    Usual cause: no activation function between the layers.
    """

    code: ClassVar[str] = "D604"

    curvature_limit: float = threshold(
        1e-4, "exact", "of the distance between outputs: single-precision rounding leaves about 1e-6"
    )
    least_layers: int = threshold(2, "exact", "one weight layer is affine by nature")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        bent = {fact.model for fact in trace.all(FunctionFact) if fact.kind == "activation"}
        bent |= {fact.model for fact in trace.all(ModuleFact) if fact.activation and fact.order is not None}
        for probe in trace.probes("affine"):
            curvature, layers = float(probe.values["curvature"]), int(probe.values["weight_layers"])
            if curvature > self.curvature_limit or layers < self.least_layers or probe.component in bent:
                continue
            yield Symptom(
                self.code,
                f"{probe.component} has {layers} weight layers, yet its output is a linear function of its input.",
                component=probe.component,
                first_step=probe.step,
                observed=curvature,
                limit=self.curvature_limit,
                site=probe.site,
                detail=dict(probe.values),
            )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("slightly bent", lambda: probed("affine", {"curvature": 2e-4, "weight_layers": 3})),
        Run("linear regression", lambda: probed("affine", {"curvature": 1e-7, "weight_layers": 1})),
        Run(
            "all units happen to be active",
            lambda: probed(
                "affine",
                {"curvature": 1e-7, "weight_layers": 2},
                ModuleFact("model.1", "ReLU", "model", activation="relu", order=1),
            ),
        ),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("three linear layers", lambda: probed("affine", {"curvature": 3e-7, "weight_layers": 3})),
    )
