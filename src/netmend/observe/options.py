"""Options of a recording: how closely to look, and where to keep the trace."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from netmend.errors import UsageError


@dataclass(frozen=True)
class Options:
    overhead: float = 0.01
    every: int | None = None  # full statistics at every n-th step, whatever it costs
    full: bool = False  # all statistics at every step
    trap: bool = False  # wait for the device at each step, to catch non-finite values where they arise
    directory: Path | None = None  # holds `runs/`; None: $NETMEND_DIR or .netmend in the working directory
    probe: bool = False  # train copies of the model on its first batch, to learn more about it

    def __post_init__(self) -> None:
        if self.every is not None and self.every < 1:
            raise UsageError(f"--every must be at least 1, got {self.every}")


def parse_interval(text: str | None) -> int | None:
    """A number of steps."""
    if text is None:
        return None
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"--every must be a whole number of steps, got {text!r}") from None


def parse_share(text: str | float) -> float:
    """A share such as "1%", "0.5 %" or 0.01."""
    problem = UsageError(f"--overhead must be a share such as 1% or 0.01, got {text!r}")
    if isinstance(text, str):
        number = text.strip().removesuffix("%").strip()
        try:
            value = float(number) / (100 if text.strip().endswith("%") else 1)
        except ValueError:
            raise problem from None
    else:
        value = float(text)
    if not 0 < value <= 1:
        raise problem
    return value
