"""Numbers and lists as they stand on the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

MISSED = "▼"  # beside a number that misses its aim


def share(part: int, whole: int, digits: int = 0) -> str:
    return f"{part} of {whole} ({part / whole:.{digits}%})" if whole else "–"


def number(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def marked(text: str, good: bool) -> str:
    return text if good else f"{text} {MISSED}"


def codes(found: Iterable[str]) -> str:
    """Codes in the order of the alphabet, with how often they come."""
    counts = Counter(found)
    return (
        ", ".join(f"`{code}`" + (f" ({n})" if n > 1 else "") for code, n in sorted(counts.items())) or "none"
    )


def joined(parts: list[str]) -> str:
    """a, b and c."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}" if parts else ""
