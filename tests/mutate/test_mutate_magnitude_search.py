"""The search for the mildest killed value: ends, precision, whole numbers, logarithms, known values."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netmend.mutate.magnitude import Found, Scale, mildest_killed
from netmend.mutate.verdicts import NO_DIFFERENCE, WORSE, Verdict

DEAD = Verdict(True, 0.001, 2.0, 0.95, False, 5, WORSE)
ALIVE = Verdict(False, 0.4, 0.1, 0.06, False, 5, NO_DIFFERENCE)

PERCENT = Scale(0, 100, 5, whole=True)
RATE_DOWN = Scale(1.0, 0.001, 2.0, logarithmic=True)
EPOCHS_DOWN = Scale(12, 1, 1, whole=True)


def beyond(scale: Scale, limit: float) -> Callable[[float], Verdict]:
    """Killed from a value on."""
    return lambda value: DEAD if scale.position(value) >= scale.position(limit) - 1e-12 else ALIVE


def is_orderly(found: Found) -> bool:
    """Whether every tried value beyond a killed one is killed too, as the halving supposes."""
    outcomes = [verdict.killed for _, verdict in sorted(found.tried)]
    return outcomes == sorted(outcomes)


def test_the_extreme_is_asked_first_and_ends_it() -> None:
    found = mildest_killed(PERCENT, lambda value: ALIVE)
    assert found == Found(None, 100, ((100, ALIVE),))


def test_percent() -> None:
    found = mildest_killed(PERCENT, beyond(PERCENT, 33))
    assert found.killed is not None
    assert found.survived < 33 <= found.killed <= found.survived + 5
    assert [value for value, _ in found.tried][:3] == [100, 50, 25]
    assert len(found.tried) <= 2 + math.log2(100 / 5)
    assert all(value == int(value) for value, _ in found.tried)
    assert is_orderly(found)


def test_where_even_the_mildest_tried_is_killed() -> None:
    found = mildest_killed(PERCENT, lambda value: DEAD)
    assert found.killed is not None and found.killed <= 5
    assert found.survived == 0
    assert 0 not in found.verdicts  # no fault at all is never tried


def test_downwards_in_logarithms() -> None:
    found = mildest_killed(RATE_DOWN, beyond(RATE_DOWN, 0.02))
    assert found.killed is not None
    assert found.killed <= 0.02 < found.survived <= 2.0 * found.killed * 1.001
    assert found.tried[1][0] == pytest.approx(math.sqrt(0.001), rel=1e-3)


def test_downwards_in_whole_numbers() -> None:
    for limit in range(1, 12):
        found = mildest_killed(EPOCHS_DOWN, beyond(EPOCHS_DOWN, limit))
        assert (found.killed, found.survived) == (limit, limit + 1)


def test_each_value_is_asked_once() -> None:
    asked: list[float] = []

    def killed(value: float) -> Verdict:
        asked.append(value)
        return beyond(PERCENT, 60)(value)

    mildest_killed(PERCENT, killed, known=[50, 75, 100, 50])
    assert len(asked) == len(set(asked))


def test_known_values_narrow_the_range() -> None:
    found = mildest_killed(PERCENT, beyond(PERCENT, 40), known=[30, 45, 0])
    tried = [value for value, _ in found.tried]
    assert tried[:3] == [100, 30, 45]
    assert all(30 <= value <= 45 for value in tried[1:])
    assert len(tried) < len(mildest_killed(PERCENT, beyond(PERCENT, 40)).tried)
    assert found.killed is not None and found.survived < 40 <= found.killed


def test_disorder_is_borne() -> None:
    found = mildest_killed(PERCENT, lambda value: ALIVE if value == 100 else DEAD, known=[50])
    assert found.killed is not None and found.killed <= 5
    assert not is_orderly(found)


@given(st.floats(0.001, 1000), st.floats(0.001, 1000), st.floats(0, 1), st.booleans(), st.booleans())
@settings(max_examples=150, deadline=None)
def test_always_ends_between_a_survivor_and_a_kill(
    mildest: float, extreme: float, share: float, logarithmic: bool, whole: bool
) -> None:
    if whole:
        mildest, extreme = float(math.ceil(mildest)), float(math.ceil(extreme))
    if mildest == extreme:
        return
    precision = 1.1 if logarithmic else abs(extreme - mildest) / 50
    scale = Scale(mildest, extreme, precision, logarithmic, whole)
    found = mildest_killed(scale, lambda value: DEAD if scale.position(value) >= share else ALIVE)
    assert found.killed is not None
    assert scale.position(found.survived) < scale.position(found.killed)
    assert scale.position(found.killed) >= share
    assert scale.position(found.survived) < share or found.survived == mildest
    assert len(found.tried) < 200
