"""What a search may cost, as it is typed."""

from __future__ import annotations

import pytest

from netmend.errors import UsageError
from netmend.repair.options import Budget, parse_budget


@pytest.mark.parametrize(
    ("text", "budget", "words"),
    [
        ("20x", Budget(20.0), "20 trainings"),
        ("20", Budget(20.0), "20 trainings"),
        ("2.5x", Budget(2.5), "2.5 trainings"),
        (" 7 x ", Budget(7.0), "7 trainings"),
        ("90s", Budget(None, 90.0), "90 s"),
        ("10m", Budget(None, 600.0), "600 s"),
        ("10min", Budget(None, 600.0), "600 s"),
        ("1.5h", Budget(None, 5400.0), "5400 s"),
    ],
)
def test_budget(text: str, budget: Budget, words: str) -> None:
    assert parse_budget(text) == budget
    assert str(budget) == words


@pytest.mark.parametrize(
    "text", ["", "x", "0x", "0", "-5x", "20 trainings", "10d", "1e3x", "nan", "inf", "5xx", "m"]
)
def test_what_is_no_budget_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match=r"--budget must be like 20x .*, got") as refused:
        parse_budget(text)
    assert repr(text) in str(refused.value)
