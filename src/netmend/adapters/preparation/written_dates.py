"""Dates written with numbers: what stands first, day or month, and what they were read as."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_DATE = re.compile(r"^\s*(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})(?!\d)")
_ENOUGH = 24  # dates, before the absence of a 13th month says anything
_CERTAIN = 5  # dates that can only be read one way
_SHARE = 0.1  # of all dates
_MONTHS = 10  # of the year that monthly dates have to cover


@dataclass(frozen=True)
class Mirrored:
    """Dates whose day and month were exchanged."""

    share: float  # of all dates
    first: str  # what stands first in the texts: "day" or "month"
    certain: int  # dates that can only be read so


def fields(text: str) -> tuple[int, int] | None:
    """The two numbers before the year."""
    found = _DATE.match(text)
    return (int(found[1]), int(found[3])) if found else None


def comes_first(texts: Sequence[str]) -> tuple[str, int]:
    """What stands first in all of these dates, "day" or "month", and how many prove it; "" where nothing does, or some contradict."""
    found = [pair for text in texts if (pair := fields(text)) is not None]
    if len(found) < max(_ENOUGH, 0.5 * len(texts)):
        return "", 0
    first, second = (sum(pair[place] > 12 for pair in found) for place in (0, 1))
    needed = max(_CERTAIN, _SHARE * len(found))
    if first >= needed and not second:
        return "day", first
    if second >= needed and not first:
        return "month", second
    ones, others = {pair[0] for pair in found}, {pair[1] for pair in found}
    if ones == {1} and len(others) >= _MONTHS and not first and not second:
        return "day", len(found)  # the first of every month
    return "", 0


def mirrored(texts: Sequence[str], dates: Sequence[Any]) -> Mirrored | None:
    """Dates that were read with day and month exchanged though the texts show what stands first; None where there are none."""
    first, certain = comes_first(texts)
    if not first:
        return None
    wrong = count = 0
    for text, date in zip(texts, dates, strict=True):
        pair = fields(text)
        if pair is None or getattr(date, "month", None) is None or date != date:
            continue
        count += 1
        day, month = pair if first == "day" else pair[::-1]
        wrong += day != month and (date.day, date.month) == (month, day)
    return Mirrored(wrong / count, first, certain) if count and wrong > 0.01 * count else None
