"""What the user may choose about a study of a reinforcement-learning program."""

from __future__ import annotations

from dataclasses import dataclass

from netmend.errors import UsageError
from netmend.mutate.agents.pair_verdicts import EVERY, LEAST_RUNS
from netmend.trials.options import TrialOptions


@dataclass(frozen=True)
class Profile:
    """How much is tried."""

    runs: int  # trainings of the original, and of each mutant that is compared with it
    looks: int  # values of a ladder that are tried at most
    replay: int  # starts of the training that are played again
    random: int  # random starts that the weak generator chooses from
    weak: int  # starts that it keeps
    strong: int  # starts of the strong generator
    candidates: int  # random starts that each of them is the best of
    edge: int  # hardest starts that are still passed


PROFILES = {
    "quick": Profile(runs=5, looks=4, replay=40, random=150, weak=50, strong=60, candidates=500, edge=60),
    "standard": Profile(
        runs=10, looks=5, replay=50, random=200, weak=50, strong=100, candidates=500, edge=100
    ),
    "full": Profile(
        runs=10, looks=EVERY, replay=100, random=200, weak=50, strong=100, candidates=500, edge=100
    ),
}


@dataclass(frozen=True)
class RlOptions(TrialOptions):
    profile: str = "quick"
    runs: int | None = None  # instead of the profile's
    looks: int | None = None
    operators: tuple[str, ...] = ()  # codes (M701) or published names (SDF); empty: all that apply
    fails: str = ""  # "return < 200"
    generators: tuple[str, ...] = ()  # of the user's own: NAME=FILE.py:FUNCTION
    estimate_only: bool = False

    @property
    def plan(self) -> Profile:
        from dataclasses import replace

        found = PROFILES.get(self.profile)
        if found is None:
            raise UsageError(f"--profile must be one of {', '.join(PROFILES)}, got {self.profile!r}")
        changed = {
            name: value for name, value in (("runs", self.runs), ("looks", self.looks)) if value is not None
        }
        return replace(found, **changed)

    def checked(self) -> RlOptions:
        plan = self.plan
        if plan.runs < LEAST_RUNS:
            raise UsageError(
                f"--runs must be at least {LEAST_RUNS}, got {plan.runs}: with fewer trainings no difference is significant"
            )
        if plan.looks < 1:
            raise UsageError(f"--looks must be at least 1, got {plan.looks}")
        if self.executor != "local":
            raise UsageError(
                "agents are played again from where they were trained, which needs --executor local; "
                f"got {self.executor!r}"
            )
        return super().checked()
