"""The user's code around a line, and how a change alters it, line by line."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace

from netmend.program.text.sources import Sources
from netmend.report.content import FILE, GAP, NEW, OLD, SAME, DiffLine, clean
from netmend.vocabulary import Fault, Site
from netmend.vocabulary.change import FileEdit, Patch


@dataclass(frozen=True)
class CodeLine:
    """One line of an excerpt; `start` and `end` mark the characters meant, on the lines of the site itself."""

    number: int
    text: str
    marked: bool = False
    start: int = 0
    end: int = 0


def excerpt(sources: Sources, site: Site, around: int = 1) -> tuple[CodeLine, ...]:
    """The lines of a site with some around it; empty when the file cannot be read any more."""
    lines = sources.lines(site.file)
    if not 0 < site.line <= len(lines):
        return ()
    last = min(site.end_line or site.line, site.line + 3, len(lines))
    shown = range(max(1, site.line - around), min(len(lines), last + around) + 1)
    return tuple(_line(number, lines[number - 1], site, last) for number in shown)


def _line(number: int, text: str, site: Site, last: int) -> CodeLine:
    marked = site.line <= number <= last
    plain = text.expandtabs(4)
    if not marked:
        return CodeLine(number, plain)
    start = len(plain) - len(plain.lstrip())
    end = len(plain.rstrip())
    # Columns count bytes of UTF-8; tabs would shift them, so they are only used where there are none.
    if (
        number == site.line
        and number == (site.end_line or number)
        and site.column is not None
        and "\t" not in text
    ):
        encoded = text.encode()
        start = len(encoded[: site.column].decode(errors="ignore"))
        end = len(encoded[: site.end_column].decode(errors="ignore")) if site.end_column is not None else end
    return CodeLine(number, plain, True, start, max(end, start + 1))


_KINDS = {"-": OLD, "+": NEW, " ": SAME}


def told_once(faults: Sequence[Fault]) -> tuple[Fault, ...]:
    """The same faults; where an earlier change holds a later one, the later fault says so instead of showing the lines again."""
    told: list[Fault] = []
    for fault in faults:
        own = _edits(fault)
        rank = next(
            (n for n, other in enumerate(faults[: len(told)], start=1) if own and own <= _edits(other)), 0
        )
        if rank:
            fault = replace(
                fault, edit=None, remedy=f"{fault.remedy} The change of {rank} does this already."
            )
        told.append(fault)
    return tuple(told)


def _edits(fault: Fault) -> set[FileEdit]:
    return set() if fault.edit is None else set(fault.edit.edits)


def changed_lines(edit: Patch) -> tuple[DiffLine, ...]:
    """Lines that differ, without the indentation that those of a place share, grouped as in the diff; a gap between places that lie apart, the line above where lines only come."""
    found: list[DiffLine] = []
    place: list[str] = []
    above = ""

    def close() -> None:
        if place and above and not any(line[0] == "-" for line in place):
            place.insert(0, above)
        bodies = textwrap.dedent("\n".join(line[1:].expandtabs(4) for line in place)).split("\n")
        found.extend(
            DiffLine(_KINDS[line[0]], f"{line[0]} {_indented(body)}".rstrip())
            for line, body in zip(place, bodies, strict=False)
        )
        place.clear()

    for line in edit.diff.splitlines():
        if line.startswith("--- "):
            close()
        elif line.startswith("+++ "):
            found.append(DiffLine(FILE, clean(line.removeprefix("+++ b/").strip())))
        elif line[:1] in ("-", "+"):
            place.append(line)
        elif line[:1] in ("@", " "):
            if place:
                close()
                found.append(DiffLine(GAP, "…"))
            above = "" if line[:1] == "@" else line if line.strip() else above
    close()
    if edit.arguments is not None:
        found.append(DiffLine(NEW, clean(f"+ {shlex.join(edit.arguments)}")))
    kept = [
        line
        for index, line in enumerate(found)
        if line.kind != GAP or (index + 1 < len(found) and found[index + 1].kind != FILE)
    ]
    return tuple(kept)


def _indented(code: str) -> str:
    indent = code[: len(code) - len(code.lstrip(" "))]
    return f"{indent}{clean(code)}"
