"""Which recorded runs are listed, and in which order."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from netmend.check.select import did_you_mean
from netmend.errors import UsageError
from netmend.store import RunInfo


def _number(value: float | None, best_is_high: bool) -> float:
    """For sorting the best first; what is not known, or is no number, comes last."""
    if value is None or math.isnan(value):
        return math.inf
    return -value if best_is_high else value


ORDERS: dict[str, Callable[[RunInfo], float]] = {
    "started": lambda info: _number(info.run.started if info.run else None, True),
    "loss": lambda info: _number(info.judged.loss if info.judged else None, False),
    "metric": lambda info: _number(info.judged.metric if info.judged else None, True),
    "steps": lambda info: _number(info.run.steps if info.run else None, True),
    "time": lambda info: _number(info.run.seconds if info.run else None, True),
}

FILTERS: dict[str, Callable[[RunInfo], Sequence[str]]] = {
    "script": lambda info: [info.run.script] if info.run else [],
    "status": lambda info: [info.run.status] if info.run else [],
    "verdict": lambda info: [info.judged.verdict] if info.judged else [],
    "fault": lambda info: [fault.cause for fault in info.judged.faults] if info.judged else [],
}


def sorted_runs(infos: Iterable[RunInfo], order: str) -> list[RunInfo]:
    if order not in ORDERS:
        raise UsageError(f"--sort must be one of {', '.join(ORDERS)}, got {order!r}")
    return sorted(infos, key=ORDERS[order])


def filtered(infos: Iterable[RunInfo], conditions: Iterable[str]) -> list[RunInfo]:
    """Those that fulfil every `KEY=VALUE`: the value is the beginning of what the run has."""
    found = list(infos)
    for condition in conditions:
        key, equals, value = condition.partition("=")
        if key not in FILTERS or not equals:
            meant = did_you_mean(key, FILTERS) if equals else "."
            raise UsageError(
                f"--where {condition}: write KEY=VALUE with one of {', '.join(FILTERS)}{meant}".rstrip(".")
            )
        found = [info for info in found if any(have.startswith(value) for have in FILTERS[key](info))]
    return found
