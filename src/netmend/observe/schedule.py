"""Schedule: which steps are looked at, and how closely, within the budget."""

from __future__ import annotations

import math

from netmend.observe.budget import Budget

LIGHT = 0  # nothing but counting
LINE = 1  # loss, loop protocol, rates, non-finite values
FULL = 2  # all statistics

_ALWAYS = frozenset({0, 1, 2, 4, 8, 16, 32, 64})  # needed to know the program, and what looking at it costs
_TOO_DEAR = 1.0  # seconds
# Of the time so far: a look that takes less is worth it each time the number of steps doubles.
_SMALL_PART = 0.04
# Looks each time the number of steps doubles, as far as the allowance goes: training changes fastest at first.
_FULL_LOOKS, _LINE_LOOKS = 8, 32
# Losses per doubling that are read within the allowance on steps that are passed over otherwise: a curve costs next to nothing.
_GLANCES = 64
# Losses per doubling that are read whatever it costs: what is told at the end belongs to the end.
_SURE_LINES = 4
_LINE_SHARE = 0.5  # part of the budget that line-level watching may use before steps go light
_MARGIN = 0.7  # aim below the promise: estimates are noisy
_ANOMALY_STEPS = 4
_PLAN_EVERY = 32
_MOST_COMPANIONS = 8
_ANOMALIES = 5


class Schedule:
    """Decides the level of each coming step.

    Training changes fastest at first, so early steps are looked at most closely, as far as an allowance goes.
    With a budget, the distance between full steps follows from measured costs and is a power of two, full steps
    falling on its multiples: under distributed training all ranks then look at mostly the same steps.
    """

    def __init__(self, budget: Budget, every: int | None = None) -> None:
        self.budget = budget
        self.every = every
        self.companions = 1  # optimisers that take turns: look at one step of each
        self._requested = 0
        self._anomalies = 0
        self._last_full = -1
        self._planned = -1
        self.line_interval = 1  # 1 in this many steps is watched at line level; 1 unless steps are very short
        self.full_interval = 16

    def request(self, steps: int = 1) -> None:
        """Look closely at the next steps whatever the budget says (a new model or optimiser appeared)."""
        self._requested = max(self._requested, steps)

    def anomaly(self) -> None:
        """Something went wrong: record densely for a while, a bounded number of times."""
        if self._anomalies < _ANOMALIES:
            self._anomalies += 1
            self.request(_ANOMALY_STEPS)

    def level(self, step: int) -> int:
        if step - self._planned >= _PLAN_EVERY or self._last_full == step - 1:
            self._planned = step
            self._plan()
        chosen, scheduled = self._choose(step)
        if scheduled and self.companions > 1:
            self.request(min(self.companions, _MOST_COMPANIONS) - 1)
        if chosen == FULL:
            self._last_full = step
        return chosen

    def next_look(self, step: int) -> int:
        """The first step after this one that may be more than light."""
        looks = _LINE_LOOKS if self.budget.starting else _SURE_LINES
        interval = min(self.line_interval, _distance(step + 1, looks))
        return step + interval - step % interval

    def glance_distance(self, step: int) -> int:
        """The distance, a power of two, between light steps of which the loss is read all the same; 0: of none."""
        return _distance(step + 1, _GLANCES) if self.budget.starting else 0

    def _choose(self, step: int) -> tuple[int, bool]:
        """The level, and whether it is a full step by plan (rather than on request)."""
        if self._requested > 0:
            self._requested -= 1
            return FULL, False
        if self.every is not None:
            full = step % self.every == 0
            return (FULL if full else LINE), full
        if self._sure(step):
            return FULL, True
        level = self._from_allowance(step) if self.budget.allows() else self._within_budget(step)
        return level, level == FULL

    def _sure(self, step: int) -> bool:
        """Whether this step is looked at although nothing may be left to spend."""
        cost = self.budget.full_cost
        if step in _ALWAYS:
            return cost < _TOO_DEAR
        return step & (step - 1) == 0 and cost < min(_TOO_DEAR, _SMALL_PART * self.budget.wall_seconds)

    def _from_allowance(self, step: int) -> int:
        if step % _distance(step, _FULL_LOOKS) == 0 and self.budget.allows(self.budget.full_cost):
            return FULL
        return LIGHT if step % min(self.line_interval, _distance(step, _LINE_LOOKS)) else LINE

    def _within_budget(self, step: int) -> int:
        if step % self.line_interval:
            return LIGHT if step % _distance(step, _SURE_LINES) else LINE
        # The distance is checked too: multiples of a shrinking interval may come close after one another.
        interval = self.full_interval
        full = step % interval == 0 and step - self._last_full >= interval // 2
        return FULL if full else LINE

    def _plan(self) -> None:
        """Choose the intervals from what steps and looking at them have cost lately."""
        budget = self.budget
        budget.refresh()
        base, line, full = budget.base_seconds, budget.line_cost, budget.full_cost * self.companions
        if base <= 0:
            return
        self.line_interval = _power_of_two(line / (base * budget.share * _LINE_SHARE)) if line > 0 else 1
        left = max(budget.share * _MARGIN - line / (base * self.line_interval), budget.share * 0.2)
        if full > 0:
            self.full_interval = max(_power_of_two(full / (base * left)), self.line_interval)


def _distance(step: int, looks: int) -> int:
    """The distance between looks that gives this many of them each time the number of steps doubles."""
    return max(1, (1 << step.bit_length()) // (2 * looks))


def _power_of_two(value: float) -> int:
    """The smallest power of two that is at least `value`."""
    return 1 << max(0, math.ceil(value) - 1).bit_length()
