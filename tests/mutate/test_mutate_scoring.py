"""The mutation score by hand: graded and listed operators, what is left out, sensitivity, subsets."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from mutation_measures import subset_scores

from netmend.errors import UsageError
from netmend.mutate import scoring
from netmend.mutate.magnitude import Found, Scale
from netmend.mutate.scoring import Configuration, GradedOutcome, ListedOutcome, mutation_score, sensitivity
from netmend.mutate.verdicts import NO_DIFFERENCE, NOT_A_NUMBER, WORSE, Verdict, crash_verdict

DEAD = Verdict(True, 0.001, 2.0, 0.95, False, 5, WORSE)
SHAKY = dataclasses.replace(DEAD, power=0.7)
ALIVE = Verdict(False, 0.4, 0.1, 0.06, False, 5, NO_DIFFERENCE)
NOWHERE = dataclasses.replace(DEAD, reason=NOT_A_NUMBER)

PERCENT = Scale(0, 100, 5)


def listed(*configurations: tuple[Verdict, Verdict] | tuple[Verdict, Verdict, float]) -> ListedOutcome:
    return ListedOutcome("M1", tuple(Configuration(str(i), *each) for i, each in enumerate(configurations)))


def graded(training: dict[float, Verdict], test: dict[float, Verdict], **more: object) -> GradedOutcome:
    def found(tried: dict[float, Verdict]) -> Found:
        dead = [value for value, verdict in tried.items() if verdict.killed]
        return Found(min(dead, default=None), 0.0, tuple(tried.items()))

    return GradedOutcome("M2", PERCENT, found(training), found(test), **more)  # type: ignore[arg-type]


def test_a_list_counts_the_share_killed() -> None:
    score = mutation_score([listed((DEAD, DEAD), (DEAD, ALIVE), (DEAD, ALIVE), (DEAD, DEAD))])
    assert (score.score, score.killed, score.killable, score.defined) == (0.5, 2, 4, 1)


@pytest.mark.parametrize(
    ("configuration", "standing"),
    [
        ((ALIVE, DEAD), scoring.EQUIVALENT),
        ((DEAD, DEAD, 0.9), scoring.TRIVIALLY_KILLED),
        ((NOWHERE, NOWHERE), scoring.TRIVIALLY_KILLED),
        ((SHAKY, DEAD), scoring.UNSTABLE),
        ((crash_verdict(3), crash_verdict(3)), scoring.CRASHED),
    ],
)
def test_what_is_left_out(configuration: tuple[Verdict, Verdict], standing: str) -> None:
    score = mutation_score([listed(configuration, (DEAD, ALIVE, 0.89))])
    assert (score.score, score.killable) == (0.0, 1)
    assert score.left_out(standing) == 1
    alone = mutation_score([listed(configuration)])
    assert (alone.score, alone.operators, alone.defined) == (None, {"M1": None}, 0)


def test_a_graded_fault_counts_distances_from_the_extreme() -> None:
    training = {100: DEAD, 50: DEAD, 25: ALIVE, 40: DEAD}
    test = {100: DEAD, 50: ALIVE, 70: DEAD}
    assert mutation_score([graded(training, test)]).score == pytest.approx((100 - 70) / (100 - 40))


def test_as_mild_as_the_training_data_is_all() -> None:
    training = {100: DEAD, 50: DEAD}
    assert mutation_score([graded(training, {100: DEAD, 50: DEAD})]).score == 1.0
    assert mutation_score([graded(training, {100: DEAD, 10: DEAD})]).score == 1.0  # never more than all


def test_a_test_set_that_kills_nothing_milder() -> None:
    training = {100: DEAD, 50: DEAD}
    only_extreme = mutation_score([graded(training, {100: DEAD, 50: ALIVE})])
    nothing = mutation_score([graded(training, {100: ALIVE})])
    assert (only_extreme.score, only_extreme.killed) == (0.0, 1)
    assert (nothing.score, nothing.killed, nothing.killable) == (0.0, 0, 1)


def test_where_training_data_kill_the_extreme_only() -> None:
    training = {100: DEAD, 95: ALIVE}
    assert mutation_score([graded(training, {100: DEAD})]).score == 1.0
    assert mutation_score([graded(training, {100: ALIVE})]).score == 0.0


def test_logarithmic_scales_count_in_logarithms() -> None:
    scale = Scale(1.0, 0.0001, 2.0, logarithmic=True)
    training = Found(0.01, 0.1, ((0.0001, DEAD), (0.01, DEAD)))
    test = Found(0.001, 0.01, ((0.0001, DEAD), (0.001, DEAD)))
    assert mutation_score([GradedOutcome("M3", scale, training, test)]).score == pytest.approx(1 / 2)


def test_a_graded_fault_starts_where_it_is_stable() -> None:
    training = {100: DEAD, 20: SHAKY, 60: DEAD}
    outcome = mutation_score([graded(training, {100: DEAD, 60: DEAD})]).outcomes[0]
    assert outcome.score == 1.0
    never = mutation_score([graded({100: SHAKY}, {100: DEAD})])
    assert never.score is None and never.left_out(scoring.UNSTABLE) == 1


def test_a_graded_fault_may_be_left_out() -> None:
    assert mutation_score([graded({100: ALIVE}, {100: DEAD})]).left_out(scoring.EQUIVALENT) == 1
    crashed = mutation_score([graded({100: crash_verdict(3)}, {100: crash_verdict(3)})])
    assert crashed.score is None and crashed.left_out(scoring.CRASHED) == 1
    training = {100: DEAD, 50: DEAD}
    trivial = mutation_score([graded(training, training, triviality={50: 0.95})])
    assert trivial.score is None and trivial.left_out(scoring.TRIVIALLY_KILLED) == 1
    # The extreme alone being trivial is no reason: milder values are searched for because of that.
    assert mutation_score([graded(training, training, triviality={100: 0.95})]).score == 1.0


def test_places_are_averaged_before_operators() -> None:
    one = ListedOutcome("M1", (Configuration("a", DEAD, DEAD),))
    other = ListedOutcome("M1", (Configuration("b", DEAD, ALIVE),))
    third = ListedOutcome("M9", (Configuration("c", DEAD, DEAD),))
    score = mutation_score([one, other, third])
    assert score.operators == {"M1": 0.5, "M9": 1.0}
    assert score.score == 0.75


def test_no_operators() -> None:
    assert mutation_score([]).score is None


def test_sensitivity() -> None:
    assert sensitivity(0.6, 0.4) == pytest.approx(1 / 3)
    assert sensitivity(0.4, 0.6) == 0.0
    assert sensitivity(0.0, 0.0) is None
    assert sensitivity(None, 0.3) is None and sensitivity(0.3, None) is None


RESULTS = np.array([[1, 1, 0, 0], [1, 0, 0, 1]], dtype=bool)


def test_subsets_are_scored_from_stored_results() -> None:
    assert subset_scores(RESULTS, [0, 1]) == [1.0, 0.5]
    assert subset_scores(RESULTS, np.array([False, True, True, True])) == pytest.approx([1 / 3, 1 / 3])
    assert subset_scores([[0.5, 1.5]], [1]) == [1.5]


def test_subsets_bad_input() -> None:
    for nothing in ([], [False] * 4):
        with pytest.raises(UsageError, match="no inputs"):
            subset_scores(RESULTS, nothing)
    with pytest.raises(UsageError, match="a row per run"):
        subset_scores(RESULTS[0], [0])
