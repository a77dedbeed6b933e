"""The repair of a language model as it is told, and its JSON (docs/json.md)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from netmend.report.content import Column, Document, Grid, Number, Remark
from netmend.report.machine import Fields, result_json
from netmend.report.mend.patch import size_words
from netmend.report.mend.search import next_steps
from netmend.report.numbers import duration, percent, share

if TYPE_CHECKING:
    from netmend.mend.torch.language.session import Options, Outcome, Tried


def language_document(outcome: Outcome, options: Options, model: Path, written: Path | None) -> Document:
    best = next((one for one in outcome.tried if one.method == outcome.recommended), None)
    tone, words, remarks = (
        _none_words(outcome, options) if best is None else _best_words(outcome, options, best)
    )
    commands = () if written is None else (next_steps(written, str(model)),)
    return Document(tone, words, (_grid(outcome), *commands), tuple(remarks), wide=True)


def _none_words(outcome: Outcome, options: Options) -> tuple[str, str, list[Remark]]:
    least = min((one.growth for one in outcome.tried if one.repaired > 0), default=None)
    why = (
        "no method made the bad answers less likely"
        if least is None
        else f"everything that repairs something raises the perplexity of normal text by at least {share(least)}; the bound is "
        f"{percent(options.bound)}"
    )
    return "bad", "No patch is recommended", [Remark("why", why, tone="warn")]


def _best_words(outcome: Outcome, options: Options, best: Tried) -> tuple[str, str, list[Remark]]:
    repaired = share(best.repaired_unseen)
    words = f"Patch found: {best.method} makes bad answers {repaired} less likely on unseen pairs"
    growth = f"perplexity of unseen normal text {_signed(best.growth_unseen)}; bound {percent(options.bound)}"
    remarks = [Remark("cost", growth)]
    if best.growth_unseen > options.bound:
        remarks.append(Remark("but", "on unseen text the growth is above the bound", tone="warn"))
    if best.repaired_unseen <= 0:
        remarks.append(Remark("but", "unseen bad answers are no less likely than before", tone="warn"))
    tone = "good" if len(remarks) == 1 else "warn"
    if outcome.patch is not None:
        remarks.append(Remark("patch", size_words(outcome.patch)))
    return tone, words, remarks


def _grid(outcome: Outcome) -> Grid:
    return Grid.of(
        outcome.tried,
        Column("method", lambda one: f"{one.method} *" if one.method == outcome.recommended else one.method),
        Number("repaired", lambda one: f"{share(one.repaired)} | {share(one.repaired_unseen)}"),
        Number("perplexity", lambda one: f"{_signed(one.growth)} | {_signed(one.growth_unseen)}"),
        Number("share", lambda one: share(one.touched), spare=1),
        Number("rate", lambda one: f"{one.rate:g}", spare=3),
        Number("steps", lambda one: str(one.steps), spare=4),
        Number("time", lambda one: duration(one.seconds), spare=2),
        note="repaired, perplexity: on validation data | unseen data. * recommended.",
    )


def _signed(growth: float) -> str:
    return f"{'+' if growth > 0 else ''}{share(growth)}"


_PLAN = Fields(
    "one_block", "fits", "recompute", "logits_at_once=positions", "reference", "needs", "total", "free"
)


def language_json(outcome: Outcome, options: Options, model: Path, written: Path | None) -> str:
    return result_json(
        {
            "kind": "language",
            "model": model,
            "recommended": outcome.recommended,
            "bound": options.bound,
            "tried": outcome.tried,
            "plans": _PLAN.of(outcome.plans),
            "steps": options.budget.steps,
            "seed": options.seed,
            "patch": written,
        }
    )
