"""M102."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.loop.epoch_loop import epoch_rounds
from netmend.mutate.examples import FUNCTIONS, STACK
from netmend.mutate.magnitude import Knob, Scale, knob
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.program.source.numbers import number, set_number
from netmend.repair.repair import Case, Example


@register
@dataclass(frozen=True)
class EpochsCut:
    """Train for a small part of the epochs.

    The loss is still falling steeply when training ends.
    """

    code: ClassVar[str] = "M102"
    causes: ClassVar[tuple[str, ...]] = ("HYP-EPOCH-FEW",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ("HNE",)

    shares: tuple[float, ...] = (0.25, 0.1, 0.04)

    def propose(self, case: Case) -> Iterator[Mutation]:
        rounds = epoch_rounds(case)
        bound = None if rounds is None else number(case.code, rounds.file, rounds.count, case.arguments)
        if rounds is None or bound is None:
            return
        present = int(bound) - rounds.start
        done: set[int] = {present}
        for index, share in enumerate(self.shares, 1):
            count = max(1, round(present * share))
            if count in done:
                continue
            done.add(count)
            text = str(count + rounds.start)
            edits = set_number(case.code, rounds.file, rounds.count, text, case.arguments)
            title = f"{present} → {count} epochs"
            yield from mutation(self, title, edits, grade=index / len(self.shares), parameter=f"×{share:g}")

    def knobs(self, case: Case) -> Iterator[Knob]:
        """Rounds of training, from the program's own number down to 1."""
        rounds = epoch_rounds(case)
        bound = None if rounds is None else number(case.code, rounds.file, rounds.count, case.arguments)
        if rounds is None or bound is None or bound - rounds.start < 2:
            return
        code, file, count, start = case.code, rounds.file, rounds.count, rounds.start
        yield from knob(
            self,
            "fewer epochs",
            Scale(int(bound) - start, 1, 1, whole=True),
            lambda left: set_number(code, file, count, str(int(left) + start), case.arguments),
            told=f"{int(bound) - start} → {{}} epochs",
        )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("a literal", STACK, old="range(8)", new="range(2)"),
        Example("the default of an option", FUNCTIONS, old="default=6", new="default=1", nth=1),
    )
