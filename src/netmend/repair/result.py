"""What a repair found: the patch, what was tried, and the proof. Everything that reports need."""

from __future__ import annotations

from dataclasses import dataclass, field

from netmend.repair.objective import Objective
from netmend.repair.search import Attempt
from netmend.repair.version import OfVersion, Version
from netmend.trials.trial import Outcome
from netmend.vocabulary import Diagnosis
from netmend.vocabulary.verification import NONE, Verification


@dataclass(frozen=True)
class Result(OfVersion):
    """A repair from start to end."""

    script: str
    directory: str
    arguments: tuple[str, ...]
    version: Version  # without parts: nothing was found
    objective: Objective | None
    baseline: Outcome
    best: Outcome
    diagnosis: Diagnosis | None
    attempts: tuple[Attempt, ...]
    verification: Verification | None
    trainings: float  # of the search, in trainings of the program as it is
    seconds: float  # of all trials together
    budget: str
    stopped: str = ""  # why the search ended
    problems: tuple[str, ...] = ()  # parts of netmend that failed meanwhile
    before: tuple[Outcome, ...] = field(default=())  # verification, per seed
    after: tuple[Outcome, ...] = field(default=())

    @property
    def verdict(self) -> str:
        """proven, promising or none."""
        return NONE if self.verification is None else self.verification.verdict
