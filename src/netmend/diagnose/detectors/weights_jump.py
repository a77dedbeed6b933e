"""D121 WeightsJump."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from netmend.diagnose.detector import register
from netmend.diagnose.measures.motion import comparable
from netmend.diagnose.measures.net_examples import net_run
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Table, Trace


def _reset(at: tuple[int, ...]) -> Trace:
    """A run whose weights are drawn anew at these steps."""
    plain = net_run()
    tables = dict(plain.tables)
    for name in ("model.0.weight", "model.2.weight", "model.4.weight"):
        rows = {
            s: (0.0, 0.1, 0.0, 0.0, 0.0, 0.0, 1.4 if any(s >= r for r in at) else 0.003 * s)
            for s in range(60)
        }
        tables["weight", name] = Table.of("weight", name, rows)
        tables["update", name] = Table.of("update", name, dict.fromkeys(range(60), (0.0003, 0.003)))
    return Trace(plain.facts, tables, plain.patterns)


@register
class WeightsJump:
    """The weights changed far more than the optimiser's steps can explain.

    Something else writes to them: they are set anew inside the loop, or a checkpoint or an average is loaded. Usual causes: initialisation
    called in every epoch, the model built inside the loop. Loading good weights on purpose shows the same.
    """

    code: ClassVar[str] = "D121"

    excess_limit: float = threshold(
        5.0,
        "exact",
        "change over the sum of the steps in between, which bounds it; five allows for steps that grew meanwhile",
    )
    least_change: float = threshold(
        0.3, "convention", "of the initial size: clamping and projecting change less"
    )
    share_limit: float = threshold(
        0.6, "convention", "of the weights: most, not one that is tied or projected"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        parameters = comparable(trace)
        jumps: dict[int, int] = {}
        for parameter in parameters:
            for step in self._jumps(trace, parameter.name, parameter.initial.rms or 0.0):
                jumps[step] = jumps.get(step, 0) + 1
        common = sorted(step for step, count in jumps.items() if count >= self.share_limit * len(parameters))
        if common:
            yield Symptom(
                self.code,
                f"The weights changed by much more than the optimiser's steps can explain, before step {common[0]}"
                + (f" and {len(common) - 1} times more." if len(common) > 1 else "."),
                first_step=common[0],
                observed=float(len(common)),
                detail={"steps": common[:20]},
            )

    def _jumps(self, trace: Trace, name: str, size: float) -> Iterator[int]:
        weights, updates = trace.table("weight", name), trace.table("update", name)
        if len(weights) < 4 or not size:
            return
        steps, drifts = weights.steps, weights.column("drift")
        known_steps, known = updates.known("rms")
        moved = np.full(len(steps), np.nan)
        _, here, there = np.intersect1d(steps, known_steps, return_indices=True)
        moved[here] = known[there]
        largest = np.fmax(moved[1:], moved[:-1]) / size
        change = np.abs(np.diff(drifts))
        with np.errstate(invalid="ignore"):
            beyond = (change > self.least_change) & (change > self.excess_limit * np.diff(steps) * largest)
        yield from (int(step) for step in steps[1:][beyond])

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("moves step by step", lambda: net_run()),
        Run("moves fast", lambda: net_run(ratio=0.2)),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (Run("set anew", lambda: _reset((20,))),)
