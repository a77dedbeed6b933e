"""What is to become better: the measure of success, found in what the program prints and in what was seen of it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from netmend.trials.measures import end_of
from netmend.trials.printed import HELD_OUT, HIGHER, LOWER, TRAINING
from netmend.trials.trial import Outcome

PERCENT = 1.5  # an accuracy above this is given in per cent


@dataclass(frozen=True)
class Objective:
    """A series of outcomes, and which way is up."""

    series: str
    higher_is_better: bool
    held_out: bool  # measured on data that the program does not train on, as far as can be seen

    @property
    def name(self) -> str:
        """In words: what was used."""
        kind, _, rest = self.series.partition(":")
        if kind == "printed":
            return f"“{rest}”, as the program prints it"
        if kind == "evaluation":
            return f"{_WORDS[rest.partition(':')[2]]} of the program's evaluation passes"
        if kind == "training":
            return f"{_WORDS[rest]} of the training batches (nothing better was seen)"
        return {"pattern": "the given pattern", "file": "the given file"}[kind]

    @property
    def short(self) -> str:
        kind, _, rest = self.series.partition(":")
        return (
            rest
            if kind == "printed"
            else {"pattern": "metric", "file": "metric"}.get(kind) or _WORDS[rest.partition(":")[2] or rest]
        )

    def value(self, outcome: Outcome) -> float | None:
        """Where the outcome ended; None when it did not end well or never got so far."""
        points = outcome.series.get(self.series)
        if not outcome.ran or not points:
            return None
        value = end_of(self.series, points)
        return value if math.isfinite(value) else None

    def error(self, value: float | None) -> float:
        """The same on a scale where lower is better and nothing is below zero, as far as the measure has an end."""
        return self.errors([value])[0]

    def errors(self, values: Sequence[float | None]) -> list[float]:
        """Errors of several values, all on one scale: beside 95, an accuracy of 0.9 is one of 0.9 %."""
        known = [value for value in values if value is not None]
        top = self._top(max(known, default=0.0)) if self.higher_is_better else None
        return [math.inf if value is None else self._error(value, top) for value in values]

    def error_shares(self, before: float | None, after: float | None) -> tuple[float, float] | None:
        """What two values leave open, as shares of the best there can be; None where the measure has no end."""
        known = [value for value in (before, after) if value is not None]
        top = self._top(max(known)) if self.higher_is_better and len(known) == 2 else None
        if top is None or max(known) > top:
            return None
        old, new = (min(1.0, (top - value) / top) for value in known)
        return old, new

    def _error(self, value: float, top: float | None) -> float:
        if not self.higher_is_better:
            return value
        return -value if top is None else top - value

    def _top(self, highest: float) -> float | None:
        words = set(self.series.replace(":", " ").split())
        if words & _UNBOUNDED:
            return None
        if highest > PERCENT:
            return 100.0 if highest <= 100 else None
        return 1.0

    def gain(self, before: float | None, after: float | None) -> float:
        """How much of the error went away: 0.5 is half of it; negative when it grew."""
        if after is None:
            return -math.inf
        if before is None:
            return 1.0
        old, new = self.errors([before, after])
        if old <= 0 or new < 0:  # no end that the measure could reach: relative to its own size
            size = max(abs(before), abs(after), 1e-12)
            return (after - before) / size * (1 if self.higher_is_better else -1)
        return (old - new) / old


_WORDS = {
    "metric": "accuracy or R²",
    "worst": "share of the worst class that is predicted right",
    "relative": "loss relative to the best constant prediction",
    "loss": "loss",
}
_UNBOUNDED = {"reward", "return", "psnr", "score", "elbo"}


def choose(
    outcomes: Iterable[Outcome], *, pattern: str = "", file: str = "", higher: bool | None = None
) -> Objective | None:
    """The best measure that the outcomes offer; the user's own if one was given."""
    if pattern or file:
        name = "pattern" if pattern else "file"
        guess = bool(set(_words(pattern or file)) & HIGHER) or not set(_words(pattern or file)) & LOWER
        return Objective(name, guess if higher is None else higher, True)
    ranked: list[tuple[float, Objective]] = []
    for outcome in outcomes:
        evaluates = any(name.startswith("evaluation:") for name in outcome.series)
        for name, points in outcome.series.items():
            rank, objective = _judged(name, evaluates)
            if objective is not None and points:
                ranked.append((rank, objective))
    best = max(ranked, key=lambda item: item[0], default=None)
    return None if best is None else best[1]


def for_verification(objective: Objective, outcomes: Iterable[Outcome]) -> Objective:
    """The same measure on data that the search did not look at, when the program has such: test where validation was used."""
    if not objective.series.startswith("printed:"):
        return objective
    words = objective.series.removeprefix("printed:").split()
    wanted = [word for word in words if word not in HELD_OUT]
    for outcome in outcomes:
        for name in outcome.series:
            other = name.removeprefix("printed:").split()
            fresh = "test" in other and "test" not in words
            if name.startswith("printed:") and fresh and [w for w in other if w not in HELD_OUT] == wanted:
                return Objective(name, objective.higher_is_better, True)
    return objective


# Measures that see every class go before plain accuracy; those that one constant answer can drive to the top go behind it.
_FAIRNESS = {
    "f1": 0.5,
    "auc": 0.45,
    "auroc": 0.45,
    "balanced": 0.45,
    "mcc": 0.45,
    "kappa": 0.45,
    "recall": -0.4,
    "precision": -0.4,
}


def for_rare_classes(objective: Objective | None, outcome: Outcome) -> Objective | None:
    """Where a class is never predicted, accuracy hides it: the worst class as seen in evaluation, or what the program prints of it."""
    worst = "evaluation:0:worst"
    if worst in outcome.series:
        return Objective(worst, True, True)
    for word in ("f1", "balanced", "mcc", "kappa", "auc", "auroc", "recall"):
        for name in outcome.series:
            if name.startswith("printed:") and word in name.removeprefix("printed:").split():
                return Objective(name, True, True)
    return objective


def _judged(name: str, evaluates: bool) -> tuple[float, Objective | None]:
    """How good a measure a series is (validation before training, accuracy before loss), and the measure."""
    kind, _, rest = name.partition(":")
    if kind == "evaluation":
        index, _, column = rest.partition(":")
        rank = {"metric": 90.0, "relative": 80.0, "loss": 20.0, "worst": 1.0}[column] - float(index) * 0.1
        return rank, Objective(name, column in ("metric", "worst"), True)
    if kind == "training":
        return {"metric": 50.0, "relative": 40.0, "loss": 10.0}[rest], Objective(
            name, rest == "metric", False
        )
    if kind != "printed":
        return 0.0, None
    words = [word for word in rest.split() if not word.startswith("#")]
    higher, lower = any(w in HIGHER for w in words), any(w in LOWER for w in words)
    if not higher and not lower:
        return 0.0, None
    up = higher and not (lower and _last(words, LOWER) > _last(words, HIGHER))
    held_out, training = any(w in HELD_OUT for w in words), any(w in TRAINING for w in words)
    plain = (
        0.2 * ("best" not in words) + 0.1 * ("test" not in words) - 0.01 * len(words) - 0.001 * ("#" in rest)
    ) + max((weight for word, weight in _FAIRNESS.items() if word in words), key=abs, default=0.0)
    if held_out:
        return (100.0 if up else 75.0) + plain, Objective(name, up, True)
    if training:
        return (45.0 if up else 15.0) + plain, Objective(name, up, False)
    return (85.0 if up and evaluates else 60.0 if up else 30.0) + plain, Objective(name, up, evaluates)


def _last(words: list[str], known: frozenset[str]) -> int:
    return max((index for index, word in enumerate(words) if word in known), default=-1)


def _words(text: str) -> list[str]:
    spaced = re.sub(r"([a-z])([A-Z])", r"\1 \2", text)
    return "".join(sign.lower() if sign.isalnum() else " " for sign in spaced).split()
