"""A study of a reinforcement-learning program on the terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from netmend.mutate.agents.result import RlStudy
from netmend.report.agents.words import (
    end_remarks,
    mutant_grid,
    operator_grid,
    score_remarks,
    setting_remarks,
    start_grid,
    verdict_words,
)
from netmend.report.terminal import STYLES, GridTable, Remarks, blank


def rl_text(found: RlStudy) -> RenderableType:
    """The outcome first, then the table, the starts that reveal mutants, the cost."""
    tone, words = verdict_words(found)
    parts: list[RenderableType] = [
        Text("netmend  ", style="bold").append(words, STYLES[tone]),
        blank(),
        Remarks(setting_remarks(found), 2),
        blank(),
        GridTable(operator_grid(found)),
    ]
    for grid in (start_grid(found), mutant_grid(found)):
        if grid.rows:
            parts += [blank(), GridTable(grid)]
    parts += [blank(), Remarks([*score_remarks(found), *end_remarks(found)], 2)]
    return Group(*parts)
