"""What mutation testing found out about each operator, and what that makes of a test set: the data of the mutation score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from netmend.mutate.magnitude_search import Found, Range
from netmend.mutate.triviality import TRIVIAL
from netmend.mutate.verdicts import CRASH, NOT_A_NUMBER, Verdict

# What becomes of a configuration in the score.
COUNTED = "counted"
EQUIVALENT = "equivalent"  # not killed by the training data
TRIVIALLY_KILLED = "trivial"
UNSTABLE = "unstable"
CRASHED = "crashed"


def standing_of(training: Verdict, trivial: float) -> str:
    """COUNTED, or why a configuration that was judged so on the training data is left out."""
    if training.reason == CRASH:
        return CRASHED
    if not training.killed:
        return EQUIVALENT
    if training.reason == NOT_A_NUMBER or trivial >= TRIVIAL:
        return TRIVIALLY_KILLED
    return COUNTED if training.stable else UNSTABLE


@dataclass(frozen=True)
class Configuration:
    """One mutant without a strength, judged on the training data and on the test set."""

    name: str
    training: Verdict
    test: Verdict
    triviality: float = 0.0

    @property
    def standing(self) -> str:
        return standing_of(self.training, self.triviality)


@dataclass(frozen=True)
class ListedOutcome:
    operator: str
    configurations: tuple[Configuration, ...]


@dataclass(frozen=True)
class GradedOutcome:
    """One fault with a strength at one place, searched with the training data and with the test set."""

    operator: str
    scale: Range
    training: Found
    test: Found
    triviality: Mapping[float, float] = field(default_factory=dict)  # by value; missing ones are 0


OperatorOutcome = ListedOutcome | GradedOutcome


@dataclass(frozen=True)
class OutcomeScore:
    """Of one outcome: a knob, or a list of configurations."""

    operator: str
    score: float | None  # None: nothing is left that the test set could have killed
    killed: int = 0  # of the killable ones, by the test set
    killable: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)  # by standing
    instability: float = 0.0  # share of the killed range (or of the killed configurations) that is not stable


@dataclass(frozen=True)
class Score:
    score: float | None  # the mean over operators; None: no operator has one
    operators: Mapping[str, float | None]  # the mean over an operator's outcomes
    outcomes: tuple[OutcomeScore, ...]  # in the order given

    @property
    def defined(self) -> int:
        """Operators with a score."""
        return sum(score is not None for score in self.operators.values())

    @property
    def killed(self) -> int:
        return sum(outcome.killed for outcome in self.outcomes)

    @property
    def killable(self) -> int:
        return sum(outcome.killable for outcome in self.outcomes)

    def left_out(self, standing: str) -> int:
        return sum(outcome.left_out.get(standing, 0) for outcome in self.outcomes)
