"""M103."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.loop.batch_places import set_batch_size
from netmend.diagnose.measures.data import batch_size, training_samples
from netmend.mutate.examples import FUNCTIONS, STACK
from netmend.mutate.magnitude import Knob, Scale, knob
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.repair.repair import Case, Example


@register
@dataclass(frozen=True)
class BatchSizeChanged:
    """Train with batches that are far too small or far too large, or with all data at once.

    Tiny batches make gradients and the statistics of batch norm noisy; huge ones leave too few updates for the same
    number of epochs.
    """

    code: ClassVar[str] = "M103"
    causes: ClassVar[tuple[str, ...]] = ("HYP-BATCH-SMALL", "HYP-BATCH-LARGE", "HYP-BATCH-NONE")
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ("HBS", "HDB")

    most_steps: int = 12_000  # of a run with tiny batches: more would take too long
    precision: float = 1.3  # ratio of two sizes that are told apart

    def propose(self, case: Case) -> Iterator[Mutation]:
        present, samples = batch_size(case.trace), training_samples(case.trace)
        if not present:
            return
        for index, size in enumerate((2, 1), 1):
            if size * 4 <= present and case.trace.run.steps * present / size <= self.most_steps:
                yield from self._sized(case, present, size, "HYP-BATCH-SMALL", index / 2)
        if samples is None or samples < 4 * present:
            return
        if samples >= 16 * present:
            yield from self._sized(case, present, present * 8, "HYP-BATCH-LARGE", 0.6)
        yield from self._sized(case, present, samples, "HYP-BATCH-NONE", 1.0)

    def _sized(self, case: Case, old: int, new: int, cause: str, grade: float) -> Iterator[Mutation]:
        edits = set_batch_size(case, new)
        yield from mutation(
            self, f"batches of {old} → {new}", edits, cause=cause, grade=grade, parameter=f"batch {new}"
        )

    def knobs(self, case: Case) -> Iterator[Knob]:
        """Samples in a batch: from the program's own number down towards 1, and up to all samples."""
        present, samples = batch_size(case.trace), training_samples(case.trace)
        least = 1 if not present else max(1, -(-case.trace.run.steps * present // self.most_steps))
        for cause, title, extreme in (
            ("HYP-BATCH-SMALL", "smaller batches", least),
            ("HYP-BATCH-LARGE", "larger batches", samples or 0),
        ):
            if (
                present
                and extreme
                and (extreme < present) == (cause == "HYP-BATCH-SMALL")
                and extreme != present
            ):
                yield from knob(
                    self,
                    title,
                    Scale(present, extreme, self.precision, logarithmic=True, whole=True),
                    lambda size: set_batch_size(case, int(size)),
                    cause=cause,
                    told=f"batches of {present} → {{}}",
                )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("of a loader", STACK, old="batch_size=16", new="batch_size=2"),
        Example("the default of an option", FUNCTIONS, old="default=10", new="default=1", nth=1),
    )
