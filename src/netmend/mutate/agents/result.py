"""What a study of a reinforcement-learning program has found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

KILLED, SURVIVED, CRASHED, UNDECIDED = "killed", "survived", "crash", "undecided"
REPLAY, WEAK, STRONG, EDGE = "replay", "weak", "strong", "edge"
TRIVIAL_FROM = 0.9  # share of the starts that the original passes and the mutant does not


@dataclass(frozen=True)
class Tried:
    """One value of one ladder, judged on the starts of the training and, where it survives these, at the edge."""

    title: str
    cause: str
    direction: str
    value: float
    grade: float  # how far from the program as it is, 0 … 1 of its ladder
    status: str
    rate: float  # KR on the starts of the training
    pairs: int  # that were compared
    trivial: float  # share of passed starts of the training at which the mutant fails
    edge: float | None = None  # KR at the edge, where it was played there

    @property
    def is_trivial(self) -> bool:
        return self.status == CRASHED or self.trivial > TRIVIAL_FROM


@dataclass(frozen=True)
class Revealing:
    """A start, and how many of the pairs it tells apart: the original passes, the mutant fails."""

    start: tuple[float, ...]
    words: str
    share: float
    generator: str


@dataclass(frozen=True)
class OperatorResult:
    code: str
    published: str
    title: str
    tried: tuple[Tried, ...]
    chosen: Tried | None = None  # killable, not trivial, closest to the original
    lines: tuple[tuple[str, int], ...] = ()  # what the chosen mutant changes
    rates: Mapping[str, float] = field(default_factory=dict)  # generator → KR of the chosen one
    killed: Mapping[str, bool] = field(default_factory=dict)
    revealing: tuple[Revealing, ...] = ()

    @property
    def killable(self) -> float:
        """Share of the tried values that the training's own starts or those at the edge kill."""
        return _share([each.status in (KILLED, CRASHED) for each in self.tried])

    @property
    def trivial(self) -> float:
        return _share([each.is_trivial for each in self.tried])

    @property
    def verdict(self) -> str:
        if self.chosen is not None:
            return "killable"
        if not self.tried:
            return "not tried"
        if any(each.status == UNDECIDED for each in self.tried):
            return "not finished"
        if any(each.status in (KILLED, CRASHED) for each in self.tried):
            return "crashes" if any(each.status == CRASHED for each in self.tried) else "only trivially"
        return "likely equivalent"

    def sensitivity(self, strong: str = STRONG) -> float | None:
        """(KR strong − KR weak) / KR strong; None where the strong generator kills no pair."""
        if strong not in self.rates or WEAK not in self.rates or self.rates[strong] <= 0:
            return None
        return max(0.0, (self.rates[strong] - self.rates[WEAK]) / self.rates[strong])


@dataclass(frozen=True)
class Covering:
    """A start of a list that is the same for all mutants, and the mutants that it reveals."""

    start: tuple[float, ...]
    words: str
    generator: str
    reveals: tuple[str, ...]


@dataclass(frozen=True)
class Estimate:
    """What is still to be done, at least and at most."""

    trainings: tuple[int, int]
    seconds: tuple[float, float]

    @property
    def words(self) -> str:
        low, high = self.trainings
        return f"{low} to {high} trainings, {_duration(self.seconds[0])} to {_duration(self.seconds[1])}"


@dataclass(frozen=True)
class RlStudy:
    script: str
    directory: str
    algorithm: str
    environment: str
    criterion: str
    profile: str
    runs: int
    original_failures: tuple[float, ...]  # share of random starts that each original fails at
    original_returns: tuple[float, ...]
    operators: tuple[OperatorResult, ...]
    generators: tuple[str, ...]
    covering: tuple[Covering, ...] = ()
    estimate: Estimate | None = None
    trainings: int = 0
    cached: int = 0
    seconds: float = 0.0  # from start to end of all trials, as other work on the machine let them
    cpu_seconds: float = 0.0  # that the processor worked for them
    stopped: str = ""
    problems: tuple[str, ...] = ()

    @property
    def scored(self) -> tuple[OperatorResult, ...]:
        return tuple(each for each in self.operators if each.chosen is not None and each.rates)

    def score(self, generator: str, published_only: bool = False) -> float | None:
        """Mean KR over the operators with a killable, non-trivial mutant."""
        rates = [each.rates[generator] for each in self._among(published_only) if generator in each.rates]
        return sum(rates) / len(rates) if rates else None

    def sensitivity(self, strong: str = STRONG, published_only: bool = False) -> float | None:
        """Mean over operators."""
        own = [each.sensitivity(strong) for each in self._among(published_only)]
        known = [each for each in own if each is not None]
        return sum(known) / len(known) if known else None

    def _among(self, published_only: bool) -> list[OperatorResult]:
        from netmend.mutate.agents.published import rows_for

        rows = rows_for(self.environment, self.algorithm)
        return [each for each in self.scored if not published_only or each.published in rows]


def _share(which: list[bool]) -> float:
    return sum(which) / len(which) if which else 0.0


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
