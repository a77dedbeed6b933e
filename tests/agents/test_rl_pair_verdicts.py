"""Killed pair by pair and over the trainings, at lists that a pair has not helped to choose."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from netmend.mutate.agents.episodes import FELL, Episodes
from netmend.mutate.agents.generators import counts, one_after_another, same_for_all, weak_and_edge
from netmend.mutate.agents.options import PROFILES
from netmend.mutate.agents.pair_verdicts import Counts, decided, successes_verdict, verdict_of
from netmend.mutate.agents.result import EDGE, WEAK

PLAN = PROFILES["quick"]
GOOD, SLIP, BAD = Counts(40, 0), Counts(36, 4), Counts(0, 40)


@pytest.mark.parametrize(
    ("pairs", "killed"),
    [
        ([(GOOD, BAD)] * 5, True),
        ([(GOOD, BAD)] * 3, True),
        ([(GOOD, GOOD)] * 5, False),
        ([(GOOD, BAD)] * 4 + [(GOOD, GOOD)], True),  # one training in five is none the worse
        (
            [(GOOD, BAD)] * 2 + [(GOOD, GOOD)] * 2,
            False,
        ),  # half of the pairs, but the trainings differ as much
        ([(GOOD, BAD)] * 3 + [(BAD, GOOD)] * 2, False),  # KR 1: pairs that are better do not count there
        ([(GOOD, SLIP)] * 5, False),  # always worse, in no pair significantly
    ],
)
def test_killed_takes_both_the_pairs_and_the_trainings(
    pairs: list[tuple[Counts, Counts]], killed: bool
) -> None:
    assert verdict_of(pairs).killed is killed


def test_what_is_decided_early_stays() -> None:
    tables = {"k": (GOOD, BAD), "s": (GOOD, GOOD), "d": (BAD, GOOD)}
    saved = 0
    for signs in itertools.product("ksd", repeat=5):
        pairs = [tables[sign] for sign in signs]
        verdicts = [decided(pairs[:known], 5) for known in range(1, 6)]
        first = next(verdict for verdict in verdicts if verdict is not None)
        assert first is not verdicts[0] and verdicts[-1] is not None
        if first.killed:
            assert successes_verdict(pairs).killed, signs
        elif not verdicts[-1].killed:
            saved += 5 - len(first.pairs.pairs)
    assert saved > 100


def fails_beyond(limits: list[float], starts: np.ndarray) -> list[Episodes]:
    """Agents that fail at starts beyond what they can bear; in both directions from 0."""
    found = []
    for limit in limits:
        failed = np.abs(starts[:, 0]) > limit
        length, left = np.where(failed, 10.0, 500.0), np.clip(limit - np.abs(starts[:, 0]), 0, None)
        found.append(Episodes(starts, starts, length, length, failed, left, left, length))
    return found


def test_a_pair_is_judged_where_its_own_original_was_not_asked() -> None:
    starts = np.linspace(-1, 1, PLAN.random)[:, None]
    limits = [0.3, 0.5, 0.5, 0.5, 0.5]
    lists, failed = weak_and_edge(fails_beyond(limits, starts), fails_beyond(limits, starts), FELL, PLAN)
    edge = lists[EDGE]
    shares = [edge.counts(pair, each).failure_share for pair, each in enumerate(failed[EDGE])]
    assert shares[0] >= 0.5  # the others pass them, it does not: no choice in its favour
    assert shares[1:] == [0.0] * 4
    assert all(len(own) == PLAN.edge for own in edge.own) and len(edge.rows) > PLAN.edge
    assert np.array_equal(edge.rows_of(1), edge.rows[edge.own[1]])
    assert np.abs(lists[WEAK].rows).max() <= 0.5


def test_lists_are_joined_so_that_each_pair_finds_its_own() -> None:
    joined = one_after_another([np.zeros((2, 1)), np.ones((3, 1))], [0, 1, 0])
    assert [each.tolist() for each in joined.own] == [[0, 1], [2, 3, 4], [0, 1]]
    assert joined.counts(1, np.array([True, True, False, False, True])) == Counts(2, 1)
    assert len(same_for_all(np.zeros((4, 1)), 3).rows_of(2)) == 4


def killed_of_equals(spread: float, useless: float, times: int) -> tuple[float, float]:
    """How often a mutant is called killable that is the original trained again: by our rule, and by half of the pairs alone."""
    random, ours, pairs_alone = np.random.default_rng(3), 0, 0
    for _ in range(times):
        starts = random.uniform(-1, 1, (PLAN.random, 1))
        limits = np.where(random.random(10) < useless, -1.0, 0.6 + spread * random.normal(size=10))
        originals, mutants = fails_beyond(list(limits[:5]), starts), fails_beyond(list(limits[5:]), starts)
        edge = weak_and_edge(originals, originals, FELL, PLAN)[0][EDGE]
        order = [np.flatnonzero(np.isin(starts[:, 0], edge.rows_of(pair)[:, 0])) for pair in range(5)]
        pairs = [
            (counts(old.terminated[own]), counts(new.terminated[own]))
            for old, new, own in zip(originals, mutants, order, strict=True)
        ]
        ours += verdict_of(pairs).killed
        pairs_alone += successes_verdict(pairs).killed
    return ours / times, pairs_alone / times


@pytest.mark.parametrize(("spread", "useless"), [(0.0, 0.0), (0.3, 0.0), (0.2, 0.2), (0.05, 0.5)])
def test_equals_are_killed_at_most_at_the_level(spread: float, useless: float) -> None:
    ours, alone = killed_of_equals(spread, useless, 300)
    assert ours <= 0.05 + 2 * (0.05 * 0.95 / 300) ** 0.5
    assert (spread, useless) == (0.0, 0.0) or alone > 0.1  # what the pairs alone would say
