"""The change that goes with a fault, line by line: what goes, what comes, and the command where only its arguments change."""

from __future__ import annotations

import shlex
import textwrap
from dataclasses import dataclass

from netmend.report.content import clean
from netmend.vocabulary.change import Patch

FILE, OLD, NEW, GAP = "file", "old", "new", "gap"


@dataclass(frozen=True)
class ChangedLine:
    kind: str  # file | old | new | gap
    text: str  # with its sign, without the indentation that all lines of its place share


def changed_lines(edit: Patch) -> tuple[ChangedLine, ...]:
    """Lines that differ, grouped as in the diff; a gap between places that lie apart."""
    found: list[ChangedLine] = []
    place: list[str] = []

    def close() -> None:
        bodies = textwrap.dedent("\n".join(line[1:].expandtabs(4) for line in place)).split("\n")
        found.extend(
            ChangedLine(OLD if line[0] == "-" else NEW, clean(f"{line[0]} {body}"))
            for line, body in zip(place, bodies, strict=False)
        )
        place.clear()

    for line in edit.diff.splitlines():
        if line.startswith("--- "):
            close()
        elif line.startswith("+++ "):
            found.append(ChangedLine(FILE, clean(line.removeprefix("+++ b/").strip())))
        elif line[:1] in ("-", "+"):
            place.append(line)
        elif line[:1] in ("@", " ") and place:
            close()
            found.append(ChangedLine(GAP, "…"))
    close()
    if edit.arguments is not None:
        found.append(ChangedLine(NEW, clean(f"+ {shlex.join(edit.arguments)}")))
    kept = [
        line
        for index, line in enumerate(found)
        if line.kind != GAP or (index + 1 < len(found) and found[index + 1].kind != FILE)
    ]
    return tuple(kept)
