"""D118 HiddenActivationMissing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.detectors.model_is_affine import ModelIsAffine
from netmend.diagnose.measures.chain import Link, linear_pairs
from netmend.diagnose.measures.net_examples import net_run
from netmend.unit import Run
from netmend.vocabulary import ProbeFact, Symptom, Trace


@register
class HiddenActivationMissing:
    """Two linear layers follow one another with no non-linearity between them.

    Together they can do no more than one linear layer: width and depth are paid for without effect, and a network made of
    such layers alone is only linear regression.
    Usual causes: the activation was forgotten, or defined in __init__ and never called in forward.
    A narrow middle (a low-rank factorisation, LoRA) is done on purpose, and so are depthwise and separable convolutions.
    """

    code: ClassVar[str] = "D118"

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        affine = {symptom.component for symptom in ModelIsAffine().examine(trace)}
        for first, second, certain in linear_pairs(trace):
            whole = first.model in affine
            if on_purpose(first, second) or not (certain or whole):
                continue
            known = "; the model's output is a linear function of its input" if whole else ""
            yield Symptom(
                self.code,
                f"Layer {second.name} follows {first.name} with no nonlinearity in between{known}.",
                component=first.name,
                site=first.site,
                detail={"second": second.name, "affine": whole},
            )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("an activation between all layers", lambda: net_run()),
        Run("one linear layer", lambda: net_run("Linear(10,4)")),
        Run("a low-rank factorisation", lambda: net_run("Linear(64,4) Linear(4,64) ReLU Linear(64,3)")),
        Run("an activation after dropout", lambda: net_run("Linear(10,64) Dropout(0.5) ReLU Linear(64,4)")),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("no activation at all", lambda: net_run("Linear(10,64) Linear(64,64) Linear(64,4)")),
        Run(
            "only dropout between",
            lambda: net_run("Linear(10,64) ReLU Linear(64,64) Dropout(0.2) Linear(64,4)"),
        ),
        Run(
            "the probe says so too",
            lambda: net_run(
                "Linear(10,64) Linear(64,4)",
                facts=[
                    ProbeFact(
                        "affine@model", "affine", "model", values={"curvature": 1e-7, "weight_layers": 2}
                    )
                ],
            ),
        ),
    )


def on_purpose(first: Link, second: Link) -> bool:
    """A middle narrower than both ends limits the rank, which one layer alone cannot; convolutions may be split up to save work."""
    one, two = first.module, second.module
    if one is None or two is None:
        return True
    inside = one.settings.get("in_features") or one.settings.get("in_channels") or 0
    outside = two.settings.get("out_features") or two.settings.get("out_channels") or 0
    middle = one.settings.get("out_features") or one.settings.get("out_channels") or 0
    grouped = max(int(module.settings.get("groups") or 1) for module in (one, two)) > 1
    kernels = [module.settings.get("kernel_size") for module in (one, two)]
    separable = all(isinstance(kernel, list | tuple) and len(set(kernel)) > 1 for kernel in kernels)
    return 0 < middle < min(inside, outside) or grouped or separable
