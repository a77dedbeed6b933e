"""The adequacy of a test set on the terminal: the outcome, a sentence for each measure, the classes, what to label next."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.segment import Segment
from rich.text import Text

from netmend.adequacy.result import Adequacy
from netmend.report.adequacy.words import (
    classes_grid,
    end_remarks,
    measure_remarks,
    next_remarks,
    set_remarks,
    verdict_words,
)
from netmend.report.content import Remark
from netmend.report.terminal import STYLES, GridTable, Remarks

_MOST_CLASSES = 20
_INDENT = 2


def adequacy_text(found: Adequacy) -> RenderableType:
    """The outcome first, then what a person needs to judge it."""
    tone, words = verdict_words(found)
    title = Text("netmend  ", style="bold").append(words, STYLES[tone])
    parts: list[RenderableType] = [title, _remarks(set_remarks(found)), _remarks(measure_remarks(found))]
    if found.classes:
        parts.append(_Indented(GridTable(classes_grid(found, _MOST_CLASSES))))
    parts += [_remarks(next_remarks(found)), _remarks(end_remarks(found))]
    return Group(*parts)


def _remarks(remarks: Iterable[Remark]) -> RenderableType:
    return _Indented(Remarks(remarks))


class _Indented:
    """A blank line, then the part two columns in, without blanks behind the lines."""

    def __init__(self, part: RenderableType) -> None:
        self.part = part

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Segment.line()
        inner = options.update_width(max(1, options.max_width - _INDENT))
        for line in console.render_lines(self.part, inner, pad=False, new_lines=True):
            yield Segment(" " * _INDENT)
            yield from line
