"""What calls of pandas lose of values, as the recorder sees it; and healthy calls that look alike."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netmend.adapters.preparation.batches import Batches
from netmend.adapters.preparation.sentinels import reach_the_model
from netmend.adapters.preparation.watch import Preparation
from netmend.observe.sites import Sites

pandas = pytest.importorskip("pandas")
DRAWN = np.random.default_rng(0)
ROWS = 400


@pytest.fixture
def preparation() -> Iterator[Preparation]:
    watched = Preparation(Sites())
    watched.install()
    yield watched
    watched.remove()


def seen(preparation: Preparation, call: str) -> Any:
    return next(fact.seen for fact in preparation.facts.values() if fact.call.endswith(call))


def written(tmp_path: Path, **columns: Any) -> Path:
    file = tmp_path / "table.csv"
    file.write_text(
        "\n".join(
            [";".join(columns), *(";".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
        )
    )
    return file


def test_a_category_that_is_read_as_missing(preparation: Preparation, tmp_path: Path) -> None:
    regions = DRAWN.choice(["AP", "EU", "NA", "SA"], ROWS)
    ages = [age if k % 20 else "" for k, age in enumerate(DRAWN.integers(18, 80, ROWS))]
    pandas.read_csv(written(tmp_path, region=regions, age=ages), sep=";")
    lost = seen(preparation, "read_csv")["category_lost"]
    assert (lost["column"], lost["word"], lost["others"]) == ("region", "NA", 3)


def test_words_for_missing_are_no_category(preparation: Preparation, tmp_path: Path) -> None:
    regions = DRAWN.choice(["AP", "EU", "NA", "SA"], ROWS)
    ages = [age if k % 20 else "NA" for k, age in enumerate(DRAWN.integers(18, 80, ROWS))]
    pandas.read_csv(written(tmp_path, region=regions, age=ages), sep=";")
    assert "category_lost" not in seen(preparation, "read_csv")


def test_thousands_with_dots_are_read_as_decimals(preparation: Preparation, tmp_path: Path) -> None:
    prices = [f"{price:,}".replace(",", ".") for price in DRAWN.integers(100, 99_999, ROWS)]
    file = written(tmp_path, price=prices, size=DRAWN.integers(1, 9, ROWS))
    pandas.read_csv(file, sep=";")
    assert seen(preparation, "read_csv")["losses"][0]["mistake"] == "thousands read as decimals"
    preparation.facts.clear()
    pandas.read_csv(file, sep=";", thousands=".")
    assert not any("losses" in fact.seen for fact in preparation.facts.values())


def test_a_number_for_missing_that_is_fed(preparation: Preparation, tmp_path: Path) -> None:
    heat = np.where(DRAWN.random(ROWS) < 0.1, -999, DRAWN.normal(20, 5, ROWS).round(1))
    table = pandas.read_csv(written(tmp_path, heat=heat, light=DRAWN.normal(size=ROWS).round(3)), sep=";")
    assert seen(preparation, "read_csv")["sentinels"][0][:2] == ["heat", -999.0]
    scaled = ((table - table.mean()) / table.std()).to_numpy("float32")
    preparation.batches.keep("training", 0, scaled, scaled[:, 0])
    reach_the_model(preparation)
    assert [fact.seen["sentinels"][0][0] for fact in preparation.facts.values() if fact.kind == "fed"] == [
        "heat"
    ]


def test_a_number_for_missing_that_was_filled(preparation: Preparation, tmp_path: Path) -> None:
    heat = np.where(DRAWN.random(ROWS) < 0.1, -999, DRAWN.normal(20, 5, ROWS).round(1))
    table = pandas.read_csv(written(tmp_path, heat=heat, light=DRAWN.normal(size=ROWS).round(3)), sep=";")
    table = table.replace(-999, np.nan)
    inputs = table.fillna(table.median()).to_numpy("float32")
    preparation.batches = Batches()
    preparation.batches.keep("training", 0, inputs, inputs[:, 0])
    reach_the_model(preparation)
    assert not [fact for fact in preparation.facts.values() if fact.kind == "fed"]


def test_gaps_filled_with_a_far_number(preparation: Preparation) -> None:
    pressure = pandas.Series(DRAWN.normal(1013, 9, ROWS).round(1), name="pressure")
    pressure[::11] = np.nan
    orders = pandas.Series(DRAWN.poisson(3, ROWS).astype(float), name="orders")
    orders[::11] = np.nan
    filled = pressure.fillna(0)
    assert seen(preparation, "fillna")["sentinels"][0][0] == "pressure" and (filled[::11] == 0).all()
    preparation.facts.clear()
    pressure.fillna(pressure.mean())
    orders.fillna(0)
    assert not any("sentinels" in fact.seen for fact in preparation.facts.values())


def test_filled_over_borders_of_a_column_taken_from_a_table(preparation: Preparation) -> None:
    table = pandas.DataFrame({"shop": np.repeat([f"S{k}" for k in range(40)], 10), "price": np.nan})
    table.loc[::20, "price"] = np.arange(20.0)
    table["price"].ffill()
    assert seen(preparation, "ffill")["carried"][0]["over"] == "shop"
    preparation.facts.clear()
    table.groupby("shop")["price"].ffill()
    days = pandas.DataFrame(
        {"date": pandas.date_range("2020-01-01", periods=400).astype(str), "price": table["price"]}
    )
    days["price"].ffill()
    assert not any("carried" in fact.seen for fact in preparation.facts.values())


def test_a_column_replaced_by_a_list(preparation: Preparation) -> None:
    texts = [f"{value:.2f}".rstrip("0").rstrip(".").replace(".", ",") for value in DRAWN.uniform(0, 90, ROWS)]
    table = pandas.DataFrame({"x": texts, "y": texts})
    table["x"] = [float(text.replace(",", "")) for text in table["x"]]
    table["y"] = [float(text.replace(",", ".")) for text in table["y"]]
    losses = [loss for fact in preparation.facts.values() for loss in fact.seen.get("losses", ())]
    assert [(loss["column"], loss["mistake"]) for loss in losses] == [("x", "decimal mark taken out")]


def test_numbers_taken_for_categories(preparation: Preparation) -> None:
    power = pandas.Series([str(value) for value in DRAWN.integers(50, 200, ROWS)], name="power")
    power[::50] = "?"
    pandas.factorize(power)
    assert seen(preparation, "factorize")["numbers_as_categories"]["odd"] == ["?"]
    preparation.facts.clear()
    pandas.factorize(pandas.Series([f"{code:05d}" for code in DRAWN.integers(0, 99_999, ROWS)]))
    assert not preparation.facts


def test_only_a_change_of_type_keeps_numbers(preparation: Preparation) -> None:
    price = pandas.Series(DRAWN.uniform(50, 400, ROWS), name="price")
    price.apply(lambda value: int(value > 200))
    price.map(lambda value: 0)
    (price > 200).astype(int)
    assert not any("losses" in fact.seen for fact in preparation.facts.values())
    preparation.facts.clear()
    price.astype("int8")
    assert seen(preparation, "astype")["losses"][0]["wrapped"] > 0.5
