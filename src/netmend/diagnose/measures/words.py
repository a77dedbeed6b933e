"""Words that the sentences of detectors share."""

from __future__ import annotations

from collections.abc import Sequence


def plural(value: int, noun: str) -> str:
    """`1 tensor`, `2 tensors`."""
    return f"{value:,} {noun}{'' if value == 1 else 's'}"


def few(names: Sequence[str], most: int = 3) -> str:
    """`a, b, c, …`: the first of several names."""
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")
