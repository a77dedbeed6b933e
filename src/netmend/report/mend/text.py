"""A search for a patch on the terminal: the outcome, what it rests on, what was tried, and what to do next."""

from __future__ import annotations

import shlex
from pathlib import Path

from rich.console import Group, RenderableType
from rich.text import Text

from netmend.mend.result import Mended
from netmend.report.content import clean
from netmend.report.mend.words import remarks, tried_grid, verdict_words
from netmend.report.terminal import STYLES, GridTable, Remarks, blank


def mend_text(found: Mended) -> RenderableType:
    tone, words = verdict_words(found)
    title = Text("netmend  ", style="bold").append(words, STYLES[tone])
    parts: list[RenderableType] = [
        title,
        Remarks(remarks(found), indent=2),
        blank(),
        GridTable(tried_grid(found)),
    ]
    for file in found.files:
        parts += next_steps(file, found.model)
    return Group(*parts)


def next_steps(patch: Path, model: str) -> list[RenderableType]:
    """Commands to copy, each on one line however long it is."""
    lines = [("written", clean(str(patch)))]
    for word in ("show", "apply"):
        command = ["netmend", "mend", word, str(patch), *([model] if word == "apply" else [])]
        lines.append((word, clean(shlex.join(command))))
    made: list[RenderableType] = [blank()]
    for label, text in lines:
        head = Text(f"  {label:9}", style="bold", no_wrap=True, overflow="ignore")
        made.append(head.append(text, "not bold"))
    return made
