"""M502."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.data.data_holders import fresh
from netmend.changes.data_edits import put, random_rows, rows
from netmend.changes.row_edits import chances, free_rows
from netmend.diagnose.measures.labels import label_counts
from netmend.mutate.examples import FUNCTIONS, PROBABILITIES
from netmend.mutate.magnitude import Knob, Scale, knob
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.repair.repair import Case, Example
from netmend.vocabulary.change import FileEdits


@register
@dataclass(frozen=True)
class ClassesUnbalanced:
    """Remove nearly all training samples of some classes.

    What is hardly ever seen is never predicted.
    """

    code: ClassVar[str] = "M502"
    causes: ClassVar[tuple[str, ...]] = ("DAT-IMBALANCE",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ("TUD",)

    kept: tuple[float, ...] = (0.1, 0.02)

    def propose(self, case: Case) -> Iterator[Mutation]:
        counts = label_counts(case.trace)
        if not 2 <= len(counts) <= 50:
            return
        given, wanted = next(rows(case), (None, None))
        if given is None or wanted is None:
            return
        uniform, _, extra = random_rows(wanted)
        name, y = fresh(wanted.file, "kept", "chosen"), wanted.name
        # Half of the classes; of two, the second.
        limit = sorted(counts)[max(1, len(counts) // 2)]
        for index, share in enumerate(self.kept, 1):
            lines = (
                f"{name} = ({y} < {limit:g}) | ({uniform}(len({y})) < {share:g})",
                f"{given.name}, {y} = {given.name}[{name}], {y}[{name}]",
            )
            yield from mutation(
                self,
                f"{share:.0%} of the samples of classes from {limit:g} on are left",
                (*put(given, *lines, beside=wanted), *extra),
                grade=index / len(self.kept),
                component=y,
                parameter=f"{share:g}",
            )

    def knobs(self, case: Case) -> Iterator[Knob]:
        """The share of the samples of half of the classes that is gone, from 0 to 1."""
        counts = label_counts(case.trace)
        both = free_rows(case)
        if not 2 <= len(counts) <= 50 or both is None:
            return
        given, wanted = both
        limit, y, name = (
            sorted(counts)[max(1, len(counts) // 2)],
            wanted.name,
            fresh(wanted.file, "kept", "chosen"),
        )
        drawn, extra = chances(wanted, f"len({y})")

        def edits(share: float) -> FileEdits:
            lines = (
                f"{name} = ({y} < {limit:g}) | ({drawn} >= {share:g})",
                f"{given.name}, {y} = {given.name}[{name}], {y}[{name}]",
            )
            return (*put(given, *lines, beside=wanted), *extra)

        yield from knob(
            self,
            f"fewer samples of classes from {limit:g} on",
            Scale(0.0, 1.0, 0.05),
            edits,
            component=y,
            told=lambda share: f"{share:.0%} of the samples of classes from {limit:g} on are gone",
        )

    def others(self, case: Case) -> Iterator[Mutation]:
        """None: where nothing can be turned, rows cannot be taken away without further changes."""
        return iter(())

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "yes or no",
            PROBABILITIES,
            old="for step in",
            new="kept = (labels < 1) | (torch.rand(len(labels)) < 0.1)\n"
            "inputs, labels = inputs[kept], labels[kept]\nfor step in",
        ),
        Example("amounts", FUNCTIONS),
    )
