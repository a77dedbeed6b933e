"""M415."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.network.model_layers import united
from netmend.mutate.examples import LOG_PROBABILITIES, STACK
from netmend.mutate.magnitude import Knob, Scale, knob
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.mutate.places import is_written
from netmend.program.source.values import set_argument
from netmend.repair.repair import Case, Example
from netmend.vocabulary import ModuleFact
from netmend.vocabulary.change import FileEdits


@register
@dataclass(frozen=True)
class NormStatisticsSlow:
    """Make batch norm's running statistics hardly follow the data.

    Training looks fine; in evaluation the network is given numbers of a scale that it has never seen.
    """

    code: ClassVar[str] = "M415"
    causes: ClassVar[tuple[str, ...]] = ("LYR-NORM-STATS",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ()

    values: tuple[float, ...] = (0.001, 0.0001)

    def propose(self, case: Case) -> Iterator[Mutation]:
        norms = _norms(case)
        for index, value in enumerate(self.values, 1):
            text = f"{value:.4f}".rstrip("0")
            edits = _followed(case, norms, text)
            yield from mutation(
                self,
                f"batch norm with momentum {text}",
                edits,
                grade=index / len(self.values),
                parameter=text,
            )

    def knobs(self, case: Case) -> Iterator[Knob]:
        """Momentum of batch norm's statistics, from 0.1 down to 1e-6."""
        norms = _norms(case)
        if norms:
            yield from knob(
                self,
                "slower statistics of batch norm",
                Scale(0.1, 1e-6, 3.0, logarithmic=True),
                lambda value: _followed(case, norms, f"{value:.2g}"),
                told="batch norm with momentum {}",
            )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("the default", STACK, old="nn.BatchNorm1d(8)", new="nn.BatchNorm1d(8, momentum=0.001)"),
        Example("no running statistics", LOG_PROBABILITIES),
    )


def _norms(case: Case) -> list[ModuleFact]:
    return [
        m
        for m in case.trace.all(ModuleFact)
        if m.kind.startswith("BatchNorm") and m.order is not None and is_written(case, m)
    ]


def _followed(case: Case, norms: list[ModuleFact], momentum: str) -> FileEdits:
    faces = [set_argument(case.code, norm.created, "momentum", momentum, 2, case.arguments) for norm in norms]
    return united(face.edits for face in faces) if all(faces) else ()
