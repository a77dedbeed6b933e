"""Words that the sentences of detectors share."""

from __future__ import annotations


def plural(value: int, noun: str) -> str:
    """`1 tensor`, `2 tensors`."""
    return f"{value:,} {noun}{'' if value == 1 else 's'}"
