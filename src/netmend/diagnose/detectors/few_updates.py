"""D314 FewUpdates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.data import batch_size, epochs, training_samples
from netmend.diagnose.measures.examples import flat, run_with
from netmend.diagnose.measures.heads import minimised
from netmend.diagnose.measures.objective import objective
from netmend.unit import Run, threshold
from netmend.vocabulary import LoaderFact, OperandFact, Symptom, Trace


def _trace(steps: int, size: int, samples: int) -> Trace:
    trace = run_with(flat(steps, 0.8))
    loader = LoaderFact("loader", samples=samples, batch_size=size, phase="training")
    run = replace(trace.run, steps=steps)
    return Trace({**trace.facts, "loader": {"loader": loader}, "run": {"example": run}}, trace.tables)


@register
class FewUpdates:
    """The batch is so large that the weights were updated only a handful of times.

    Every sample was seen several times, but the weights moved in only a few steps. Smaller batches give many more updates for the same work.
    """

    code: ClassVar[str] = "D314"

    few: int = threshold(80, "convention", "updates in the whole run")
    share_limit: float = threshold(
        0.15, "convention", "batch over the number of samples: half a dozen updates per epoch"
    )
    least_size: int = threshold(
        200, "convention", "samples in a batch; smaller sets are commonly taken whole"
    )
    least_epochs: float = threshold(
        1.9, "convention", "passes over the data: smaller batches would have given more updates"
    )
    least_relative: float = threshold(0.3, "convention", "a run that learned does not need more updates")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        samples, size, passes = training_samples(trace), batch_size(trace), epochs(trace)
        course, steps = objective(trace), trace.run.steps
        if (
            samples is None
            or size is None
            or passes is None
            or course is None
            or course.last_relative is None
        ):
            return
        if (
            any(o.kind == "LBFGS" for o in trace.optimizers)
            or steps > self.few
            or size < self.share_limit * samples
            or passes < self.least_epochs
        ):
            return
        if course.last_relative < self.least_relative:
            return
        size = min(size, samples)
        if size < self.least_size or _on_a_part(trace, size):
            return
        yield Symptom(
            self.code,
            f"Batches hold {size} of {samples} samples, so {passes:.0f} passes over the data made only {steps} updates.",
            observed=size / samples,
            limit=self.share_limit,
            detail={"size": size, "samples": samples, "whole": size >= 0.95 * samples},
        )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("small batches", lambda: _trace(60, 32, 1000)),
        Run("the whole set, many times", lambda: _trace(500, 200, 200)),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (Run("the whole set, twenty times", lambda: _trace(20, 1000, 1000)),)


def _on_a_part(trace: Trace, size: int) -> bool:
    """Whether the loss is taken on a part of what the model answers (the labelled nodes of a graph): that is no batch to be cut."""
    shapes = [o.shape for loss in minimised(trace) for o in loss.operands if o.role == "target"]
    return any(shape and shape[0] < size for shape in shapes)


def _graph() -> Trace:
    """All nodes go through the model, some of them alike; the loss is that of the 140 labelled ones."""
    trace = _trace(20, 2708, 2367)
    (loss,) = trace.losses
    on_part = replace(loss, operands=(OperandFact("prediction", (140, 7)), OperandFact("target", (140,))))
    return Trace({**trace.facts, "loss": {loss.name: on_part}}, trace.tables)


FewUpdates.HEALTHY = (
    *FewUpdates.HEALTHY,
    Run("a tiny set and a larger batch", lambda: _trace(20, 1000, 90)),
    Run("labelled nodes of a graph", _graph),
)
