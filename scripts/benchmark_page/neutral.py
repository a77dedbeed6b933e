"""Neutrality analyses: how many other changes do as well as the known or best fix. One file per program, `neutral-NAME.json`."""

from __future__ import annotations

from typing import Any

from benchmark_page.results import Results
from benchmark_page.words import number

_SHOWN = 6  # alternatives of each program, minimal ones first
_GOALS = {"fix": "a known fix", "like": "a given value", "best": "the best that the search found"}


def section(results: Results) -> dict[str, Any] | None:
    names = sorted(file.name for file in results.folder.glob("neutral-*.json"))
    if not names:
        return None
    found = [results.read(name) for name in names]
    return {
        "rows": [_row(data) for data in found],
        "alternatives": [row for data in found for row in _alternatives(data)],
        "origin": results.origin(*names),
    }


def _row(data: dict[str, Any]) -> list[Any]:
    minimal = sum(one["minimal"] for one in data["alternatives"])
    return [
        f"`{data['script']}`",
        data["metric"]["name"],
        number(data["nodes"][0]["mean"], 3),
        f"{number(data['goal']['value'], 3)} ({_GOALS.get(data['goal']['kind'], data['goal']['kind'])})",
        len(data["nodes"]) - 1,
        len(data["alternatives"]),
        minimal,
        number(data["trainings"], 0),
    ]


def _alternatives(data: dict[str, Any]) -> list[list[Any]]:
    ordered = sorted(data["alternatives"], key=lambda one: not one["minimal"])
    return [
        [
            f"`{data['script']}`",
            "; ".join(one["titles"]),
            ", ".join(f"`{cause}`" for cause in one["causes"]),
            f"{number(one['mean'], 3)} ± {number(one['deviation'], 3)}",
            one["lines"],
            "yes" if one["minimal"] else "no",
        ]
        for one in ordered[:_SHOWN]
    ]
