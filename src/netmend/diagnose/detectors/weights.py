"""What becomes of the weights over a run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.curves import trace_of
from netmend.diagnose.examples.networks import net_run
from netmend.diagnose.measures.motion import FIRST_STEPS, Motion, comparable, motions, searches
from netmend.diagnose.measures.words import plural
from netmend.unit import calibrated, convention, exact
from netmend.vocabulary import Symptom, Table, Trace


class WeightsDiverge(Detector, code="D107", needs_fixed_data=True):
    """The weights grew to many times their initial size, at once or without end.

    Outputs and gradients grow with them, so that units saturate or die and values overflow. Usual causes: a learning rate that is too
    high, gradients that are not cleared, a loss without a lower bound, unscaled inputs or targets.
    """

    early_limit = calibrated(4.0, "growth within the first steps; healthy networks stay below 2.4")
    growth_limit = calibrated(
        40.0, "growth over the run; healthy networks stay below 22 (sigmoid units that learn steps)"
    )
    least_tensors = convention(2, "a single linear layer takes the scale it needs, whatever it started from")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for motion in self._judged(trace):
            early, growth = motion.early_growth or 1.0, motion.growth or 1.0
            if early < self.early_limit and growth < self.growth_limit:
                continue
            at_once = early >= self.early_limit
            seen = early if at_once else growth
            when = f"within about {FIRST_STEPS} steps" if at_once else "over the run"
            size = f"to {seen:.3g} times their initial size" if math.isfinite(seen) else "to infinity"
            yield self.symptom(
                f"The weights grew {size} {when} (median of {plural(motion.tensors, 'tensor')}).",
                motion.optimizer,
                observed=seen,
                limit=self.early_limit if at_once else self.growth_limit,
                detail={"whole": growth},
                first_step=1 if at_once else motion.last_look,
            )

    def _judged(self, trace: Trace) -> Iterator[Motion]:
        for motion in motions(trace):
            if not searches(trace, motion) and motion.tensors >= self.least_tensors:
                yield motion

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        judged = list(self._judged(trace))
        if not judged:
            return {}
        return {
            "early_limit": max(motion.early_growth or 1.0 for motion in judged),
            "growth_limit": max(motion.growth or 1.0 for motion in judged),
        }

    HEALTHY = {
        "grows a little": lambda: net_run(growth=3.0),
        "grows slowly from a small start": lambda: net_run(gain=0.1, growth=8.0),
    }
    FAULTY = {
        "at once": lambda: net_run(growth=lambda step: min(1 + step, 12.0)),
        "without end": lambda: net_run(growth=100.0),
    }


class WeightsCollapse(Detector, code="D108"):
    """The weights shrank to a small part of their initial size.

    A network whose weights go to zero answers the same for every input. Usual causes: weight decay or a penalty in the loss that is far too
    strong for the size of the gradients, or the only pull left when gradients vanish.
    """

    shrink_limit = calibrated(
        0.15, "last over initial size, median over tensors; healthy programs stay above 0.5"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for motion in motions(trace):
            if motion.growth is None or motion.growth > self.shrink_limit:
                continue
            message = (
                f"The weights shrank to {motion.growth:.2g} of their initial size by step {motion.last_look} "
                f"(median of {plural(motion.tensors, 'tensor')})."
            )
            yield self.symptom(
                message, motion.optimizer, motion.growth, self.shrink_limit, first_step=motion.last_look
            )

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        sizes = [motion.growth for motion in motions(trace) if motion.growth is not None]
        return {"shrink_limit": min(sizes)} if sizes else {}

    HEALTHY = {
        "keeps its size": lambda: net_run(),
        "shrinks under ordinary decay": lambda: net_run(growth=0.5),
    }
    FAULTY = {"shrinks to nothing": lambda: net_run(growth=0.01)}


def _reset(at: tuple[int, ...]) -> Trace:
    """A run whose weights are drawn anew at these steps."""
    tables = []
    for name in ("model.0.weight", "model.2.weight", "model.4.weight"):
        drifts = {s: 1.4 if any(s >= r for r in at) else 0.003 * s for s in range(60)}
        rows = {s: (0.0, 0.1, 0.0, 0.0, 0.0, 0.0, drift) for s, drift in drifts.items()}
        tables.append(Table.of("weight", name, rows))
        tables.append(Table.of("update", name, dict.fromkeys(range(60), (0.0003, 0.003))))
    return trace_of(*tables, onto=net_run())


class WeightsJump(Detector, code="D121"):
    """The weights changed far more than the optimiser's steps can explain.

    Something else writes to them: they are set anew inside the loop, or a checkpoint or an average is loaded. Usual causes: initialisation
    called in every epoch, the model built inside the loop. Loading good weights on purpose shows the same.
    """

    excess_limit = exact(
        5.0,
        "change over the sum of the steps in between, which bounds it; five allows for steps that grew meanwhile",
    )
    least_change = convention(0.3, "of the initial size: clamping and projecting change less")
    share_limit = convention(0.6, "of the weights: most, not one that is tied or projected")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        parameters = comparable(trace)
        jumps: dict[int, int] = {}
        for parameter in parameters:
            for step in self._jumps(trace, parameter.name, parameter.initial.rms or 0.0):
                jumps[step] = jumps.get(step, 0) + 1
        common = sorted(step for step, count in jumps.items() if count >= self.share_limit * len(parameters))
        if common:
            message = (
                f"The weights changed by much more than the optimiser's steps can explain, before step {common[0]}"
                + (f" and {len(common) - 1} times more." if len(common) > 1 else ".")
            )
            detail = {"steps": common[:20]}
            yield self.symptom(message, "", float(len(common)), detail=detail, first_step=common[0])

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

    HEALTHY = {"moves step by step": lambda: net_run(), "moves fast": lambda: net_run(ratio=0.2)}
    FAULTY = {"set anew": lambda: _reset((20,))}
