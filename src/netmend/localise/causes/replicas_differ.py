"""GPU-PARALLEL."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.diagnose.detectors import replica_desync
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, fault, for_symptom, register
from netmend.unit import Run
from netmend.vocabulary import Fault


@register
@dataclass(frozen=True)
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
                site=symptom.site,
                summary=symptom.message,
                reason="Each process trains a model of its own on a part of the data.",
                remedy="Wrap the model in `DistributedDataParallel`, and call the wrapper in the training loop.",
                refutation="Models that are meant to differ, as in ensembles or federated training.",
            )

    FAULTY: ClassVar[tuple[Run, ...]] = replica_desync.ReplicaDesync.FAULTY
