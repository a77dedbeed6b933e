"""R408."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from netmend.changes.case import Case
from netmend.changes.loop.batch_places import loader_of, set_batch_size
from netmend.changes.loop.epoch_loop import more_rounds
from netmend.diagnose.measures.batches import batch_size, training_samples
from netmend.program.source.values import Faces
from netmend.repair.repair import change, register
from netmend.testing.example import Example, example
from netmend.vocabulary.change import SHORT_SEARCH, Change

_example = partial(
    example,
    model="nn.Linear(3, 1)",
    optimizer="torch.optim.SGD(model.parameters(), lr=0.01)",
    backward="nn.functional.mse_loss(model(x), y)",
)


@register
@dataclass(frozen=True)
class BatchSize:
    """Cut batches of a usual size.

    Batches of one or two samples give noise, above all to batch normalisation; batches of nearly all samples leave hardly any
    updates. Sizes between 16 and 256 are tried, so that an epoch has some hundred updates where there are enough samples.
    """

    code: ClassVar[str] = "R408"
    cures: ClassVar[tuple[str, ...]] = ("HYP-BATCH-SMALL", "HYP-BATCH-LARGE", "HYP-BATCH-NONE")
    effort: ClassVar[int] = SHORT_SEARCH
    explores: ClassVar[bool] = False

    updates: int = 100  # in an epoch, about
    least_updates: int = 400  # in a run: with fewer of them, larger batches cost more than they give

    def propose(self, case: Case) -> Iterator[Change]:
        loader = loader_of(case)
        present = (None if loader is None else loader.batch_size) or batch_size(case.trace)
        if present is None:
            return
        for size in self._sizes(case, present):
            cost = 1.0 if size > present else min(3.0, math.sqrt(present / size))
            title, faces = f"batches of {present} → {size}", set_batch_size(case, size)
            more, longer = self._as_many_updates(case, present, size)
            if faces and longer and None in (faces.arguments, longer.arguments):
                title, cost = f"{title}; {more}", size / present
                faces = Faces(
                    (*faces.edits, *longer.edits),
                    (*(faces.forced or faces.edits), *(longer.forced or longer.edits)),
                    longer.arguments if faces.arguments is None else faces.arguments,
                )
            yield from change(self, case, title, faces, knob="batch size", cost=cost)

    def _as_many_updates(self, case: Case, present: int, size: int) -> tuple[str, Faces]:
        """More rounds where larger batches leave hardly any updates."""
        left = case.trace.run.steps * present / size
        if size <= present or not left or left >= self.least_updates:
            return "", Faces()
        return more_rounds(case, min(size / present, self.least_updates / left))

    def _sizes(self, case: Case, present: int) -> list[int]:
        samples = training_samples(case.trace)
        if case.cause == "HYP-BATCH-SMALL":
            # Fewer updates are made with larger batches: both ends of what is usual.
            steps = case.trace.run.steps
            wanted = (32, 8) if steps * present >= 32 * self.least_updates else (8, 32)
            return [size for size in wanted if size > present and (samples is None or size <= samples // 4)]
        usual = 32 if samples is None else 2 ** round(math.log2(max(1.0, samples / self.updates)))
        first = min(max(usual, 16), 256)
        return [size for size in (first, 4 * first) if size < present]

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        _example(
            "a loader with batches of two",
            data="""
                BATCH = ⟨2 → 8⟩
                data = TensorDataset(torch.randn(200, 3), torch.randn(200, 1))
                loader = ⟨DataLoader(data, batch_size=BATCH, shuffle=True)⟩""",
            loop="for x, y in loader",
        ),
        _example(
            "no size is given",
            data="loader = DataLoader(TensorDataset(torch.randn(150, 3), torch.randn(150, 1)), shuffle=⟨True → True, batch_size=8⟩)",
            loop="for x, y in loader",
        ),
        _example(
            "a run so long that larger batches leave enough updates",
            data="BATCH = ⟨2 → 32⟩\nx, y = torch.randn(200, 3), torch.randn(200, 1)",
            epochs="for epoch in range(65)",
            loop="⟨for i in range(0, len(x), BATCH)⟩",
            backward="nn.functional.mse_loss(model(x[i:i + BATCH]), y[i:i + BATCH])",
        ),
        _example(
            "slices in a generator",
            data="""
                def batches(x, y, size):
                    order = torch.randperm(len(x))
                    for start in range(0, len(x), size):
                        chosen = order[start:start + size]
                        yield x[chosen], y[chosen]""",
            setup="inputs, targets = torch.randn(1000, 3), torch.randn(1000, 1)",
            epochs="for epoch in range(3)",
            loop="for x, y in batches(inputs, targets, ⟨500 → 16⟩)",
            cause="HYP-BATCH-LARGE",
        ),
        _example(
            "a number that is written twice",
            setup="inputs, targets = torch.randn(60, 3), torch.randn(60, 1)",
            epochs="for epoch in range(⟨3 → 24⟩)",
            loop="for i in range(0, 60, ⟨1 → 8⟩)",
            backward="",
            step="""
                optimizer.zero_grad()
                nn.functional.mse_loss⟨(model(inputs[i:i + 1]), targets[i:i + 1]).backward() → (model(inputs[i:i + 8]), targets[i:i + 8]).backward()⟩
                optimizer.step()""",
            mark="for i in",
        ),
        _example(
            "all samples at once: nothing to be set here",
            setup="inputs, targets = torch.randn(600, 3), torch.randn(600, 1)",
            loop="⟨for epoch in range(5)⟩",
            backward="nn.functional.mse_loss(model(inputs), targets)",
            cause="HYP-BATCH-NONE",
        ),
    )
