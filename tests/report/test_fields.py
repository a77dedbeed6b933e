"""JSON by declared fields: what stands under each key, and what JSON cannot hold."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netmend.report.machine import Fields, plain
from netmend.version import VERSION


@dataclass(frozen=True)
class Part:
    name: str
    value: float | None = None


@dataclass(frozen=True)
class Whole:
    title: str
    part: Part | None
    parts: tuple[Part, ...]
    by_name: dict[str, Part]


PART = Fields("name", "mean=value")
WHOLE = Fields(
    "title",
    "first=part.name",
    ("part", PART),
    ("several=parts", PART),
    ("by_name", PART),
    ("count", lambda whole: len(whole.parts)),
)


def test_fields_stand_in_their_order_under_their_own_names() -> None:
    part = Part("a", 0.5)
    data = WHOLE(Whole("t", part, (part, Part("b")), {"x": part}))
    assert list(data) == ["title", "first", "part", "several", "by_name", "count"]
    assert data["part"] == {"name": "a", "mean": 0.5} and data["first"] == "a" and data["count"] == 2
    assert data["several"] == [{"name": "a", "mean": 0.5}, {"name": "b", "mean": None}]
    assert data["by_name"] == {"x": {"name": "a", "mean": 0.5}}
    assert Fields(("part", PART))(Whole("t", None, (), {})) == {"part": None}


def test_what_json_cannot_hold_is_written_so_that_it_can() -> None:
    value: Any = {"numbers": (1, float("nan"), float("-inf")), "file": Path("a/b"), "part": Part("a", 1.0)}
    assert plain(value) == {
        "numbers": [1, None, None],
        "file": str(Path("a/b")),
        "part": {"name": "a", "value": 1.0},
    }


def test_a_file_tells_the_version_of_its_contract_and_ours() -> None:
    text = PART.json(Part("a", float("nan")), schema=3)
    assert json.loads(text) == {"schema": 3, "netmend": VERSION, "name": "a", "mean": None}
    assert text.endswith("}\n")
