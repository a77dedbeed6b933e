"""What the user may choose about a repair: how much a search may cost, what counts as better."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from netmend.errors import UsageError
from netmend.trials.options import TrialOptions, option

_UNITS = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


@dataclass(frozen=True)
class Budget:
    """Trainings of the program, or time; either is None: no limit of that kind."""

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


@dataclass(frozen=True)
class Measure:
    """What counts as better; empty: found by itself."""

    pattern: str = option(
        "",
        "The metric: a regular expression over the output whose group is the number.",
        "--metric",
        metavar="REGEX",
    )
    file: str = option(
        "", "The metric: a file that the program writes the number to.", "--metric-file", metavar="FILE"
    )
    higher_is_better: bool | None = option(
        None, "Whether higher or lower is better (default: by the metric's name).", "--maximize/--minimize"
    )

    @property
    def is_given(self) -> bool:
        return bool(self.pattern or self.file)

    def checked(self) -> Measure:
        """Itself; an error for what cannot be read from the output."""
        if self.pattern and self.file:
            raise UsageError("use --metric or --metric-file, not both")
        try:
            groups = re.compile(self.pattern).groups
        except re.error as problem:
            raise UsageError(f"--metric is no regular expression: {problem}") from None
        if self.pattern and groups != 1:
            raise UsageError(
                f"--metric needs one group that holds the number, as in 'val acc ([0-9.]+)'; {self.pattern!r} has {groups}"
            )
        return self


@dataclass(frozen=True)
class RepairOptions(TrialOptions):
    budget: Budget = field(default_factory=Budget)
    measure: Measure = field(default_factory=Measure)
    strict: bool = False
