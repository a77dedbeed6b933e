"""The repair of a language model on the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from netmend.report.content import Column, Grid, Remark
from netmend.report.mend.patch_text import size_words
from netmend.report.mend.text import next_steps
from netmend.report.numbers import duration, percent, share
from netmend.report.terminal import STYLES, GridTable, Remarks, blank

if TYPE_CHECKING:
    from netmend.mend.torch.language.outcome import Options, Outcome, Tried


def language_text(outcome: Outcome, options: Options, model: Path, written: Path | None) -> RenderableType:
    best = next((one for one in outcome.tried if one.method == outcome.recommended), None)
    if best is None:
        least = min((one.growth for one in outcome.tried if one.repaired > 0), default=None)
        words = "No patch is recommended"
        why = (
            "no method made the bad answers less likely"
            if least is None
            else f"everything that repairs something raises the perplexity of normal text by at least {share(least)}; the bound is "
            f"{percent(options.bound)}"
        )
        tone, remarks = "bad", [Remark("why", why, "", "warn")]
    else:
        tone = "good"
        words = f"Patch found: {best.method} makes bad answers {share(best.repaired_unseen)} less likely on unseen pairs"
        remarks = [
            Remark(
                "cost",
                f"perplexity of unseen normal text {_signed(best.growth_unseen)}; bound {percent(options.bound)}",
            ),
        ]
        if best.growth_unseen > options.bound:
            tone = "warn"
            remarks.append(Remark("but", "on unseen text the growth is above the bound", "", "warn"))
        if best.repaired_unseen <= 0:
            tone = "warn"
            remarks.append(Remark("but", "unseen bad answers are no less likely than before", "", "warn"))
        if outcome.patch is not None:
            remarks.append(Remark("patch", size_words(outcome.patch)))
    title = Text("netmend  ", style="bold").append(words, STYLES[tone])
    parts: list[RenderableType] = [title, Remarks(remarks, indent=2), blank(), GridTable(_grid(outcome))]
    if written is not None:
        parts += next_steps(written, str(model))
    return Group(*parts)


def _grid(outcome: Outcome) -> Grid:
    columns = (
        Column("method"),
        Column("repaired", True),
        Column("perplexity", True),
        Column("share", True, 1),
        Column("rate", True, 3),
        Column("steps", True, 4),
        Column("time", True, 2),
    )
    rows = tuple(_row(one, one.method == outcome.recommended) for one in outcome.tried)
    note = "repaired, perplexity: on validation data | unseen data. * recommended."
    return Grid(columns, rows, note=note)


def _row(one: Tried, best: bool) -> tuple[str, ...]:
    return (
        f"{one.method} *" if best else one.method,
        f"{share(one.repaired)} | {share(one.repaired_unseen)}",
        f"{_signed(one.growth)} | {_signed(one.growth_unseen)}",
        share(one.touched),
        f"{one.rate:g}",
        str(one.steps),
        duration(one.seconds),
    )


def _signed(growth: float) -> str:
    return f"{'+' if growth > 0 else ''}{share(growth)}"
