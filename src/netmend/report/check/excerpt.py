"""The code that a finding or a fault is about: its lines with one before and behind, and marks beneath what is meant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from netmend.program.text.positions import Lines
from netmend.report.check.look import Look
from netmend.report.signs import cropped, on_screen
from netmend.vocabulary import Site

AROUND = 1  # convention: lines shown before and behind
MOST_MARKED = 3  # convention: lines of a long statement; its end is rarely what matters
_WIDTH = 100  # columns of code where lines are not wrapped: one line of data can have thousands
_BEFORE = 12  # convention: columns kept before what is marked in a line that is cut


class Marked(Protocol):
    """A stretch of source, such as a finding: lines from 1, columns from 0 in characters."""

    @property
    def line(self) -> int: ...
    @property
    def column(self) -> int: ...
    @property
    def end_line(self) -> int: ...
    @property
    def end_column(self) -> int: ...


@dataclass(frozen=True)
class Span:
    line: int
    column: int
    end_line: int
    end_column: int


def span_of(site: Site, lines: Lines) -> Span:
    """The characters of a site: its own where they are known, else the whole line. Sites count bytes of UTF-8."""
    line = lines.content(site.line)
    end_line = max(site.line, site.end_line or site.line)
    if site.column is None or site.end_column is None:
        return Span(site.line, len(line) - len(line.lstrip()), site.line, len(line.rstrip()))
    return Span(
        site.line,
        _characters(line, site.column),
        end_line,
        _characters(lines.content(end_line), site.end_column),
    )


def _characters(line: str, count: int) -> int:
    return len(line.encode("utf-8", "replace")[:count].decode("utf-8", "ignore"))


def excerpt(lines: Lines, finding: Marked, room: int, look: Look) -> list[tuple[int, str]]:
    """Line numbers and lines of an excerpt, 0 for lines without; none when the text is not there any more."""
    count = len(lines)
    if not 0 < finding.line <= count or not lines.text:
        return []
    last = min(max(finding.line, finding.end_line), finding.line + MOST_MARKED - 1, count)
    is_short = last == max(finding.line, finding.end_line)
    shown = [
        number
        for number in range(finding.line - AROUND, last + (AROUND if is_short else 0) + 1)
        if finding.line <= number <= last or lines.content(number).strip()
    ]
    start = end = 0
    if finding.end_line == finding.line:
        start, end = finding.column, finding.end_column
    elif finding.end_line > finding.line:
        start, end = finding.column, len(lines.content(finding.line).rstrip())
    text: list[tuple[int, str]] = []
    for number in shown:
        marks = (start, max(end, start + 1)) if number == finding.line else None
        is_meant = finding.line <= number <= last
        code, *below = _shown(lines.content(number), number, is_meant, marks, room, look)
        text += [(number, code), *((0, line) for line in below)]
    if not is_short:
        text.append((0, look.paint(f"    {' ' * room} …", "quiet")))
    return text


def code_line(source: str, number: int, room: int, look: Look) -> str:
    """One line of code without marks."""
    return _shown(source, number, False, None, room, look)[0]


def _shown(
    source: str, number: int, is_meant: bool, marks: tuple[int, int] | None, room: int, look: Look
) -> list[str]:
    text, columns = on_screen(source.rstrip())
    width = max(20, (look.width or _WIDTH) - room - 7)
    first, last = 0, 0
    if marks is not None:
        first = columns[min(marks[0], len(columns) - 1)]
        last = max(first + 1, columns[min(marks[1], len(columns) - 1)])
    begin = 0
    if columns[-1] > width and last > width:
        begin = max(0, min(first - _BEFORE, columns[-1] - width))
    visible, begin = cropped(text, begin, begin + width)
    head = look.paint("▸", "mark") if is_meant else " "
    bar = look.paint("│", "quiet")
    lines = [
        f"  {head} {look.paint(f'{number:{room}}', 'plain' if is_meant else 'quiet')} {bar} {visible}".rstrip()
    ]
    if marks is not None:
        first, last = min(max(first, begin), begin + width - 1), min(last, begin + width)
        carets = "^" * max(1, last - first)
        lines.append(f"    {' ' * room} {bar} {' ' * (first - begin)}{look.paint(carets, 'mark')}")
    return lines
