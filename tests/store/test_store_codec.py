"""The codec: what is written comes back, other versions are forgiven, damage is noticed."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pytest

from netmend.store.codec import CodecError, from_json, to_json
from netmend.vocabulary import Event, GroupFact, ModelFact, OptimizerFact, ParameterFact, Site, Statistics


@dataclass(frozen=True)
class Sample:
    name: str
    ratio: float = 0.5
    limit: float | None = None
    shapes: tuple[tuple[int, ...], ...] = ()
    pair: tuple[int, str] = (0, "")
    counts: Mapping[str, int] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    site: Site | None = None


def round_trip(value: Any) -> Any:
    return from_json(type(value), to_json(value))


def test_nested_values_come_back_equal() -> None:
    sample = Sample(
        "ä\udce9",
        1e-300,
        2.0,
        ((1, 2), ()),
        (3, "x"),
        {"7": 2},
        {"betas": (0.9, 0.999), "fused": None, "deep": {"a": (True, "b")}},
        Site("train.py", 3, column=4),
    )
    assert round_trip(sample) == sample


def test_facts_with_nested_dataclasses_come_back_equal() -> None:
    optimizer = OptimizerFact("adam", "Adam", (GroupFact({"lr": 1e-3}, ("w", "b"), 2),), Site("t.py", 1))
    parameter = ParameterFact("w", shape=(3, 4), initial=Statistics(mean=math.inf, nonfinite=3))
    model = ModelFact("net", "Net", input_shapes=((2, 3), (4,)))
    for fact in (optimizer, parameter, model):
        assert round_trip(fact) == fact


@pytest.mark.parametrize("value", [math.inf, -math.inf])
def test_infinities_come_back_in_typed_and_free_places(value: float) -> None:
    sample = Sample("s", value, value, settings={"clip": value, "list": (value,)})
    assert round_trip(sample) == sample


def test_nan_comes_back_as_a_number() -> None:
    back = round_trip(Sample("s", math.nan, settings={"x": math.nan}))
    assert math.isnan(back.ratio) and math.isnan(back.settings["x"])


def test_text_that_looks_like_a_number_stays_text() -> None:
    assert round_trip(Sample("NaN", settings={"reduction": "NaN"})) == Sample(
        "NaN", settings={"reduction": "NaN"}
    )


def test_the_text_is_strict_json() -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(f"not JSON: {constant}")

    json.loads(to_json(Sample("s", math.nan, settings={"x": math.inf})), parse_constant=refuse)


def test_values_that_json_does_not_know_become_text() -> None:
    class Broken:
        def __str__(self) -> str:
            raise RuntimeError("no text")

    cyclic: dict[str, Any] = {}
    cyclic["self"] = cyclic
    settings: dict[Any, Any] = {
        "path": PurePosixPath("a/b"),
        "count": np.int64(3),
        "rate": np.float32(0.5),
        "names": {"b", "a"},
        "broken": Broken(),
        5: "five",
    }
    back = round_trip(Event(1, "note", "m", detail=settings)).detail
    assert back == {
        "path": "a/b",
        "count": 3,
        "rate": 0.5,
        "names": ("a", "b"),
        "broken": "<Broken>",
        "5": "five",
    }
    assert "self" in round_trip(Event(1, "note", "m", detail=cyclic)).detail


def test_fields_of_a_later_version_are_ignored_and_missing_ones_take_the_default() -> None:
    assert from_json(Sample, '{"name": "s", "invented_later": [1]}') == Sample("s")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        "{}",
        '{"name": 3}',
        '{"name": "s", "ratio": "0.5"}',
        '{"name": "s", "ratio": true}',
        '{"name": "s", "shapes": [[1.5]]}',
        '{"name": "s", "shapes": [1]}',
        '{"name": "s", "pair": [1]}',
        '{"name": "s", "counts": []}',
        '{"name": "s", "site": {"file": "f"}}',
        '{"name": "s", "settings": ' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"name": "s", "ratio": 1' + "0" * 400 + "}",
    ],
)
def test_damage_is_noticed(text: str) -> None:
    with pytest.raises(CodecError):
        from_json(Sample, text)
