"""Giving a trial up early: when its measure is no better than what the program as it was had at that step, and will not be, or is not finite any more.

One look is noise, and some changes make a slow start: a trial goes on while one of its last looks was better, and while it improves so fast
that it would be ahead at the end.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from netmend.trials.measures import number
from netmend.trials.printed import Reader
from netmend.trials.trial import Rule

_LAST = 3  # looks of which the best counts
_NONFINITE = 30  # looks in a row with a non-finite loss, before a trial that others survive is given up


class Race:
    """One trial under a rule; `give_up` is called when it has fallen behind."""

    def __init__(self, rule: Rule, pattern: str, give_up: Callable[[], None]) -> None:
        self.rule, self.give_up = rule, give_up
        self._pattern = re.compile(pattern) if pattern and rule.series == "pattern" else None
        self._label = rule.series.removeprefix("printed:") if rule.series.startswith("printed:") else ""
        self._reader = Reader()
        self._nonfinite = 0
        self._seen: list[tuple[int, float]] = []  # step and measure, higher is better
        self._passes: list[str] = []  # evaluation components in the order in which they came

    def printed(self, step: int, line: str) -> None:
        """The program has printed a line."""
        if self._pattern is not None:
            for text in self._pattern.findall(line)[-1:]:
                self.judge(step, number(text))
        elif self._label:
            for name, value in self._reader.numbers_in(line):
                if name == self._label:
                    self.judge(step, value)

    def watch(self, recorder: Any) -> None:
        """See what is recorded of the program."""
        plain = recorder.row

        def row(kind: str, component: str, step: int, values: Any) -> None:
            plain(kind, component, step, values)
            if kind == "evaluation":
                self._evaluated(component, step, values)
            elif kind == "step":
                self._nonfinite = 0 if math.isfinite(values[0]) else self._nonfinite + 1
                if self._nonfinite > _NONFINITE:
                    self.give_up()

        recorder.row = row

    def _evaluated(self, component: str, step: int, values: Any) -> None:
        if not self.rule.series.startswith("evaluation:"):
            return
        if component not in self._passes:
            self._passes.append(component)
        _, index, column = self.rule.series.split(":")
        if str(self._passes.index(component)) == index:
            relative = values[0] / values[1] if values[1] and values[1] > 0 else math.nan
            self.judge(
                step,
                {"loss": values[0], "relative": relative, "metric": values[2], "worst": values[9]}[column],
            )

    def judge(self, step: int, value: float) -> None:
        limit = math.nan
        for first, bound in self.rule.limits:
            if step >= first:
                limit = bound
        sign = 1.0 if self.rule.higher_is_better else -1.0
        self._seen.append((step, sign * value))
        if math.isnan(limit):
            return
        last, goal = self.rule.limits[-1]
        ahead = self._best(self._seen[-_LAST:]) > sign * limit
        if not math.isfinite(value) or not (ahead or self._expected(last) > sign * goal):
            self.give_up()

    @staticmethod
    def _best(looks: list[tuple[int, float]]) -> float:
        return max((value for _, value in looks if math.isfinite(value)), default=-math.inf)

    def _expected(self, end: int) -> float:
        """The measure at the end if it goes on as it went from the first half of the looks to the second."""
        middle = len(self._seen) // 2
        now, then = self._seen[-1][0], self._seen[middle - 1][0]
        before, after = self._best(self._seen[:middle]), self._best(self._seen[middle:])
        if not middle or now <= then or not math.isfinite(before):
            return after
        return after + max(0.0, after - before) * max(0, end - now) / (now - then)
