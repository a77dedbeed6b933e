"""Fisher's test per pair and the kill rate: exact shares, discarded pairs, empty tables."""

from __future__ import annotations

import pytest
from mutation_measures import kill_rate_score
from scipy.stats import fisher_exact

from netmend.errors import UsageError
from netmend.mutate.agents.pair_verdicts import (
    DISCARDED,
    KILLED,
    SURVIVED,
    Counts,
    KillRate,
    PairOutcome,
    successes_verdict,
)

FINE, FAILING = Counts(48, 2), Counts(20, 30)


def rate(killed: int, survived: int, discarded: int = 0) -> KillRate:
    outcomes = [KILLED] * killed + [SURVIVED] * survived + [DISCARDED] * discarded
    return KillRate(tuple(PairOutcome(0.01, outcome) for outcome in outcomes))


def test_pairs_are_judged_by_fishers_test() -> None:
    found = successes_verdict([(FINE, FAILING), (FINE, FINE), (FAILING, FINE)])
    assert [pair.outcome for pair in found.pairs] == [KILLED, SURVIVED, DISCARDED]
    assert found.pairs[0].p_value == pytest.approx(fisher_exact([[48, 2], [20, 30]]).pvalue)
    assert (found.killed_pairs, found.discarded, found.compared, found.rate) == (1, 1, 2, 0.5)
    assert found.killed


@pytest.mark.parametrize(
    ("killed", "survived", "expected"),
    # 2 of 5 is below a half, though rounding 2.5 to an even number would make it enough
    [(2, 3, False), (3, 2, True), (1, 1, True), (0, 1, False), (1, 0, True), (1, 2, False), (5, 5, True)],
)
def test_a_half_is_a_half(killed: int, survived: int, expected: bool) -> None:
    assert rate(killed, survived).killed is expected
    assert rate(killed, survived).rate == killed / (killed + survived)


def test_discarded_pairs_do_not_count() -> None:
    assert rate(2, 2, discarded=6).killed
    assert rate(2, 2, discarded=6).rate == 0.5
    assert rate(2, 2, discarded=6).better and not rate(2, 2, discarded=3).better


def test_nothing_left_is_not_killed() -> None:
    found = successes_verdict([(FAILING, FINE)] * 3)
    assert (found.compared, found.rate, found.killed, found.better) == (0, 0.0, False, True)


def test_p_equal_to_alpha_is_no_kill() -> None:
    exact = fisher_exact([[48, 2], [20, 30]]).pvalue
    assert successes_verdict([(FINE, FAILING)], alpha=exact).rate == 0.0
    assert successes_verdict([(FINE, FAILING)], alpha=exact * 1.01).rate == 1.0


def test_agents_that_always_or_never_succeed() -> None:
    assert successes_verdict([(Counts(50, 0), Counts(50, 0))]).pairs[0].p_value == 1.0
    assert successes_verdict([(Counts(0, 50), Counts(0, 50))]).rate == 0.0
    assert successes_verdict([(Counts(50, 0), Counts(0, 50))]).rate == 1.0


def test_without_episodes_nothing_is_shown() -> None:
    assert successes_verdict([(Counts(0, 0), FAILING)]).pairs == (PairOutcome(1.0, SURVIVED),)
    assert Counts(0, 0).failure_share == 0.0


def test_bad_input() -> None:
    with pytest.raises(UsageError, match="-1 successes"):
        Counts(-1, 3)
    with pytest.raises(UsageError, match="No pair"):
        successes_verdict([])
    with pytest.raises(UsageError, match="alpha"):
        successes_verdict([(FINE, FINE)], alpha=2)


def test_the_score_is_the_mean_of_rates_not_of_kills() -> None:
    rates = {"SDF": [rate(4, 6), rate(10, 0)], "NEI": [rate(0, 10)], "SLS": []}
    assert kill_rate_score(rates) == pytest.approx((0.7 + 0.0) / 2)
    assert kill_rate_score({"SLS": []}) is None
    assert kill_rate_score({}) is None
