"""The mutation score of a test set: how many of the faults that can be noticed at all does it notice, and from which strength on?

Per fault with an ordered parameter, as DeepCrime defines it: the distance from the extreme to the mildest value that the *test set* kills, over the
distance to the mildest value that the *training data* kill; at most 1, and 0 where the test set kills nothing milder than the extreme. Distances are
those of the scale (logarithmic ones in logarithms). Where the training data kill the extreme only, both distances are 0; the fault then counts like
a list of one. Per fault with a list of configurations: the share that the test set kills. The score is the mean over operators.

Left out first: equivalent configurations (not killed by the training data), trivial ones (`triviality`; also those whose training gives no
number), unstable ones (power below 0.8 on the training data) and crashes, which every test set would kill.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from netmend.errors import UsageError
from netmend.mutate.magnitude import Found, Scale
from netmend.mutate.verdicts import CRASH, NOT_A_NUMBER, Verdict

# What became of a mutant: whether it counts, and why not. How trivial it is: so bad that nearly every input shows it.
#
# Triviality: of the inputs that the original handles, the share that the mutant does not; the mean over pairs of runs, each pair weighing the same.
# Taking the share among *handled* inputs lets programs be compared whose originals are right in 80 % or in 99 % of the cases.

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
    scale: Scale
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


TRIVIAL = 0.9
_HANDLED = 0.95  # quantile of the original's own errors up to which an input counts as handled
BoolArray = npt.NDArray[np.bool_]
Runs = Sequence[npt.ArrayLike] | npt.NDArray[np.generic]  # a row per run; rows may differ in length


def triviality(original_right: Runs, mutant_right: Runs) -> float:
    """Rows: runs of the same seed; columns: training inputs (or configurations of an environment), handled or not."""
    shares = []
    for original, mutant in pairs_of_runs(original_right, mutant_right):
        if original.any():
            shares.append(float((~mutant[original]).mean()))
    return float(np.mean(shares)) if shares else 0.0


def triviality_of_errors(original_error: Runs, mutant_error: Runs) -> float:
    """For numbers instead of classes: an input is handled when its error is no larger than nearly all errors of the original."""
    handled: list[tuple[BoolArray, BoolArray]] = []
    for original, mutant in zip(original_error, mutant_error, strict=True):
        own, other = np.asarray(original, dtype=float), np.asarray(mutant, dtype=float)
        known = own[np.isfinite(own)]
        if len(known):
            limit = float(np.quantile(known, _HANDLED))
            handled.append((own <= limit, other <= limit))  # an error that is not a number is not below it
    return triviality([pair[0] for pair in handled], [pair[1] for pair in handled])


def pairs_of_runs(original_right: Runs, mutant_right: Runs) -> list[tuple[BoolArray, BoolArray]]:
    if len(original_right) != len(mutant_right):
        raise UsageError(
            f"Triviality compares pairs of runs, got {len(original_right)} of the original and {len(mutant_right)} of the mutant. "
            "Give the runs of the seeds that both have."
        )
    rows = []
    for original, mutant in zip(original_right, mutant_right, strict=True):
        pair = np.asarray(original, dtype=bool), np.asarray(mutant, dtype=bool)
        if pair[0].shape != pair[1].shape or pair[0].ndim != 1:
            raise UsageError(
                f"A pair of runs must be judged on the same inputs, got shapes {pair[0].shape} and {pair[1].shape}."
            )
        rows.append(pair)
    return rows


def mutation_score(operators: Iterable[OperatorOutcome]) -> Score:
    """An operator may have several outcomes (places in the program); they are averaged first."""
    outcomes = tuple(
        _graded(each) if isinstance(each, GradedOutcome) else _listed(each) for each in operators
    )
    by_operator: dict[str, list[float]] = {}
    for outcome in outcomes:
        own = by_operator.setdefault(outcome.operator, [])
        if outcome.score is not None:
            own.append(outcome.score)
    means = {operator: _mean(scores) for operator, scores in by_operator.items()}
    return Score(_mean([score for score in means.values() if score is not None]), means, outcomes)


def sensitivity(strong: float | None, weak: float | None) -> float | None:
    """How much of the strong test set's score the weak one misses; 0 where it misses nothing, None where there is nothing to miss."""
    if strong is None or weak is None or strong <= 0:
        return None
    return max(0.0, (strong - weak) / strong)


def _listed(outcome: ListedOutcome) -> OutcomeScore:
    standings = [each.standing for each in outcome.configurations]
    counted = [each for each in outcome.configurations if each.standing == COUNTED]
    killed = sum(each.test.killed for each in counted)
    return OutcomeScore(
        outcome.operator,
        killed / len(counted) if counted else None,
        killed,
        len(counted),
        {standing: standings.count(standing) for standing in sorted(set(standings) - {COUNTED})},
    )


def _graded(outcome: GradedOutcome) -> OutcomeScore:
    scale = outcome.scale
    dead = sorted(
        (value for value, found in outcome.training.tried if found.killed and found.reason != CRASH),
        key=scale.position,
    )
    if not dead:
        crashed = any(found.reason == CRASH for _, found in outcome.training.tried)
        return OutcomeScore(outcome.operator, None, left_out={CRASHED if crashed else EQUIVALENT: 1})
    verdicts = outcome.training.verdicts
    stable = [value for value in dead if verdicts[value].stable]
    if not stable:
        return OutcomeScore(outcome.operator, None, left_out={UNSTABLE: 1})
    first = scale.position(stable[0])
    standing = standing_of(verdicts[stable[0]], outcome.triviality.get(stable[0], 0.0))
    if standing != COUNTED:
        return OutcomeScore(outcome.operator, None, left_out={standing: 1})
    killed = [scale.position(value) for value, found in outcome.test.tried if found.killed]
    if not killed:
        score = 0.0
    elif first >= 1:
        score = 1.0
    else:
        score = min(1.0, (1 - min(killed)) / (1 - first))
    return OutcomeScore(outcome.operator, score, bool(killed), 1)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
