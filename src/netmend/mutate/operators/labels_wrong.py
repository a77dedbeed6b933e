"""M501."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.data.data_holders import fresh, is_array
from netmend.changes.data_edits import part_of, put, random_rows, targets
from netmend.changes.row_edits import chances, only_trains
from netmend.mutate.examples import FUNCTIONS, STACK
from netmend.mutate.magnitude import Knob, Scale, knob
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.repair.repair import Case, Example
from netmend.vocabulary.change import FileEdits


@register
@dataclass(frozen=True)
class LabelsWrong:
    """Shuffle a part of the training labels, or all of them.

    What is learned from wrong labels is wrong; with all of them exchanged, inputs and labels have nothing to do with each
    other.
    """

    code: ClassVar[str] = "M501"
    causes: ClassVar[tuple[str, ...]] = ("DAT-LABEL",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ("TCL", "LE")

    shares: tuple[float, ...] = (0.3, 0.6, 1.0)

    def propose(self, case: Case) -> Iterator[Mutation]:
        held = targets(case)
        if held is None:
            return
        uniform, order, extra = random_rows(held)
        name, mixed = part_of(held), fresh(held.file, "mixed", "exchanged")
        for share in self.shares:
            lines = [f"{name}[:] = {name}[{order}(len({name}))]"]
            if share < 1:
                lines = [
                    f"{mixed} = {uniform}(len({name})) < {share:g}",
                    f"{name}[{mixed}] = {name}[{mixed}][{order}(int({mixed}.sum()))]",
                ]
            yield from mutation(
                self,
                f"{share:.0%} of the labels in {held.name} exchanged",
                (*put(held, *lines), *extra),
                grade=share,
                component=held.name,
                parameter=f"{share:g}",
            )

    def knobs(self, case: Case) -> Iterator[Knob]:
        """The share of all labels that is exchanged, from 0 to 1."""
        held = targets(case)
        if held is None or not only_trains(case, held):
            return
        name, mixed = part_of(held), fresh(held.file, "mixed", "exchanged")
        drawn, extra = chances(held, f"len({name})")

        def edits(share: float) -> FileEdits:
            # The chosen ones in reverse order: nothing more has to be drawn.
            if is_array(held.flow, held):
                first = f"{mixed} = ({drawn} < {share:g}).nonzero()[0]"
                second = f"{name}[{mixed}] = {name}[{mixed}[::-1]]"
            else:
                first = f"{mixed} = ({drawn} < {share:g}).nonzero().flatten()"
                second = f"{name}[{mixed}] = {name}[{mixed}.flip(0)]"
            return (*put(held, first, second), *extra)

        yield from knob(
            self,
            f"labels in {held.name} exchanged",
            Scale(0.0, 1.0, 0.05),
            edits,
            component=held.name,
            told=lambda share: f"{share:.0%} of the labels in {held.name} exchanged",
        )

    def others(self, case: Case) -> Iterator[Mutation]:
        """None: where nothing can be turned, evaluation data would be changed as well."""
        return iter(())

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "a part",
            STACK,
            old="loader = ",
            new="mixed = torch.rand(len(y)) < 0.3\n"
            "y[mixed] = y[mixed][torch.randperm(int(mixed.sum()))]\nloader = ",
        ),
        Example(
            "all of them",
            FUNCTIONS,
            old="    train(net, ",
            new="    y[:] = y[torch.randperm(len(y))]\n    train(net, ",
            nth=2,
        ),
    )
