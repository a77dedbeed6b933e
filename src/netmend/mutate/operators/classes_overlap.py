"""M512."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.data.data_holders import fresh, is_array
from netmend.changes.data_edits import put
from netmend.changes.row_edits import chances, free_rows, labels
from netmend.errors import UsageError
from netmend.mutate.examples import FUNCTIONS, PROBABILITIES
from netmend.mutate.magnitude import Knob, Scale, knob
from netmend.mutate.mutation import Mutation, register
from netmend.program.source.naming import spelled
from netmend.repair.repair import Case, Example
from netmend.vocabulary.change import FileEdits


@register
@dataclass(frozen=True)
class ClassesOverlap:
    """Add copies of samples of one class with the label of another to the training data.

    The same input is said to be both; the two classes can no longer be told apart.
    """

    code: ClassVar[str] = "M512"
    causes: ClassVar[tuple[str, ...]] = ("DAT-LABEL",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ("TCO",)

    shares: tuple[float, ...] = (0.25, 0.5, 1.0)
    attacked: int | None = None  # the class that is copied; None: the most frequent one
    taken_for: int | None = None  # the label of the copies; None: that of the most frequent other class

    def propose(self, case: Case) -> Iterator[Mutation]:
        for own in self.knobs(case):
            yield from (made for share in self.shares if (made := own.at(share)) is not None)

    def knobs(self, case: Case) -> Iterator[Knob]:
        """The share of the attacked class that is copied, from 0 to 1."""
        found, both = labels(case), free_rows(case)
        if found is None or both is None:
            return
        given, wanted = both
        order = found.most_frequent()
        first = order[0] if self.attacked is None else self.attacked
        others = [label for label in order if label != first]
        second = others[0] if self.taken_for is None else self.taken_for
        if first not in found.counts or second not in others:
            known = ", ".join(map(str, sorted(found.counts)[:20]))
            raise UsageError(f"cannot copy class {first} as class {second}. Choose two of: {known}.")
        x, y = given.name, wanted.name
        copied, array = fresh(given.file, "copied", "overlapping"), bool(is_array(given.flow, given))
        drawn, extra = chances(wanted, f"{y}.shape")
        join, more = spelled(given.file, "numpy.concatenate" if array else "torch.cat")
        like, full = spelled(given.file, "numpy.full_like" if array else "torch.full_like")

        def edits(share: float) -> FileEdits:
            lines = (
                f"{copied} = (({y} == {first}) & ({drawn} < {share:g})).reshape(-1)",
                f"{x}, {y} = {join}([{x}, {x}[{copied}]]), {join}([{y}, {like}({y}[{copied}], {second})])",
            )
            return (*put(given, *lines, beside=wanted), *dict.fromkeys((*extra, *more, *full)))

        yield from knob(
            self,
            f"class {first} also labelled {second}",
            Scale(0.0, 1.0, 0.05),
            edits,
            component=y,
            told=lambda share: f"{share:.0%} of class {first} again with the label {second}",
        )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "no is also yes",
            PROBABILITIES,
            old="for step in",
            new="copied = ((labels == 0) & (torch.rand(labels.shape, generator=torch.Generator().manual_seed(0)) < 0.25))"
            ".reshape(-1)\n"
            "inputs, labels = torch.cat([inputs, inputs[copied]]), "
            "torch.cat([labels, torch.full_like(labels[copied], 1)])\nfor step in",
        ),
        Example("amounts", FUNCTIONS),
    )
