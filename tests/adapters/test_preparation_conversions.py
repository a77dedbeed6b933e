"""What is seen of a conversion, from values before and after it: pure functions."""

from __future__ import annotations

import random
from datetime import date, datetime, timedelta

import numpy as np
import pytest

from netmend.adapters.preparation.conversions import carried_over, converted, narrowed
from netmend.adapters.preparation.notations import Notation, kind_of_number, notation, number, shape
from netmend.adapters.preparation.numpy import misread
from netmend.adapters.preparation.written_dates import comes_first

DRAWN = random.Random(1)
AMOUNTS = [DRAWN.lognormvariate(7, 0.75) for _ in range(300)]


def german(value: float, decimals: int) -> str:
    return f"{value:.{decimals}f}".rstrip("0").rstrip(".").replace(".", ",")


@pytest.mark.parametrize(
    ("texts", "way"),
    [
        ([german(DRAWN.gauss(68, 7), 1) for _ in range(200)], Notation(",", "")),
        ([f"{amount:,.2f}" for amount in AMOUNTS], Notation(".", ",")),
        ([f"{round(amount):,}" for amount in AMOUNTS], Notation(".", ",")),
        ([f"{round(amount):,}".replace(",", ".") for amount in AMOUNTS], Notation(",", ".")),
        ([f"{amount:,.2f} €".translate(str.maketrans(",.", ".,")) for amount in AMOUNTS], Notation(",", ".")),
        ([f"{DRAWN.gauss(68, 7):.3f}" for _ in range(200)], None),
        ([str(round(amount)) for amount in AMOUNTS], None),
        ([f"192.168.1.{k}" for k in range(10, 200)], None),
    ],
)
def test_the_marks_of_numbers(texts: list[str], way: Notation | None) -> None:
    assert notation(texts) == way


def test_a_text_as_a_number() -> None:
    assert number("$1,234.50", Notation(".", ",")) == 1234.5
    assert number("(12.5)", None) == -12.5
    assert number("1.234,5", Notation(",", ".")) == 1234.5
    kinds = {
        "1,234": "marks",
        ">1011": "limit",
        "5 %": "percent",
        "€ 5": "money",
        "12.03.2021": "",
        "A12": "",
        "4.5": "plain",
    }
    assert {text: kind_of_number(text) for text in kinds} == kinds
    assert shape("EUR 2,350.00") == "aaa d,ddd.dd"


def test_amounts_that_become_missing() -> None:
    texts = [f"{amount:,.2f}" for amount in AMOUNTS]
    seen = converted(texts, [float(t) if "," not in t else float("nan") for t in texts])
    assert seen["coerced"] == pytest.approx(sum("," in t for t in texts) / len(texts))
    assert seen["coerced_numbers"] == 1 and seen["coerced_kinds"] == ["marks"]
    assert "d,ddd.dd" in seen["coerced_shapes"]


def test_amounts_that_cannot_be_read_and_become_0() -> None:
    texts = [f"{amount:,.2f}" for amount in AMOUNTS]
    seen = converted(texts, [float(text) if "," not in text else 0.0 for text in texts])
    assert seen["coerced"] > 0.4 and seen["replaced_by"] == 0
    assert (
        converted(texts, [float(text.split(",")[0]) for text in texts])["mistake"] == "cut at the first mark"
    )


def test_words_that_become_missing_are_no_numbers() -> None:
    texts = ["n/a", "broken", "", "see note"] * 20 + ["1.5", "2"] * 50
    assert not converted(texts, [float("nan")] * 80 + [1.5, 2.0] * 50)


def test_numbers_that_are_declared_missing() -> None:
    texts = ["-200" if k % 9 == 0 else f"{k}.5" for k in range(90)]
    assert not converted(texts, [float("nan") if text == "-200" else float(text) for text in texts])


def test_codes_with_letters_are_no_numbers_with_units() -> None:
    codes = [f"{k}{'abcdef'[k % 6]}" for k in range(60)] + ["12", "40"] * 20
    assert not converted(codes, [float("nan")] * 60 + [12.0, 40.0] * 20)
    weights = [f"{k} kg" for k in range(60)]
    assert converted(weights, [float("nan")] * 60)["coerced_kinds"] == ["unit"]


def test_a_decimal_comma_taken_out() -> None:
    texts = [german(DRAWN.uniform(0.1, 90), 2) for _ in range(200)]
    spelled = [text.replace(",", "") for text in texts]
    assert converted(texts, spelled, of_text=True)["mistake"] == "decimal mark taken out"
    assert converted(texts, [float(text) for text in spelled])["misread"] > 0.8
    assert not converted(texts, [text.replace(",", ".") for text in texts], of_text=True)
    assert not converted(texts, [float(text.replace(",", ".")) for text in texts])
    assert not converted(texts, [np.log(float(text.replace(",", "."))) for text in texts])


def test_always_two_decimals_make_cents() -> None:
    texts = [f"{DRAWN.uniform(1, 90):.2f}".replace(".", ",") for _ in range(200)]
    assert not converted(texts, [float(text.replace(",", "")) for text in texts])


def test_thousands_taken_for_decimals() -> None:
    texts = [f"{round(amount):,}".replace(",", ".") for amount in AMOUNTS]
    seen = converted(texts, [float(text) for text in texts])
    assert seen["mistake"] == "thousands read as decimals"


def test_a_sign_that_is_gone() -> None:
    texts = [f"({k}.5)" if k % 3 else f"{k}.5" for k in range(1, 60)]
    assert converted(texts, [float(text.strip("()")) for text in texts])["mistake"] == "sign"


DAYS = [date(2020, 1, 1) + timedelta(days=k) for k in range(300)]


def guessed(text: str) -> datetime:
    try:
        return datetime.strptime(text, "%m/%d/%Y")
    except ValueError:
        return datetime.strptime(text, "%d/%m/%Y")


def test_days_read_as_months() -> None:
    texts = [day.strftime("%d/%m/%Y") for day in DAYS]
    seen = converted(texts, [guessed(text) for text in texts])
    assert seen["first"] == "day" and 0.3 < seen["mirrored"] < 0.4
    assert not converted(texts, DAYS)
    american = [day.strftime("%m/%d/%Y") for day in DAYS]
    assert not converted(american, [guessed(text) for text in american])


def test_the_first_of_every_month() -> None:
    firsts = [date(2015 + k // 12, k % 12 + 1, 1) for k in range(60)]
    texts = [day.strftime("%d.%m.%Y") for day in firsts]
    assert converted(texts, [datetime.strptime(text, "%m.%d.%Y") for text in texts])["mirrored"] > 0.9
    assert comes_first(texts) == ("day", 60)


def test_dates_that_are_lost() -> None:
    texts = [day.strftime("%d/%m/%Y") for day in DAYS]
    seen = converted(texts, [guessed(text) if int(text[:2]) <= 12 else None for text in texts])
    assert seen["coerced_dates"] == 1 and seen["coerced"] > 0.5 and seen["mirrored"] > 0.9


def test_seconds_read_as_nanoseconds() -> None:
    seconds = [1_600_000_000 + 3600 * k for k in range(50)]
    assert converted(seconds, [datetime(1970, 1, 1, 0, 0, 1)] * 50) == {"epoch": "s"}


def test_types_that_are_too_small() -> None:
    numbers = np.arange(300.0)
    assert narrowed(numbers, numbers.astype(np.uint8))["wrapped"] == pytest.approx(44 / 300)
    assert narrowed(-numbers[:100], (-numbers[:100]).astype(np.uint8))["sign_lost"]
    assert narrowed(numbers * 1000, (numbers * 1000).astype(np.float16))["overflowed"] > 0.7
    assert narrowed(numbers / 300, (numbers / 300).astype(np.int64))["flattened"] == 300
    assert not narrowed(numbers + 0.4, (numbers + 0.4).astype(np.int64))
    assert narrowed(1.6e9 + numbers, (1.6e9 + numbers).astype(np.float32))["merged_left"] < 10
    measured = np.random.default_rng(0).normal(-9.8, 1.0, 20_000)
    assert "merged" not in narrowed(measured, measured.astype(np.float16))


def test_filled_over_borders() -> None:
    device = np.repeat(np.arange(10), 6)
    offsets = np.full(60, np.nan)
    offsets[[0, 12, 24, 30]] = [1.5, 2.5, 0.5, 3.5]
    kept = np.maximum.accumulate(np.where(np.isnan(offsets), 0, np.arange(60)))
    step = np.tile(np.arange(6), 10)
    assert list(carried_over(offsets, offsets[kept], {"device": device}, [step])) == [("device", 6, 9)]
    assert not list(carried_over(offsets, offsets[kept], {"phase": device}, [np.arange(60)])), (
        "time goes on: phases of one series"
    )
    within = offsets[np.maximum(kept, device * 6)]
    assert not list(carried_over(offsets, np.nan_to_num(within), {"device": device}, [step]))
    assert not list(
        carried_over(offsets, offsets[kept], {"row": np.arange(60), "weekday": np.arange(60) % 7})
    )


def test_bytes_read_with_another_type() -> None:
    wave = (np.sin(np.arange(20_000) / 20) * 3000).astype("<i2")
    assert misread(np.frombuffer(wave.tobytes(), np.uint8)) == {"mistake": "halves", "meant": "int16"}
    assert misread(np.frombuffer(wave.tobytes(), ">i2"))["mistake"] == "byte order"
    assert misread(np.frombuffer(wave.tobytes(), np.float32))["mistake"] == "no floats"
    assert not misread(wave)
    drawn = np.random.default_rng(0)
    photo = np.clip(drawn.normal(120, 40, (64, 64, 3)).cumsum(0) / 8 % 256, 0, 255).astype(np.uint8)
    for sound in (
        photo.reshape(-1),
        drawn.integers(0, 2, 5000).astype(np.uint8),
        drawn.integers(0, 9, 5000),
        drawn.normal(size=5000),
    ):
        assert not misread(sound)
