"""A search for a patch as it is told: the outcome, what it rests on, what was tried, and what to do next; and its JSON (docs/json.md)."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from netmend.mend.gate import BREAKS, HOLDS, LOSES, REFUTED, Tally
from netmend.mend.result import Counts, Mended, Tried
from netmend.report.content import Column, Document, Grid, Number, Remark, clean
from netmend.report.machine import Fields
from netmend.report.mend.patch import size_words
from netmend.report.numbers import UNKNOWN, count, duration, percent, plural, share

_MOST_NOTES = 6
_FLAWS = {
    BREAKS: "it breaks more unseen inputs than the bound allows",
    LOSES: "the plain baseline does better",
}


def mend_document(result: Mended) -> Document:
    commands = (next_steps(file, result.model) for file in result.files)
    return Document(
        *verdict_words(result), (tried_grid(result), *commands), tuple(mend_remarks(result)), wide=True
    )


def next_steps(patch: Path, model: str) -> tuple[Remark, ...]:
    """Commands to copy, each on one line however long it is."""
    commands = {word: ["netmend", "mend", word, str(patch)] for word in ("show", "apply")}
    commands["apply"].append(model)
    lines = {"written": str(patch), **{word: shlex.join(command) for word, command in commands.items()}}
    return tuple(Remark(label, clean(line), whole=True) for label, line in lines.items())


def verdict_words(result: Mended) -> tuple[str, str]:
    """A tone and the outcome in one sentence."""
    if result.recommended is not None:
        flaws = " and ".join(_FLAWS[flaw] for flaw in result.verdict.flaws)
        said = f"Patch found, but {flaws}" if flaws else "patch found"
        words = f"{said}: {result.recommended.method} {deeds(result.recommended.unseen)}"
        return ("good" if result.verdict.standing == HOLDS else "warn"), words
    if result.verdict.standing == REFUTED:
        return "bad", "No patch is recommended: the best one fails on unseen data"
    return "bad", "No patch is recommended: no method wins on the validation data"


def deeds(unseen: Tally) -> str:
    """`repairs 11 of 13 unseen failures, breaks 0 of 76 unseen guard inputs`."""
    if not unseen.failing:
        repaired = "repairs the failing samples"
    else:
        repaired = f"repairs {unseen.repaired} of {plural(unseen.failing, 'unseen failure')}"
    if not unseen.guarded:
        return repaired
    return f"{repaired}, breaks {unseen.broken} of {plural(unseen.guarded, 'unseen guard input')}"


def mend_remarks(result: Mended) -> Iterator[Remark]:
    """What a person needs to judge it."""
    for reason in result.verdict.reasons:
        yield Remark("but" if result.recommended else "why", reason, "", "warn")
    yield Remark("failing", _divided(result.failing))
    yield Remark("guard", _divided(result.guard))
    for note in result.notes[:_MOST_NOTES]:
        yield Remark("note", clean(note), "", "muted")
    best = result.recommended
    if best is not None:
        yield Remark("unseen", _interval_words(best.unseen, result.options.bound))
        yield Remark("patch", size_words(best.patch))
        if chosen := _chosen_words(result, best):
            yield Remark("chosen", chosen)
        if against := _against_baseline(result, best):
            yield Remark("baseline", against)
    for name, why in result.left_out:
        yield Remark("left out", f"{name}: {clean(why)}", "", "muted")


def tried_grid(result: Mended) -> Grid:
    """A row for each method at its best rate."""
    note = (
        "repaired, broken: on validation data | unseen data; learned: repaired among the training failures."
    )
    if result.recommended is not None:
        note += " * recommended."
    if any(one.part < 1 for one in result.tried):
        note += " < only part of the way to the new weights: the full change broke too much."

    def both(one: Tried, name: str) -> str:
        return f"{share(getattr(one.validation, name))} | {share(getattr(one.unseen, name))}"

    def marked(one: Tried) -> str:
        mark = ("*" if one is result.recommended else "") + ("<" if one.part < 1 else "")
        return f"{one.method} {mark}".rstrip()

    return Grid.of(
        result.tried,
        Column("method", marked),
        Number("repaired", lambda one: both(one, "repaired_share")),
        Number("broken", lambda one: both(one, "broken_share")),
        Number("learned", lambda one: share(one.seen.repaired_share), spare=4),
        Number("values", lambda one: count(one.touched), spare=2),
        Number("share", lambda one: share(one.patch.share), spare=1),
        Number("rate", lambda one: UNKNOWN if one.rate is None else f"{one.rate:g}", spare=5),
        Number("time", lambda one: duration(one.seconds) + (" known" if one.known else ""), spare=3),
        note=note,
    )


def _divided(counts: Counts) -> str:
    if counts.shared:
        return f"{plural(counts.repair, 'input')}: too few to hold any out, so the same inputs train and choose the patch"
    last = f"{counts.unseen} unseen" if counts.unseen else "none held out: too few"
    return f"{count(counts.repair)} to train on, {count(counts.validation)} to choose by, {last}"


def _interval_words(unseen: Tally, bound: float) -> str:
    parts = []
    if unseen.failing:
        low, high = unseen.repaired_interval
        parts.append(f"repaired {share(unseen.repaired_share)} (95 % interval {share(low)} to {share(high)})")
    if unseen.guarded:
        low, high = unseen.broken_interval
        parts.append(
            f"broken {share(unseen.broken_share)} ({share(low)} to {share(high)}; bound {percent(bound)})"
        )
    return ", ".join(parts) or "nothing was held out to judge by"


def _chosen_words(result: Mended, best: Tried) -> str:
    """Why it is not the strongest one on the data that chooses."""
    strongest = None if result.verdict.best is None else result.tried[result.verdict.best]
    if strongest is None or strongest is best:
        return ""
    ours, theirs = best.validation, strongest.validation
    return (
        f"for its size, and as good as the best within chance: on validation data it repairs "
        f"{ours.repaired} of {ours.failing} and breaks {ours.broken}, {strongest.method} repairs {theirs.repaired} and breaks {theirs.broken}"
    )


def _against_baseline(result: Mended, best: Tried) -> str:
    first = next((one for one in result.tried if one.method == result.baseline), None)
    if first is None:
        return "could not be measured"
    if first is best:
        return f"{result.baseline} itself wins: no other method does as well on the validation data with a smaller patch"
    return f"{result.baseline} {deeds(first.unseen)}, changing {share(first.patch.share)} of the values"


def _tally(tally: Tally) -> dict[str, Any]:
    return {
        "repaired": tally.repaired,
        "failing": tally.failing,
        "repaired_interval": tally.repaired_interval if tally.failing else None,
        "broken": tally.broken,
        "guarded": tally.guarded,
        "broken_interval": tally.broken_interval if tally.guarded else None,
        "loss": tally.loss,
        "drift": tally.drift,
    }


_TRIED = Fields(
    "method",
    "rate",
    ("seen", lambda one: _tally(one.seen)),
    ("validation", lambda one: _tally(one.validation)),
    ("unseen", lambda one: _tally(one.unseen)),
    "touched",
    "share",
    "norm=patch.norm",
    "part",
    "steps",
    "seconds",
    "known",
    "notes",
)
_COUNTS = Fields("given", "repair", "validation", "unseen", "shared")
MENDED = Fields(
    ("kind", lambda result: "classifier"),
    "model",
    ("recommended", lambda result: result.recommended.method if result.recommended else None),
    "verdict=verdict.standing",
    "reasons=verdict.reasons",
    "flaws=verdict.flaws",
    "bound=options.bound",
    "baseline",
    ("failing", _COUNTS),
    ("guard", _COUNTS),
    ("tried", _TRIED),
    ("left_out", lambda result: [{"method": name, "reason": why} for name, why in result.left_out]),
    "notes",
    "steps=options.steps",
    "seed=options.seed",
    "seconds",
    ("patch", lambda result: result.files[0] if result.files else None),
)
