"""How sure to be of a cause that the forest knows, from what it and the rules say of it: one small logistic model for all causes.

Few runs show each single cause; how far the forest and the rules are to be believed is learned from all of them together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ranking.features.suspicion import NOBODY

HEALTHY = ""  # the forest's class for runs with nothing wrong
_FLOOR = 0.002  # shares below that are noise of the forest
TERMS = (
    "share",  # log-odds of the forest's share
    "share_lead",  # the same minus that of the likeliest other cause
    "healthy",  # log-odds of the forest's share of healthy runs
    "accused",  # the rules accuse the cause
    "rules",  # the rules' log-odds
    "rules_lead",  # the same minus that of the surest other cause
    "rules_first",  # no other cause is surer, and the rules would tell it
    "agree",  # both name it first
)


@dataclass(frozen=True)
class Combination:
    """Weights of TERMS, in their order, and a constant; in log-odds."""

    constant: float
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.weights) != len(TERMS):
            raise ValueError(f"it needs {len(TERMS)} weights, got {len(self.weights)}")

    def as_json(self) -> dict[str, Any]:
        return {"constant": self.constant, "weights": list(self.weights)}

    def confidence(self, terms: tuple[float, ...]) -> float:
        total = self.constant + sum(w * t for w, t in zip(self.weights, terms, strict=True))
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


def terms(cause: str, shares: Mapping[str, float], accusations: Mapping[str, float]) -> tuple[float, ...]:
    """What is said of one cause, which the forest must know; `shares` by class of the forest, `accusations` the rules' log-odds by cause."""
    share = _odds(shares[cause])
    other = max((_odds(s) for name, s in shares.items() if name not in (cause, HEALTHY)), default=_odds(0.0))
    rules = accusations.get(cause, NOBODY)
    rival = max((odds for name, odds in accusations.items() if name != cause), default=NOBODY)
    first = rules > 0 and rules >= rival
    return (
        share,
        share - other,
        _odds(shares.get(HEALTHY, 0.0)),
        float(rules > NOBODY),
        max(rules, NOBODY) if rules > NOBODY else 0.0,
        max(-6.0, min(6.0, rules - rival)) if rules > NOBODY else 0.0,
        float(first),
        float(first and share >= other),
    )


def _odds(share: float) -> float:
    kept = min(1 - _FLOOR, max(_FLOOR, share))
    return math.log(kept / (1 - kept))
