"""N103."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.loop.batch_places import loader_of, set_batch_size
from netmend.diagnose.measures.batches import batch_size, training_samples
from netmend.neutral.move import moved, register
from netmend.repair.repair import Case, Example
from netmend.vocabulary.change import SHORT_SEARCH, Change


@register
@dataclass(frozen=True)
class OtherBatchSize:
    """Batches of 16, 32, … 512 samples.

    The nearest sizes first, and none larger than all samples.
    """

    code: ClassVar[str] = "N103"
    causes: ClassVar[tuple[str, ...]] = ("HYP-BATCH-SMALL", "HYP-BATCH-LARGE")
    effort: ClassVar[int] = SHORT_SEARCH

    least: int = 16
    most: int = 512

    def propose(self, case: Case) -> Iterator[Change]:
        loader = loader_of(case)
        present = (None if loader is None else loader.batch_size) or batch_size(case.trace)
        if present is None:
            return
        samples = training_samples(case.trace)
        sizes = [
            size
            for size in (16, 32, 64, 128, 256, 512)
            if size != present
            and self.least <= size <= self.most
            and (size < present or samples is None or size <= samples)
        ]
        for size in sorted(sizes, key=lambda size: abs(math.log2(size / present))):
            cause = "HYP-BATCH-SMALL" if size > present else "HYP-BATCH-LARGE"
            # Where steps are counted, other batches make no other number of them; where epochs are, they do.
            cost = max(1.0, present / size)
            yield from moved(
                self,
                cause,
                f"batches of {present} → {size}",
                set_batch_size(case, size),
                knob="batch size",
                cost=cost,
            )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "a loader, and no larger than all samples",
            before="""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
loader = DataLoader(TensorDataset(torch.randn(80, 3), torch.randn(80, 1)), batch_size=40, shuffle=True)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for x, y in loader:
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
""",
            old="batch_size=40",
            new="batch_size=16",
            nth=2,
        ),
        Example(
            "all samples at once: nothing is cut",
            before="""
import torch
from torch import nn
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(60, 3), torch.randn(60, 1)
for epoch in range(3):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
""",
        ),
    )
