"""Mutation testing on the terminal: the score, test sets, operators, what survives, what to add."""

from __future__ import annotations

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.segment import Segment
from rich.text import Text

from netmend.mutate.result import SOURCE, WEIGHT_LEVEL, MutationResult
from netmend.report.content import Remark
from netmend.report.mutate.words import (
    addition_remarks,
    end_remarks,
    operators_grid,
    score_sentence,
    sets_grid,
    start_remarks,
    survivor_remarks,
    verdict_words,
)
from netmend.report.terminal import STYLES, GridTable, Remarks

_MOST = 6  # of one kind
_INDENT = 2


def mutate_text(result: MutationResult) -> RenderableType:
    """The outcome first, then what a person needs to judge it."""
    tone, words = verdict_words(result)
    parts: list[RenderableType] = [Text("netmend  ", style="bold").append(words, STYLES[tone])]
    opening = list(start_remarks(result))
    if told := score_sentence(result):
        opening.append(Remark("score", told, tone="muted"))
    if opening:
        parts.append(_Indented(Remarks(opening)))
    if result.sets:
        grids = [sets_grid(result), operators_grid(result, SOURCE), operators_grid(result, WEIGHT_LEVEL)]
        parts += [_Indented(GridTable(grid)) for grid in grids if grid.rows]
        for remarks in (list(survivor_remarks(result, _MOST)), list(addition_remarks(result, _MOST))):
            if remarks:
                parts.append(_Indented(Remarks(remarks)))
    parts.append(_Indented(Remarks(end_remarks(result))))
    return Group(*parts)


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
