"""How numbers are written."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netmend.report.numbers import count, duration, measure, percent, plural, setting, shape, share


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (0.0, "0"),
        (2.3026, "2.30"),
        (0.05, "0.0500"),
        (9.999, "10.0"),
        (0.9999, "1.00"),
        (99.96, "100"),
        (12345.6, "12,346"),
        (1.2e-5, "1.20e-5"),
        (-3.14159, "-3.14"),
        (2.5e9, "2.50e9"),
        (math.nan, "nan"),
        (-math.inf, "-inf"),
    ],
)
def test_measures_have_three_significant_digits(value: float | None, text: str) -> None:
    assert measure(value) == text


@given(st.floats(min_value=-1e300, max_value=1e300))
def test_a_measure_stays_within_half_a_percent_of_the_value(value: float) -> None:
    assert float(measure(value).replace(",", "")) == pytest.approx(value, rel=0.0051)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0 %"),
        (1.0, "100 %"),
        (0.9724, "97.2 %"),
        (0.006, "0.6 %"),
        (0.00042, "0.04 %"),
        (0.99999, "> 99.9 %"),
        (1e-9, "< 0.01 %"),
        (12.5, "1,250 %"),
        (None, "–"),
        (math.nan, "–"),
    ],
)
def test_shares_are_percentages(value: float | None, text: str) -> None:
    assert share(value) == text


@given(st.floats(min_value=0, max_value=1, exclude_min=True, exclude_max=True))
def test_a_share_is_never_rounded_to_all_or_nothing(value: float) -> None:
    assert share(value) not in ("0 %", "100 %", "100.0 %", "0.0 %", "0.00 %")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0031, "3.1 ms"),
        (0.085, "85 ms"),
        (4.21, "4.2 s"),
        (59.97, "1 min 00 s"),
        (192, "3 min 12 s"),
        (7500, "2 h 05 min"),
        (97_200, "1 d 3 h"),
        (None, "–"),
    ],
)
def test_durations_use_the_units_that_matter(seconds: float | None, text: str) -> None:
    assert duration(seconds) == text


def test_settings_read_as_in_the_program() -> None:
    assert setting(0.001) == "0.001"
    assert setting(1e-08) == "1e-8"
    assert setting((0.9, 0.999)) == "(0.9, 0.999)"
    assert setting(True) == "True"
    assert setting("mean") == "mean"


def test_counts_shapes_and_nouns() -> None:
    assert count(101770) == "101,770"
    assert shape((64, 3, 32)) == "64×3×32"
    assert shape(()) == "scalar"
    assert plural(1, "step") == "1 step"
    assert plural(2, "pass", "passes") == "2 passes"
    assert percent(0.01) == "1 %"
