"""What a repair tried, as a table: the program as it is, then the changes, best first."""

from __future__ import annotations

import math

from netmend.repair.result import Result
from netmend.repair.search import Attempt
from netmend.report.content import Column, Grid, clean
from netmend.report.numbers import measure, setting, share
from netmend.report.repair.words import ENDINGS

AS_IS = "the original program"
AGAIN = "checks: other seeds, parts left out"
_LEAST_SHOWN = 0.05  # trainings
_NO_BETTER = 0.005  # of the error: what rounds to nothing


def tried_grid(result: Result, most: int | None = None, causes: bool = False) -> Grid:
    """At most so many changes; `causes` adds what each was meant to mend."""
    ordered = sorted(result.attempts, key=lambda item: 0.0 if item.accepted else _badness(result, item))
    shown = ordered[:most]
    columns = (Column("tried"), Column("result"), Column("trainings", numeric=True))
    rows = [(AS_IS, _baseline_words(result), "1")]
    rows += [(clean(item.change.title), result_words(result, item), _cost(item.cost)) for item in shown]
    again = result.trainings - 1 - sum(item.cost for item in ordered if math.isfinite(item.cost))
    if ordered and again >= _LEAST_SHOWN:
        rows.append((AGAIN, "", _cost(again)))
    left = ordered[len(shown) :]
    spent = sum(item.cost for item in left if math.isfinite(item.cost))
    note = f"and {len(left)} more that helped less, {_cost(spent)} in total" if left else ""
    if not causes:
        return Grid(columns, tuple(rows), note=note)
    codes = ["", *(clean(f"{item.change.cause}, {item.change.repair}") for item in shown)]
    codes += [""] * (len(rows) - len(codes))
    wide = tuple((*row, code) for row, code in zip(rows, codes, strict=True))
    return Grid((*columns, Column("meant for")), wide, note=note)


def result_words(result: Result, attempt: Attempt) -> str:
    """`0.912, error 37.3 % → 8.8 %; kept`, `0.5, 30 % lower`, `stopped early (no gain)`."""
    if attempt.status in ENDINGS:
        # Alone it was no better; together with others it is part of the patch.
        return (
            f"{ENDINGS[attempt.status]}; kept in combination" if attempt.accepted else ENDINGS[attempt.status]
        )
    if attempt.value is None:
        told = "runs to its end" if result.objective is None else "the metric is not a number"
    else:
        told = ", ".join(filter(None, (measure(attempt.value), _gain_words(result, attempt.value))))
    return f"{told}; kept" if attempt.accepted else told


def _badness(result: Result, attempt: Attempt) -> float:
    """Sorts changes: kept ones first, as they were made; then the best result; those without one last."""
    gain = -math.inf if attempt.value is None else _gain(result, attempt.value)
    return math.inf if attempt.status in ENDINGS else 2 + math.atan(-gain)


def _gain(result: Result, value: float) -> float:
    """Against the program as it is: changes that were made upon others would not be comparable otherwise."""
    objective = result.objective
    return 0.0 if objective is None else objective.gain(objective.value(result.baseline), value)


def _gain_words(result: Result, value: float) -> str:
    if not result.baseline.ran:
        return "runs to its end"
    if result.objective is None or result.objective.value(result.baseline) is None:
        return ""
    gain = _gain(result, value)
    if not math.isfinite(gain) or abs(gain) < _NO_BETTER:
        return "no better"
    if gain < -1:
        return "much worse"
    if shares := result.objective.error_shares(result.objective.value(result.baseline), value):
        return f"error {share(shares[0])} → {share(shares[1])}"
    if result.objective.error(value) >= 0:
        return f"{share(abs(gain))} {'lower' if gain > 0 else 'higher'}"
    return f"{'better' if gain > 0 else 'worse'} by {share(abs(gain))}"


def _baseline_words(result: Result) -> str:
    if not result.baseline.ran:
        return ENDINGS.get(result.baseline.status, clean(result.baseline.status))
    if result.objective is None:
        return "runs to its end"
    value = result.objective.value(result.baseline)
    return "the metric is not a number" if value is None else measure(value)


def _cost(value: float) -> str:
    return setting(float(f"{value:.2g}")) if math.isfinite(value) else ""
