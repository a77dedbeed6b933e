"""M415."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.mutate.examples import LOG_PROBABILITIES, STACK
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.mutate.places import is_written
from netmend.repair.network.model_layers import united
from netmend.repair.repair import Case, Example
from netmend.repair.source.values import set_argument
from netmend.vocabulary import ModuleFact


@register
@dataclass(frozen=True)
class NormStatisticsSlow:
    """Let batch norm's running statistics hardly follow the data.

    Training looks fine; in evaluation the network is given numbers of a scale that it has never seen.
    """

    code: ClassVar[str] = "M415"
    causes: ClassVar[tuple[str, ...]] = ("LYR-NORM-STATS",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False

    values: tuple[float, ...] = (0.001, 0.0001)

    def propose(self, case: Case) -> Iterator[Mutation]:
        norms = [
            m
            for m in case.trace.all(ModuleFact)
            if m.kind.startswith("BatchNorm") and m.order is not None and is_written(case, m)
        ]
        for index, value in enumerate(self.values, 1):
            text = f"{value:.4f}".rstrip("0")
            faces = [
                set_argument(case.code, norm.created, "momentum", text, 2, case.arguments) for norm in norms
            ]
            edits = united(face.edits for face in faces) if all(faces) else ()
            yield from mutation(
                self,
                f"batch norm with momentum {text}",
                edits,
                grade=index / len(self.values),
                parameter=text,
            )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("the default", STACK, old="nn.BatchNorm1d(8)", new="nn.BatchNorm1d(8, momentum=0.001)"),
        Example("no running statistics", LOG_PROBABILITIES),
    )
