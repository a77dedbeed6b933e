"""D512 ShortTraining."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.data import batch_size, epochs, training_samples
from netmend.diagnose.measures.examples import falling, flat, run_with
from netmend.diagnose.measures.loop_examples import trained
from netmend.diagnose.measures.motion import WHOLE_SEARCHES
from netmend.diagnose.measures.objective import objective
from netmend.unit import Run, threshold
from netmend.vocabulary import LoaderFact, Symptom, Trace


def _trace(losses: list[float], size: int, samples: int, seen: Container[int] | None = None) -> Trace:
    trace = run_with(losses, seen=seen)
    loader = LoaderFact("loader", samples=samples, batch_size=size, phase="training")
    run = replace(trace.run, steps=len(losses))
    return Trace({**trace.facts, "loader": {"loader": loader}, "run": {"example": run}}, trace.tables)


def _added_up() -> Trace:
    loader = LoaderFact("loader", samples=6000, batch_size=8, phase="training")
    loop = "zero_grad:optimizer forward:model=train,grad*16 loss*16 backward@12*16 step:optimizer"
    return trained(loader, loop=[(loop, 564)], losses=flat(564))


@register
class ShortTraining:
    """The data was seen only a few times, in few updates, and little was learned.

    Whatever else is wrong, a training from scratch of a few passes and some dozen updates ends before it has begun. Usual causes: a number
    of epochs left over from trying the program out; batches so large that an epoch is a handful of updates.
    """

    code: ClassVar[str] = "D512"

    few_passes: float = threshold(
        5.1,
        "calibrated",
        "times that every sample was seen; healthy programs of few updates that learned little: 6",
    )
    few_steps: int = threshold(
        200, "calibrated", "updates; one batch more than that in five passes learns most tasks"
    )
    one_pass: float = threshold(
        1.3, "convention", "every sample seen about once, whatever the number of updates"
    )
    few_single: int = threshold(1500, "convention", "updates up to which one pass over the data is short")
    few_unknown: int = threshold(
        100, "convention", "updates that are few when the amount of data is not known"
    )
    hardly_any: int = threshold(
        50,
        "convention",
        "updates that are too few for a training from scratch, however often samples were seen",
    )
    small_batch: int = threshold(
        200,
        "convention",
        "samples in a batch that make the updates few; smaller sets are commonly taken whole",
    )
    still_much: float = threshold(
        0.35, "convention", "with hardly any updates, a loss that leaves much to learn"
    )
    more_passes: float = threshold(10, "convention", "passes that are few where there were that few updates")
    large_share: float = threshold(
        0.25, "convention", "of the data in one batch: then the batch is too large"
    )
    least_relative: float = threshold(
        0.5, "convention", "below that of the constant prediction much was learned"
    )
    two_passes: float = threshold(
        1.9, "convention", "passes that are more than a try-out of the first batches"
    )
    least_steps: int = threshold(5, "convention", "fewer steps are a try-out, not a training")
    late: float = threshold(
        0.4, "convention", "share of the run after which the last looks must lie to tell of its end"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        course, steps, passes = objective(trace), trace.run.steps, epochs(trace)
        if any(optimizer.kind in WHOLE_SEARCHES for optimizer in trace.optimizers):
            return
        if course is None or course.last_relative is None or steps < self._least(passes):
            return
        if course.steps[-1] < self.late * steps:
            return  # on a busy machine most looks are early ones, and say little about the end
        hardly = self._hardly_any(trace, steps, passes)
        short = hardly or self._short(steps, passes, self._share(trace))
        if not short or course.last_relative < (self.still_much if hardly else self.least_relative):
            return
        seen = "" if passes is None else f" in about {passes:.1f} passes over the data"
        yield Symptom(
            self.code,
            f"There were only {steps} updates{seen}, and the loss ended at {course.last_relative:.2f} times that of the best "
            f"constant prediction.",
            component=course.loss,
            observed=float(steps) if passes is None else passes,
            limit=float(self.few_unknown) if passes is None else self.few_passes,
            detail={"passes": passes, "steps": steps},
        )

    def _least(self, passes: float | None) -> int:
        """One step is a try-out; two passes in two or three steps are a training with a batch that is too large."""
        return 2 if passes is not None and passes >= self.two_passes else self.least_steps

    def _hardly_any(self, trace: Trace, steps: int, passes: float | None) -> bool:
        """So few updates that no number of samples in each makes up for it. Many passes in large batches are D314's matter."""
        large = (batch_size(trace) or 0) >= self.small_batch
        few = passes is not None and passes <= self.few_passes
        return steps <= self.hardly_any and (few or not large)

    @staticmethod
    def _share(trace: Trace) -> float:
        """The share of the data that one batch holds."""
        samples, size = training_samples(trace), batch_size(trace)
        return size / samples if samples and size else 0.0

    def _short(self, steps: int, passes: float | None, share: float) -> bool:
        if passes is None:
            return steps <= self.few_unknown
        # Less than one pass is a stream, or samples that are looked at several times in one update.
        once = 0.7 <= passes <= self.one_pass and steps <= self.few_single
        small = share < self.large_share and steps <= self.few_unknown and passes <= self.more_passes
        return once or small or (passes <= self.few_passes and steps <= self.few_steps)

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        """Passes and updates of runs that learned little."""
        course, passes = objective(trace), epochs(trace)
        if course is None or passes is None or (course.last_relative or 0.0) < self.least_relative:
            return {}
        return {"few_passes": passes, "few_steps": float(trace.run.steps)}

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("few updates that were enough", lambda: _trace(falling(60), 32, 960)),
        Run("many passes", lambda: _trace(flat(60), 32, 150)),
        Run(
            "looked at mostly in its first steps",
            lambda: _trace([0.98**step for step in range(90)], 16, 360, seen=(0, 1, 2, 4, 5, 8, 16, 64)),
        ),
        Run("large batches, which is another matter", lambda: _trace(flat(40), 300, 1200)),
        Run("many updates", lambda: _trace(flat(400), 32, 3200)),
        Run("many passes, gradients of sixteen batches in each update", lambda: _added_up()),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("two passes", lambda: _trace(flat(60, 0.9), 32, 960)),
        Run(
            "eight updates of all samples", lambda: _trace([1.0 - 0.03 * step for step in range(8)], 120, 120)
        ),
        Run("one pass of single samples", lambda: _trace(flat(1000, 0.8), 1, 1000)),
    )
