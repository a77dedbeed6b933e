"""How much a search may cost: in trainings of the program, or in time."""

from __future__ import annotations

import re
from dataclasses import dataclass

from netmend.errors import UsageError

_UNITS = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


@dataclass(frozen=True)
class Budget:
    """Either is None: no limit of that kind."""

    trainings: float | None = 20.0
    seconds: float | None = None

    def __str__(self) -> str:
        return f"{self.trainings:g} trainings" if self.trainings is not None else f"{self.seconds:g} s"


def parse_budget(text: str) -> Budget:
    """`20x`, `20`: trainings; `90s`, `10m`, `2h`: time."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(x|s|m|min|h)?\s*", text)
    if match is None or float(match[1]) <= 0:
        raise UsageError(f"--budget must be like 20x (trainings), 90s, 10m or 2h, got {text!r}")
    unit = match[2] or "x"
    if unit == "x":
        return Budget(float(match[1]))
    return Budget(None, float(match[1]) * _UNITS[unit])
