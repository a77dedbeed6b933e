"""What the user may choose about mutation testing, and what the profiles mean."""

from __future__ import annotations

from dataclasses import dataclass

from netmend.errors import UsageError
from netmend.mutate.interim_analyses import Looks
from netmend.trials.options import TrialOptions


@dataclass(frozen=True)
class Profile:
    """How much is trained."""

    name: str
    pairs: tuple[int, ...]  # trainings after which a mutant is looked at
    singles: int | None  # mutants of an operator without a strength; None: all
    knobs: int | None  # places of an operator with a strength
    # of the range between no fault and the extreme; None: down to the operator's precision
    halvings: int | None

    @property
    def looks(self) -> Looks:
        return Looks(self.pairs)


PROFILES = {
    "quick": Profile("quick", (3, 5), 2, 1, 1),
    "standard": Profile("standard", (3, 5, 8, 10), 4, 3, 4),
    "full": Profile("full", (3, 5, 10, 15, 20), None, None, None),
}


@dataclass(frozen=True)
class MutateOptions(TrialOptions):
    tests: tuple[str, ...] = ()  # as `--test` takes them; none: what the program itself evaluates last
    subsets: tuple[str, ...] = ()  # as `--subset` takes them
    profile: str = "quick"
    operators: tuple[str, ...] = ()  # codes or beginnings of codes; none: all
    weights: bool = True  # also mutants of the trained weights, which need no training
    estimate_only: bool = False
    repetition: int = 0  # other seeds, to see whether verdicts are the same

    def checked(self) -> MutateOptions:
        """Itself; an error for what makes no sense."""
        if self.profile not in PROFILES:
            raise UsageError(f"--profile must be {', '.join(PROFILES)}, got {self.profile!r}")
        return super().checked()

    @property
    def how_much(self) -> Profile:
        return PROFILES[self.profile]
