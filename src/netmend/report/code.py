"""The user's code around a line, for excerpts."""

from __future__ import annotations

from dataclasses import dataclass

from netmend.program.text.sources import Sources
from netmend.vocabulary import Site


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
