"""The names that a text holds: most questions to a text end there, and a set is asked at once."""

from __future__ import annotations

import re
from functools import lru_cache

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@lru_cache(maxsize=64)
def identifiers(text: str) -> frozenset[str]:
    """Every word of a text that could be a name."""
    return frozenset(_NAME.findall(text))
