"""Whether a mutant is clearly worse than the program that it was made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from netmend.repair.objective import Objective, choose
from netmend.trials.trial import FAILED, Outcome

_FLOOR = 0.02  # of the whole range of a measure that has an end, such as accuracy
_SHARE = 0.15  # of the error, for one that has none
_MEASURED = (
    "evaluation:0:metric"  # accuracy or R² as seen from outside; it does not depend on what the loss is
)

_NO_NUMBERS = (
    "nan",
    "inf ",
    "infin",
    "finite",
    "between 0 and 1",
    "overflow",
    "constraint",
    "probability tensor",
)


@dataclass(frozen=True)
class Judgement:
    """`harmed` is None where it cannot be told."""

    harmed: bool | None
    objective: Objective | None = None
    value: float | None = None
    original: float | None = None  # mean over the originals' seeds

    @property
    def metric(self) -> dict[str, object] | None:
        if self.objective is None:
            return None
        return {
            "name": self.objective.series,
            "value": self.value,
            "higher_is_better": self.objective.higher_is_better,
        }


def judged(
    outcome: Outcome, originals: Sequence[Outcome], crashes: bool = False, rescales: bool = False
) -> Judgement:
    """A mutant beside its originals. `crashes`: an exception is what the fault does; `rescales`: losses cannot be compared."""
    objective = measure(outcome, originals, rescales)
    values = [] if objective is None else [objective.value(each) for each in originals]
    known = [value for value in values if value is not None]
    mean = sum(known) / len(known) if known else None
    found = Judgement(None, objective, None, mean)
    if outcome.status == FAILED:
        return replace(found, harmed=True if crashes or _overflowed(outcome.exception) else None)
    if objective is None or not outcome.ran or not known:
        return found
    value = objective.value(outcome)
    if value is None:  # it was told, and was no number
        return replace(found, harmed=True)
    return replace(found, harmed=is_worse(objective, value, known), value=value)


def _overflowed(exception: str) -> bool:
    """Whether a program stopped because its numbers were none any more, as a diverging one may."""
    text = exception.lower()
    return any(word in text for word in _NO_NUMBERS)


def measure(outcome: Outcome, originals: Sequence[Outcome], rescales: bool) -> Objective | None:
    """The originals' measure if the mutant has it too, else the best that all of them share."""
    every = [each for each in originals if each.ran]
    if not every:
        return None
    shared = set.intersection(*(set(each.series) for each in every))
    if outcome.ran:
        shared &= set(outcome.series)
    if rescales:
        shared = {name for name in shared if _keeps_meaning(name)}
    kept = {name: points for name, points in every[0].series.items() if name in shared}
    return choose([replace(every[0], series=kept)])


def _keeps_meaning(series: str) -> bool:
    """Whether a measure says the same whatever the loss is: shares of right answers, R²."""
    if series.startswith(("evaluation:", "training:")):
        return series == _MEASURED
    found = choose([Outcome("finished", series={series: [[0, 0.0]]})])
    return found is not None and found.higher_is_better


def is_worse(objective: Objective, value: float, originals: Sequence[float]) -> bool:
    """Worse than the worst original by more than these differ among each other, and by an amount that matters."""
    *errors, error = objective.errors([*originals, value])
    worst, spread = max(errors), max(errors) - min(errors)
    bounded = objective.higher_is_better and min(errors) >= 0
    top = 100.0 if max(*originals, value) > 1.5 else 1.0
    floor = _FLOOR * top if bounded else _SHARE * max(abs(worst), 1e-9)
    return error - worst > max(spread, floor)
