"""Move: one kind of single change, made whether it helps or not; repairs only make those that can be right."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from netmend.changes.case import Case
from netmend.program.source.values import Faces
from netmend.testing.example import titled
from netmend.unit import Family, record
from netmend.vocabulary.change import Change, FileEdits


class Move:
    """Base of all moves. The docstring's first line says what it changes; the rest which values it tries."""

    code: str
    causes: tuple[str, ...]  # leaves of the taxonomy that its changes would mend
    effort: int  # see vocabulary/change.py
    EXAMPLES: Any  # {"title": example(...)}, a tuple of them once it is a unit

    def __init_subclass__(cls, code: str = "", **facts: Any) -> None:
        """`class ScaleUnits(Move, code="N108", causes=("LYR-UNITS",), effort=BUDGET)` is a unit; a class without a code is a base of others."""
        for name, value in facts.items():
            setattr(cls, name, value)
        if code:
            cls.code, cls.EXAMPLES = code, titled(cls.EXAMPLES)
            MOVES.register(record(cls))

    def propose(self, case: Case) -> Iterator[Change]:
        """Every change of this kind that the program allows; `case.fault` is not looked at."""
        raise NotImplementedError

    def change(
        self, cause: str, title: str, edits: FileEdits | Faces, *, knob: str, cost: float = 1.0
    ) -> Iterator[Change]:
        """One change, or none when it could not be written."""
        faces = edits if isinstance(edits, Faces) else Faces(edits)
        if faces:
            written = (faces.edits, faces.forced, faces.arguments)
            yield Change(self.code, cause, title, *written, knob, self.effort, cost)


MOVES: Family[Move] = Family("netmend.neutral.moves")
