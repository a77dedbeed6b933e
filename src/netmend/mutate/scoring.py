"""The mutation score of a test set: how many of the faults that can be noticed at all does it notice, and from which strength on?

Per fault with an ordered parameter, as DeepCrime defines it: the distance from the extreme to the mildest value that the *test set* kills, over the
distance to the mildest value that the *training data* kill; at most 1, and 0 where the test set kills nothing milder than the extreme. Distances are
those of the scale (logarithmic ones in logarithms). Where the training data kill the extreme only, both distances are 0; the fault then counts like
a list of one. Per fault with a list of configurations: the share that the test set kills. The score is the mean over operators.

Left out first: equivalent configurations (not killed by the training data), trivial ones (`triviality.py`; also those whose training gives no
number), unstable ones (power below 0.8 on the training data) and crashes, which every test set would kill.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from netmend.mutate.outcomes import (
    COUNTED,
    CRASHED,
    EQUIVALENT,
    UNSTABLE,
    GradedOutcome,
    ListedOutcome,
    OperatorOutcome,
    OutcomeScore,
    Score,
    standing_of,
)
from netmend.mutate.verdicts import CRASH


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
    unstable = standings.count(UNSTABLE)
    return OutcomeScore(
        outcome.operator,
        killed / len(counted) if counted else None,
        killed,
        len(counted),
        {standing: standings.count(standing) for standing in sorted(set(standings) - {COUNTED})},
        unstable / (unstable + len(counted)) if unstable else 0.0,
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
        return OutcomeScore(outcome.operator, None, left_out={UNSTABLE: 1}, instability=1.0)
    first = scale.position(stable[0])
    range_killed = 1 - scale.position(dead[0])
    instability = (first - scale.position(dead[0])) / range_killed if range_killed else 0.0
    standing = standing_of(verdicts[stable[0]], outcome.triviality.get(stable[0], 0.0))
    if standing != COUNTED:
        return OutcomeScore(outcome.operator, None, left_out={standing: 1}, instability=instability)
    killed = [scale.position(value) for value, found in outcome.test.tried if found.killed]
    if not killed:
        score = 0.0
    elif first >= 1:
        score = 1.0
    else:
        score = min(1.0, (1 - min(killed)) / (1 - first))
    return OutcomeScore(outcome.operator, score, bool(killed), 1, {}, instability)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
