"""What the user may choose about a neutrality analysis."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

from netmend.errors import UsageError
from netmend.repair.options import Budget, Measure
from netmend.trials.options import TrialOptions


@dataclass(frozen=True)
class NeutralOptions(TrialOptions):
    budget: Budget = field(default_factory=lambda: Budget(60.0))
    measure: Measure = field(default_factory=Measure)
    seeds: int = 3  # trainings of one configuration
    width: int = 5  # configurations that are expanded at each depth
    depth: int = 3  # changes away from the program as it is
    fix: Path | None = None  # another version of the script, known to be good
    like: float | None = None  # or a value to reach

    def checked(self) -> NeutralOptions:
        """Itself; an error for what makes no sense."""
        if self.fix is not None and self.like is not None:
            raise UsageError("use --fix or --like, not both: either sets what the alternatives have to reach")
        if self.like is not None and not math.isfinite(self.like):
            raise UsageError(f"--like must be a number that the measure can reach, got {self.like}")
        for name, value in (("--seeds", self.seeds), ("--width", self.width), ("--depth", self.depth)):
            if value < 1:
                raise UsageError(f"{name} must be at least 1, got {value}")
        return super().checked()
