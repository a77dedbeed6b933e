"""Published results of the repair study: 30 faults, four tools, three budgets (data/repair30.json)."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from bench.improvement import ENOUGH, average, improvement_rate


@dataclass(frozen=True)
class PublishedRepair:
    """One fault of the study. Values are hold-out means; losses where lower is better."""

    study_id: str
    id: str | None  # its name among the 22 faults; None: it is not one of them
    codes: tuple[str, ...]
    lower_is_better: bool
    faulty: float
    fix: float
    tools: Mapping[str, tuple[float | None, ...] | None]  # per budget; None: cannot be applied, or no result

    def rate(self, tool: str, budget: int) -> float | None:
        """The improvement rate of a tool's patch, as the tables give it; None without a result."""
        values = self.tools[tool]
        value = None if values is None else values[budgets().index(budget)]
        return None if value is None else improvement_rate(self.faulty, self.fix, value)


@dataclass(frozen=True)
class Study:
    source: str
    budgets: tuple[int, ...]
    tools: tuple[str, ...]
    faults: tuple[PublishedRepair, ...]


@cache
def study() -> Study:
    text = (resources.files("bench") / "data" / "repair30.json").read_text(encoding="utf-8")
    data = json.loads(text)
    return Study(
        data["source"],
        tuple(data["budgets"]),
        tuple(data["tools"]),
        tuple(
            PublishedRepair(
                row["study_id"],
                row["id"],
                tuple(row["codes"]),
                row["lower_is_better"],
                row["faulty"],
                row["fix"],
                {name: None if found is None else tuple(found) for name, found in row["tools"].items()},
            )
            for row in data["faults"]
        ),
    )


def budgets() -> tuple[int, ...]:
    """Trainings of the faulty program that a tool may use."""
    return study().budgets


def published(tool: str, budget: int, only: Collection[str] | None = None) -> float:
    """The mean rate of a tool over all 30 faults, or over those of the 22 that are named; no result counts 0, none above 1."""
    return average([row.rate(tool, budget) for row in _rows(only)])


def repaired_count(tool: str, budget: int, only: Collection[str] | None = None) -> int:
    """Faults of which a tool reaches nearly all of the known fix's gain."""
    return sum((row.rate(tool, budget) or 0.0) >= ENOUGH for row in _rows(only))


def _rows(only: Collection[str] | None) -> list[PublishedRepair]:
    return [row for row in study().faults if only is None or row.id in only]
