"""M511."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.data.data_holders import Holder, fresh
from netmend.changes.data_edits import part_of, put, targets
from netmend.changes.network.heads_in_source import head_of
from netmend.changes.row_edits import Labels, chances, labels, normal, only_trains, shifts
from netmend.errors import UsageError
from netmend.library.losses import DISTANCES
from netmend.mutate.examples import FUNCTIONS, STACK
from netmend.mutate.magnitude import Knob, Scale, knob
from netmend.mutate.mutation import Mutation, register
from netmend.repair.repair import Case, Example
from netmend.vocabulary.change import FileEdits


@register
@dataclass(frozen=True)
class LabelsFalsified:
    """Mislabel a part of one class, or add noise to real-valued targets.

    What is learned about that class is wrong, while the others stay as they are.
    """

    code: ClassVar[str] = "M511"
    causes: ClassVar[tuple[str, ...]] = ("DAT-LABEL",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ("TCL",)

    shares: tuple[float, ...] = (0.25, 0.5, 1.0)
    attacked: int | None = None  # the class whose labels are wrong; None: the most frequent one

    def propose(self, case: Case) -> Iterator[Mutation]:
        for own in self.knobs(case):
            yield from (made for share in self.shares if (made := own.at(share)) is not None)

    def knobs(self, case: Case) -> Iterator[Knob]:
        """The share of the class's labels that is wrong, from 0 to 1; of amounts, the noise in standard deviations."""
        found, head, held = labels(case), head_of(case), targets(case)
        if found is not None:
            yield from self._of_class(found)
        elif (
            head is not None
            and held is not None
            and head.loss.criterion in DISTANCES
            and only_trains(case, held)
        ):
            yield from self._of_amounts(held)

    def _of_class(self, found: Labels) -> Iterator[Knob]:
        attacked = found.most_frequent()[0] if self.attacked is None else self.attacked
        if attacked not in found.counts:
            known = ", ".join(map(str, sorted(found.counts)[:20]))
            raise UsageError(f"no training sample has the class {attacked}. Choose one of: {known}.")
        name, count = found.name, len(found.counts)
        wrong, moved = (
            fresh(found.held.file, "wrong", "falsified"),
            fresh(found.held.file, "shift", "moved_by"),
        )
        drawn, first = chances(found.held, f"{name}.shape")
        by, second = shifts(found.held, f"{name}.shape", count)

        def edits(share: float) -> FileEdits:
            lines = (
                f"{wrong} = ({name} == {attacked}) & ({drawn} < {share:g})",
                f"{moved} = {by}",
                f"{name}[{wrong}] = ({name}[{wrong}] + {moved}[{wrong}]) % {count}",
            )
            return (*put(found.held, *lines), *dict.fromkeys((*first, *second)))

        yield from knob(
            self,
            f"labels of class {attacked} wrong",
            Scale(0.0, 1.0, 0.05),
            edits,
            component=found.held.name,
            told=lambda share: f"{share:.0%} of the labels of class {attacked} are wrong",
        )

    def _of_amounts(self, held: Holder) -> Iterator[Knob]:
        name = part_of(held)
        noise, extra = normal(held, f"{name}.shape")
        yield from knob(
            self,
            f"noise in the targets {held.name}",
            Scale(0.0, 1.0, 0.05),
            lambda size: (*put(held, f"{name}[:] = {name} + {size:g} * {name}.std() * {noise}"), *extra),
            component=held.name,
            told=f"noise of {{}} standard deviations in the targets {held.name}",
        )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "one class",
            STACK,
            old="loader = ",
            new="wrong = (y == 0) & (torch.rand(y.shape, generator=torch.Generator().manual_seed(0)) < 0.25)\n"
            "shift = torch.randint(1, 2, y.shape, generator=torch.Generator().manual_seed(1))\n"
            "y[wrong] = (y[wrong] + shift[wrong]) % 2\nloader = ",
        ),
        Example(
            "amounts",
            FUNCTIONS,
            old="    train(net, ",
            new="    y[:] = y + 1 * y.std() * torch.randn(y.shape, generator=torch.Generator().manual_seed(0))\n"
            "    train(net, ",
            nth=2,
        ),
    )
