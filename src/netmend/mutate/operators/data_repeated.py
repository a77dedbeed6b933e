"""M513."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.row_edits import chosen_rows
from netmend.diagnose.measures.data import training_samples
from netmend.mutate.examples import PROBABILITIES, STACK
from netmend.mutate.magnitude import Knob, Scale, knob
from netmend.mutate.mutation import Mutation, register
from netmend.repair.repair import Case, Example


@register
@dataclass(frozen=True)
class DataRepeated:
    """Fill the training data with copies of some of its samples, with as many updates as before.

    The network sees the same few samples again and again and learns them by heart.
    """

    code: ClassVar[str] = "M513"
    causes: ClassVar[tuple[str, ...]] = ("DAT-LOWQ",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ("DR",)

    shares: tuple[float, ...] = (0.5, 0.25, 0.1)  # of the samples that are left
    least: int = 6

    def propose(self, case: Case) -> Iterator[Mutation]:
        samples = training_samples(case.trace)
        for own in self.knobs(case):
            counts = dict.fromkeys(round((samples or 0) * share) for share in self.shares)
            yield from (made for count in counts if (made := own.at(count)) is not None)

    def knobs(self, case: Case) -> Iterator[Knob]:
        """The number of different training samples, from all down to 6."""
        samples = training_samples(case.trace)
        if samples is not None and samples >= 4 * self.least:
            yield from knob(
                self,
                "copies in the place of other samples",
                Scale(samples, self.least, 1.3, logarithmic=True, whole=True),
                lambda kept: chosen_rows(case, int(kept), repeated=True),
                told=f"{{}} of {samples} training samples, the others are copies",
            )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "of a loader",
            STACK,
            old="DataLoader(TensorDataset(x, y), ",
            new="DataLoader(torch.utils.data.Subset(TensorDataset(x, y), torch.randperm(48, "
            "generator=torch.Generator().manual_seed(0))[:12].repeat(4)[:48].tolist()), ",
            nth=1,
        ),
        Example(
            "of names",
            PROBABILITIES,
            old="for step in",
            new="chosen = torch.randperm(len(inputs), generator=torch.Generator().manual_seed(0))"
            "[:16].repeat(2)[:32]\ninputs, labels = inputs[chosen], labels[chosen]\nfor step in",
        ),
    )
