"""How much a word tells in a bug report: "reproduce" stands in every third one and hardly in any code, so rarity in code misleads."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

from netmend.errors import NetmendError

FILE = Path(__file__).with_name("report_words.txt")


def telling(term: str) -> float:
    """Between 0 (in every report) and 1 (in hardly any)."""
    return _weights().get(term, 1.0)


@cache
def _weights() -> dict[str, float]:
    try:
        first, *lines = FILE.read_text(encoding="utf-8").splitlines()
        total = int(first.split()[1])
        counts = {term: int(count) for term, _, count in (line.partition(" ") for line in lines)}
    except (OSError, ValueError, IndexError) as problem:
        raise NetmendError(
            f"The word list {FILE} cannot be read: {problem}. Install netmend again."
        ) from problem
    whole = math.log(total + 1)
    return {term: math.log((total + 1) / (count + 1)) / whole for term, count in counts.items()}
