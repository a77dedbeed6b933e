"""D726 ReturnsFall."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.acting import returns, training_world
from netmend.diagnose.measures.acting_examples import a_world, acted
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace


@register
class ReturnsFall:
    """The agent got worse: its episodes return clearly less at the end than at the beginning.

    It began with actions that knew nothing, and training has made them worse. That says by itself that something is wrong only once the run is
    long; together with a sign in the source it settles the case. Usual causes: a policy loss or reward with the wrong sign, a policy
    that collapsed, no exploration any more.
    """

    code: ClassVar[str] = "D726"

    least_episodes: int = threshold(30, "convention", "episodes from which two thirds can be compared")
    fall_limit: float = threshold(
        4.0,
        "convention",
        "difference of the means in standard errors; learning curves of healthy agents rise",
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        world = training_world(trace)
        seen = self.extremes(trace)
        if world is None or not trace.run.steps or seen.get("fall_limit", 0.0) < self.fall_limit:
            return
        values = returns(trace, world)
        third = len(values) // 3
        first, last = float(values[:third].mean()), float(values[-third:].mean())
        yield Symptom(
            self.code,
            f"Episodes returned {first:.3g} at the beginning and {last:.3g} at the end: training made the agent worse.",
            component=world.name,
            observed=seen["fall_limit"],
            limit=self.fall_limit,
            site=world.stepped,
        )

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        world = training_world(trace)
        if world is None:
            return {}
        values = returns(trace, world)
        third = len(values) // 3
        if 3 * third < self.least_episodes:
            return {}
        first, last = values[:third], values[-third:]
        error = math.sqrt((float(first.var()) + float(last.var())) / third) + 1e-6 * (
            1 + abs(float(first.mean()))
        )
        return {"fall_limit": (float(first.mean()) - float(last.mean())) / error}

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("rises", lambda: acted(a_world(), returns=[float(20 + index) for index in range(60)])),
        Run("neither", lambda: acted(a_world(), returns=[20.0, 30.0, 10.0] * 20)),
        Run("few episodes", lambda: acted(a_world(), returns=[30.0] * 6 + [10.0] * 6)),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "worse and worse",
            lambda: acted(a_world(), returns=[22.0, 25.0, 18.0] * 10 + [9.0, 10.0, 9.5] * 20),
        ),
    )
