"""What kind of bug it looks like, whether its cause lies outside the code, and what to look at there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from netmend.locate.kinds import NAMES
from netmend.locate.located import Located
from netmend.report.content import Remark, clean

_CLEAR = 0.4  # probability below which the second type is told too
_MOST_REASONS = 3
_MOST_PROBLEMS = 4


def kind_remarks(found: Located) -> Iterator[Remark]:
    """`GPU (71 %): the words cuda, device`, and whether the cause lies in the code."""
    kind, outer = found.answer.kind, found.answer.extrinsic
    if kind is not None:
        words = f"{kind.name} ({chance(kind.probability)})"
        if kind.probability < _CLEAR and kind.others:
            words += f" or {NAMES[kind.others[0][0]]} ({chance(kind.others[0][1])})"
        why = "; ".join(clean(reason) for reason in kind.reasons[:_MOST_REASONS])
        yield Remark("type", f"{words}: {why}" if why else words)
    # A hint, no verdict: one in three such hints was right on unseen reports.
    if outer is not None and outer.likely:
        yield Remark("cause", "perhaps outside the code; see the signs below", tone="warn")


def chance(probability: float) -> str:
    """Never a full certainty, which no model of words has."""
    return (
        f"{round(100 * probability)} %"
        if 0.01 <= probability <= 0.99
        else "> 99 %"
        if probability > 0.5
        else "< 1 %"
    )


def outside_remarks(found: Located) -> Iterator[Remark]:
    """What to look at outside the code, with the report's words; then what this machine says about it."""
    outer = found.answer.extrinsic
    if outer is None or not outer.likely:
        return
    here = {one.name: one for one in found.here.versions} if found.here is not None else {}
    named = {one.what for one in outer.look_at if one.name is not None}
    quotes: set[str] = set()
    for one in outer.look_at:
        if one.name is None and one.what in named:
            continue  # the named ones say it better
        versions = f" {', '.join(one.versions)}" if one.versions else ""
        yield Remark("look at", f"{clean(one.name or one.what)}{versions}: {one.advice}")
        if one.quote not in quotes:
            quotes.add(one.quote)
            yield Remark("because", f"“{clean(one.quote)}”", tone="muted")
    for name, own in here.items():
        yield Remark("here", f"{clean(name)} {own.installed or 'is not installed'}")
    if found.here is not None:
        for problem in found.here.problems[:_MOST_PROBLEMS]:
            bad = problem.level == "bad"
            yield Remark("wrong" if bad else "note", clean(problem.what), tone="bad" if bad else "warn")
            yield Remark("do", clean(problem.do))
    yield Remark("more", "netmend env checks this machine", tone="muted")


def kind_data(found: Located) -> dict[str, Any] | None:
    kind = found.answer.kind
    if kind is None:
        return None
    return {
        "name": kind.name,
        "probability": kind.probability,
        "reasons": list(kind.reasons),
        "others": [{"name": NAMES[code], "probability": share} for code, share in kind.others],
    }


def outside_data(found: Located) -> dict[str, Any] | None:
    outer = found.answer.extrinsic
    if outer is None:
        return None
    here = found.here
    return {
        "likely": outer.likely,
        "probability": outer.probability,
        "reasons": list(outer.reasons),
        "look_at": [asdict(one) for one in outer.look_at],
        "here": [] if here is None else [asdict(one) for one in here.versions],
        "problems": [] if here is None else [asdict(one) for one in here.problems],
    }
