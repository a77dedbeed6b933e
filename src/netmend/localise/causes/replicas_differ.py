"""GPU-PARALLEL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.processes import ReplicaDesync
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, fault, for_symptom, register
from netmend.unit import Run
from netmend.vocabulary import Fault, Site


@register
class ReplicasDiffer:
    """The processes of a distributed run train different models.

    Without averaged gradients each process learns from its own share of the data only.
    Wrap the model in DistributedDataParallel and call the wrapper, not the model inside it.
    """

    code: ClassVar[str] = "GPU-PARALLEL"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D223"):
            yield fault(
                self.code,
                [for_symptom(symptom, PROVEN)],
                component=symptom.component,
                site=symptom.site or _raw_call(case, symptom.component),
                summary=symptom.message,
                reason="Each process trains its own model on a part of the data.",
                remedy="Wrap the model in `DistributedDataParallel`, and call the wrapper in the training loop.",
                refutation="The models differ on purpose, as in ensembles or federated training.",
            )

    FAULTY: ClassVar[tuple[Run, ...]] = ReplicaDesync.FAULTY


def _raw_call(case: Case, parameter: str) -> Site | None:
    """Where the model that owns a parameter is called: without its wrapper, if it has none."""
    owners = [model for model in case.trace.models if parameter.startswith(f"{model.name}.")]
    bare = next((model for model in owners if model.wrapper is None), None)
    return bare.called or bare.created if bare is not None else None
