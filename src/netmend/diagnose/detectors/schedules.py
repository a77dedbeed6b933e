"""Schedules that ruin the learning rate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.loops import optimizer, trained
from netmend.diagnose.measures.loop import span_of
from netmend.diagnose.measures.progress import main_progress
from netmend.unit import convention
from netmend.vocabulary import GroupFact, SchedulerFact, Site, Symptom, Table, Trace
from netmend.vocabulary.table import IntArray

_SCHEDULER = SchedulerFact(
    "StepLR", "StepLR", "optimizer", {"gamma": 0.1}, Site("train.py", 9), Site("train.py", 14)
)


def _rates(every: int, factor: float, least: float = 0.0) -> Table:
    """A rate that is multiplied every so many of 64 steps."""
    return Table.of(
        "rate", "optimizer[0]", {s: (max(0.1 * factor ** (s // every), least),) for s in range(0, 64, every)}
    )


class RateDies(Detector, code="D210"):
    """The schedule lowers the learning rate to next to nothing in the first half of the run.

    From then on the weights hardly move: the rest of the run is spent for nothing, and what was learned until then is all.
    Usual causes: scheduler.step() after every batch where the schedule counts epochs, gamma far too small, warm-up or cosine
    length given in epochs instead of steps.
    """

    dead = convention(
        1e-3, "a thousandth of the highest rate: a thousand such steps weigh as much as one before"
    )
    by_share = convention(
        0.5, "schedules that end low reach a thousandth in the last tenth (cosine: the last 2 %)"
    )
    weak = convention(0.0101, "a hundredth: what two usual decays by ten leave")
    by_early = convention(0.2, "two decays in the first fifth of the run: the numbers count something else")
    least_steps = convention(20, "shorter runs have no schedule to speak of")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for table in trace.tables_of("rate"):
            name = table.component.partition("[")[0]
            begun, ended = span_of(trace, name)  # a run may have several phases, each with an optimiser
            when, rates = table.known("rate")
            when, steps = when - begun, ended - begun
            peak = float(rates.max(initial=0.0))
            if peak <= 0 or steps < self.least_steps:
                continue
            died = _since(when, rates < self.dead * peak)
            early = _since(when, rates < self.weak * peak)
            if died is not None and died <= self.by_share * steps:
                step, part = died, "a thousandth"
            elif early is not None and early <= self.by_early * steps:
                step, part = early, "a hundredth"
            else:
                continue
            scheduler = next((s for s in trace.all(SchedulerFact) if s.optimizer == name), None)
            message = f"The learning rate of {name} fell to less than {part} of its peak ({peak:.3g}) by step {step} of {steps}."
            yield self.symptom(
                message,
                scheduler.name if scheduler is not None else table.component,
                observed=step / steps,
                limit=self.by_share,
                detail={
                    "peak": peak,
                    "last": float(rates[-1]),
                    "dead": part == "a thousandth",
                    "fell_after": _fell_after(trace, begun + step),
                    "scheduler": "" if scheduler is None else scheduler.name,
                },
                first_step=begun + step,
                site=scheduler.stepped if scheduler is not None else None,
            )

    HEALTHY = {
        "constant": lambda: trained(optimizer(), Table.of("rate", "optimizer[0]", {0: (0.1,)})),
        "low at the end only": lambda: trained(_SCHEDULER, _rates(12, 0.1)),
        "low at the end of the first of two phases": lambda: trained(
            optimizer(),
            optimizer("second"),
            _SCHEDULER,
            _rates(12, 0.1),
            ("zero_grad:optimizer forward:model=train,grad backward step:optimizer", 64),
            ("zero_grad:second forward:model=train,grad backward step:second", 80),
        ),
        "never quite dead": lambda: trained(_SCHEDULER, _rates(4, 0.1, 2e-3)),
    }
    FAULTY = {
        "stepped far too often": lambda: trained(_SCHEDULER, _rates(4, 0.1)),
        "milestones of epochs, counted in batches": lambda: trained(_SCHEDULER, _rates(4, 0.1, 1e-3)),
    }


def _since(when: IntArray, low: NDArray[np.bool_]) -> int | None:
    """The step from which on the rate stayed low; None when it was not low at the end."""
    if not len(low) or not low[-1]:
        return None
    alive = np.flatnonzero(~low)
    return int(when[alive[-1] + 1]) if len(alive) else int(when[0])


def _fell_after(trace: Trace, step: int) -> float | None:
    """Share of the loss that still went away after a step."""
    course = main_progress(trace)
    if course is None:
        return None
    after = course.losses[course.steps >= step]
    return float((after[0] - after[-1]) / after[0]) if len(after) > 1 and after[0] > 0 else None


_WARM_UP = SchedulerFact("LambdaLR", "LambdaLR", "optimizer", {}, Site("train.py", 9), Site("train.py", 14))


def _run(given: float, *rates: float) -> Trace:
    group = GroupFact({"lr": rates[0], "initial_lr": given}, ("model.fc.weight",))
    seen = {8 * turn: (rate,) for turn, rate in enumerate(rates)}
    return trained(
        replace(optimizer(), groups=(group,)),
        _WARM_UP,
        Table.of("rate", "optimizer[0]", seen),
        losses=[1.0] * 40,
    )


class RateNeverRises(Detector, code="D232", needs_end=True):
    """A schedule keeps the learning rate far below the one that the optimiser was given, from the first step to the last.

    That is meant where the given rate is only a unit (1.0, with a schedule that returns rates). It is none where the rate is a usual one.
    Usual causes: a LambdaLR whose function returns a rate, though it is a factor of the rate; a warm-up that is longer than the run.
    """

    share = convention(0.0101, "of the given rate: a hundredth is no rate that anybody asked for")
    least_steps = convention(20, "shorter runs have no schedule to speak of")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for fact in trace.optimizers:
            scheduler = next((s for s in trace.all(SchedulerFact) if s.optimizer == fact.name), None)
            begun, ended = span_of(trace, fact.name)
            if scheduler is None or ended - begun < self.least_steps:
                continue
            for number, group in enumerate(fact.groups):
                given = group.settings.get("initial_lr")
                rates = trace.table("rate", f"{fact.name}[{number}]").known("rate")[1]
                peak = float(rates.max(initial=0.0))
                if not isinstance(given, float) or not 0 < peak <= self.share * given:
                    continue
                message = f"The learning rate of {fact.name} never came above {peak:.3g}, although it was set to {given:g}."
                yield self.symptom(
                    message,
                    (scheduler.name, scheduler.created),
                    observed=peak / given,
                    limit=self.share,
                    detail={"given": given, "peak": peak, "scheduler": scheduler.name},
                    first_step=begun,
                )
                break

    HEALTHY = {
        "warms up and decays": lambda: _run(0.003, 1e-6, 1e-3, 3e-3, 1e-3, 1e-6),
        "one tenth to begin with": lambda: _run(0.003, 3e-4, 3e-4, 1e-4),
    }
    FAULTY = {"a rate in place of a factor": lambda: _run(0.003, 3e-7, 5e-6, 9e-6, 5e-6)}
