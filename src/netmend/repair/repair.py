"""Repair: one kind of remedy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from netmend.changes.case import Case as Case
from netmend.program.source.values import Faces
from netmend.testing.example import titled
from netmend.unit import Family, record
from netmend.vocabulary.change import FREE, Change, FileEdits


class Repair:
    """Base of all repairs. The docstring is the page: first line what it changes; then when that helps and what it may cost."""

    code: str
    cures: tuple[str, ...]  # leaves of the taxonomy, the most usual first
    effort: int = FREE  # … ARCHITECTURE, see vocabulary/change.py
    knob: str = ""  # what its changes turn, where that is the same for all; two changes of one knob exclude each other
    explores: bool = False  # whether it may be tried without a fault that calls for it
    EXAMPLES: Any  # {"title": example(...)}, a tuple of them once it is a unit

    def __init_subclass__(cls, code: str, **facts: Any) -> None:
        for name, value in facts.items():
            setattr(cls, name, value)
        cls.code, cls.EXAMPLES = code, titled(cls.EXAMPLES)
        REPAIRS.register(record(cls))

    def propose(self, case: Case) -> Iterator[Change]:
        """Changes in the order in which they should be tried; few, and none that cannot be right."""
        raise NotImplementedError

    def change(
        self,
        case: Case,
        title: str,
        edits: FileEdits | Faces,
        *,
        knob: str = "",
        cost: float = 1.0,
        effort: int | None = None,
    ) -> Iterator[Change]:
        """One change, or none when it could not be written."""
        faces = edits if isinstance(edits, Faces) else Faces(edits)
        if faces:
            yield Change(
                self.code,
                case.cause or self.cures[0],
                title,
                faces.edits,
                faces.forced,
                faces.arguments,
                knob or self.knob or title,
                self.effort if effort is None else effort,
                cost,
            )


REPAIRS: Family[Repair] = Family("netmend.repair.repairs")

_CURES = re.compile(r"^class \w+\(\s*Repair,[^:]*?cures=\(([^)]*)\)", re.MULTILINE)
_CODE = re.compile(r'"([A-Z]+-[A-Z0-9-]+)"')


@cache
def _modules_by_cause() -> dict[str, tuple[str, ...]]:
    """Which files say that they cure a cause; read as text, since loading all of them takes half a second."""
    found: dict[str, list[str]] = {}
    for file in sorted(Path(__file__).with_name("repairs").glob("*.py")):
        for written in _CURES.findall(file.read_text(encoding="utf-8")):
            for cause in _CODE.findall(written):
                found.setdefault(cause, []).append(file.stem)
    return {cause: tuple(names) for cause, names in found.items()}


def curing(cause: str) -> tuple[Repair, ...]:
    """The repairs for one cause, in the order of their codes; the others stay unloaded."""
    return tuple(each for each in REPAIRS.some(_modules_by_cause().get(cause, ())) if cause in each.cures)
