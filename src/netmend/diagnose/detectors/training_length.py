"""Too few samples, too few steps, and training that stops while the loss falls."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import replace

import numpy as np

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.curves import falling, flat, run_with, trace_of
from netmend.diagnose.examples.loops import trained
from netmend.diagnose.measures.batches import batch_size, epochs, training_loader, training_samples
from netmend.diagnose.measures.motion import WHOLE_SEARCHES
from netmend.diagnose.measures.objective import objective
from netmend.diagnose.measures.progress import Progress, progress
from netmend.unit import calibrated, convention
from netmend.vocabulary import LoaderFact, ModelFact, Symptom, Trace

_POOR = [1.0 - 0.01 * step for step in range(16)]


def _with_samples(
    samples: int, evaluated: int, batch: int = 16, weights: int = 5000, losses: list[float] | None = None
) -> Trace:
    return trace_of(
        LoaderFact("loader", samples=samples, batch_size=batch, phase="training"),
        LoaderFact("held_out", samples=evaluated, batch_size=100, phase="evaluation"),
        ModelFact("model", "Net", parameters=weights, trainable=weights),
        onto=run_with(_POOR if losses is None else losses),
    )


class FewSamples(Detector, code="D319", needs_fixed_data=True, needs_end=True):
    """The network was trained on a handful of samples, far fewer than it is evaluated on or than one batch would hold.

    Evaluation sets are parts of the data, a tenth to a half of it; a training set that is the smaller one has usually been cut by mistake: the parts of
    a split exchanged, a subset of a first try that was left in, an index that selects too much away.
    """

    few = convention(150, "training samples that are few for any network")
    weights_per_sample = convention(5.0, "weights per sample: with fewer the network is as small as its data")
    evaluated_share = convention(
        2.0, "evaluation samples over training samples; splits keep more for training"
    )
    most_updates = convention(
        150, "with more of them so few samples are known by heart, unless something else is wrong"
    )
    least_relative = convention(0.35, "a run that learned did so from few samples too")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        samples, course = training_samples(trace), objective(trace)
        if not samples or samples > self.few or course is None or course.last_relative is None:
            return
        if sum(model.trainable for model in trace.models) < self.weights_per_sample * samples:
            return
        if course.last_relative < self.least_relative or trace.run.steps > self.most_updates:
            return
        loader, evaluated = training_loader(trace), evaluation_samples(trace)
        batch = None if loader is None else loader.batch_size
        if evaluated is not None and evaluated >= self.evaluated_share * samples:
            beside = f"and evaluated on {evaluated:,}"
        elif batch is not None and batch > samples:
            beside = f"fewer than the {batch} a batch may hold"
        else:
            return
        message = f"The network was trained on {samples:} samples, {beside}."
        yield self.symptom(
            message, ("", None if loader is None else loader.created), float(samples), float(self.few)
        )

    HEALTHY = {
        "a large part for training": lambda: _with_samples(1000, 250),
        "few samples, and fewer held out": lambda: _with_samples(90, 60),
        "few samples that were enough": lambda: _with_samples(
            90, 500, losses=[0.9**step for step in range(60)]
        ),
        "a network as small as its data": lambda: _with_samples(90, 500, weights=200),
        "few samples seen very often": lambda: _with_samples(90, 500, losses=[1.0] * 400),
    }
    FAULTY = {
        "the parts of a split exchanged": lambda: _with_samples(90, 900),
        "fewer than a batch holds": lambda: _with_samples(40, 10, batch=64),
    }


def evaluation_samples(trace: Trace) -> int | None:
    """Samples of the largest evaluation pass or loader; None where nothing was evaluated."""
    found = [loader.samples for loader in trace.loaders if loader.phase == "evaluation" and loader.samples]
    for table in trace.tables_of("evaluation"):
        counts = table.known("samples")[1]
        found += [int(np.max(counts))] if len(counts) else []
    return max(found, default=0) or None


def _of_length(losses: list[float], size: int, samples: int, seen: Container[int] | None = None) -> Trace:
    trace = run_with(losses, seen=seen)
    loader = LoaderFact("loader", samples=samples, batch_size=size, phase="training")
    run = replace(trace.run, steps=len(losses))
    return trace_of(loader, run, onto=trace)


def _added_up() -> Trace:
    loader = LoaderFact("loader", samples=6000, batch_size=8, phase="training")
    loop = "zero_grad:optimizer forward:model=train,grad*16 loss*16 backward@12*16 step:optimizer"
    return trained(loader, (loop, 564), losses=flat(564), optimised=False)


class ShortTraining(Detector, code="D512", needs_fixed_data=True):
    """The data was seen only a few times, in few updates, and little was learned.

    Whatever else is wrong, a training from scratch of a few passes and some dozen updates ends before it has begun. Usual causes: a number
    of epochs left over from trying the program out; batches so large that an epoch is a handful of updates.
    """

    few_passes = calibrated(
        5.1, "times that every sample was seen; healthy programs of few updates that learned little: 6"
    )
    few_steps = calibrated(200, "updates; one batch more than that in five passes learns most tasks")
    one_pass = convention(1.3, "every sample seen about once, whatever the number of updates")
    few_single = convention(1500, "updates up to which one pass over the data is short")
    few_unknown = convention(100, "updates that are few when the amount of data is not known")
    hardly_any = convention(
        50, "updates that are too few for a training from scratch, however often samples were seen"
    )
    small_batch = convention(
        200, "samples in a batch that make the updates few; smaller sets are commonly taken whole"
    )
    still_much = convention(0.35, "with hardly any updates, a loss that leaves much to learn")
    more_passes = convention(10, "passes that are few where there were that few updates")
    large_share = convention(0.25, "of the data in one batch: then the batch is too large")
    least_relative = convention(0.5, "below that of the constant prediction much was learned")
    two_passes = convention(1.9, "passes that are more than a try-out of the first batches")
    least_steps = convention(5, "fewer steps are a try-out, not a training")
    late = convention(0.4, "share of the run after which the last looks must lie to tell of its end")

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
        message = (
            f"There were only {steps} updates{seen}, and the loss ended at {course.last_relative:.2f} times that of the best "
            f"constant prediction."
        )
        yield self.symptom(
            message,
            course.loss,
            observed=float(steps) if passes is None else passes,
            limit=float(self.few_unknown) if passes is None else self.few_passes,
            detail={"steps": steps},
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

    HEALTHY = {
        "few updates that were enough": lambda: _of_length(falling(60), 32, 960),
        "many passes": lambda: _of_length(flat(60), 32, 150),
        "looked at mostly in its first steps": lambda: _of_length(
            [0.98**step for step in range(90)], 16, 360, seen=(0, 1, 2, 4, 5, 8, 16, 64)
        ),
        "large batches, which is another matter": lambda: _of_length(flat(40), 300, 1200),
        "many updates": lambda: _of_length(flat(400), 32, 3200),
        "many passes, gradients of sixteen batches in each update": lambda: _added_up(),
    }
    FAULTY = {
        "two passes": lambda: _of_length(flat(60, 0.9), 32, 960),
        "eight updates of all samples": lambda: _of_length(
            [1.0 - 0.03 * step for step in range(8)], 120, 120
        ),
        "one pass of single samples": lambda: _of_length(flat(1000, 0.8), 1, 1000),
    }


class StillFalling(Detector, code="D505", needs_fixed_data=True):
    """The loss was still falling steeply, and far from low, when training ended.

    The program stopped in the middle of learning: what it reports is not what it can reach. Usual causes: too few
    epochs, a batch so large that there are hardly any updates, a learning rate that is too low.
    """

    fall_limit = calibrated(
        0.22, "share of the remaining loss lost over the last third of the run; see docs/calibration.md"
    )
    least_relative = calibrated(0.35, "below that much has been learned already")
    least_looks = convention(6, "a trend needs some points")
    late = convention(0.4, "share of the run after which what is compared with its end must lie")
    few_looks = convention(12, "below that block means hide the trend: single losses count")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        course = objective(trace)
        found = self.extremes(trace)
        if course is None or not found:
            return
        if found["fall_limit"] < self.fall_limit or found["least_relative"] < self.least_relative:
            return
        message = (
            f"The loss fell by {found['fall_limit']:.0%} over the last third of the run and was still "
            f"{found['least_relative']:.2f} times that of the best constant prediction when training ended."
        )
        yield self.symptom(
            message, course.loss, found["fall_limit"], self.fall_limit, first_step=course.last_step
        )

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        course = objective(trace)
        if len(progress(trace)) > 1:
            return {}  # several objectives: what is left of one may be what the others leave to it
        if course is None or course.relative is None or course.looks < self.least_looks:
            return {}
        if course.looks < self.few_looks:
            return self._of_few(trace, course)
        # On a busy machine most looks are early ones: what they show is not the last third of the run.
        early = np.searchsorted(course.steps, self.late * course.last_step)
        start = max(2 * len(course.losses) // 3 - 1, int(early))
        if start >= len(course.losses) - 1:
            return {}
        first, last = float(course.losses[start]), float(course.losses[-1])
        noise = float(np.hypot(course.errors[start], course.errors[-1]))
        fall = (first - last) / first if first - last > 3 * noise and first > 0 else 0.0
        return {"fall_limit": fall, "least_relative": float(course.relative[-1])}

    @staticmethod
    def _of_few(trace: Trace, course: Progress) -> Mapping[str, float]:
        """The same from single losses, of which a line through the last two thirds tells trend and noise."""
        seen = trace.table("progress", course.loss).known("loss")[1]
        values = seen if len(seen) >= course.looks else trace.loss[1][np.isfinite(trace.loss[1])]
        late = values[len(values) // 3 :]
        if len(late) < 4:
            return {}
        places = np.arange(len(late), dtype=np.float64)
        slope, offset = np.polyfit(places, late, 1)
        noise = float(np.std(late - slope * places - offset))
        end = float(offset + slope * places[-1])
        fall = -float(slope) * (len(late) - 1) / 2  # over half of these: the last third of the run
        share = fall / (end + fall) if fall > 3 * noise and end + fall > 0 else 0.0
        relative = float(course.last_relative or 0.0) * end / course.last if course.last > 0 else 0.0
        return {"fall_limit": share, "least_relative": relative}

    HEALTHY = {
        "converged": lambda: run_with(falling(200)),
        "falls, but is low already": lambda: run_with([1.0 * 0.99**step for step in range(300)]),
        "never moved": lambda: run_with(flat(100)),
        "looked at mostly in its first steps": lambda: run_with(
            [0.99**step for step in range(100)], seen=(*range(17), 50, 70, 85)
        ),
        "a few noisy losses": lambda: run_with([1.1, 0.7, 1.2, 0.6, 0.9, 1.0, 0.6, 0.8]),
    }
    FAULTY = {
        "stopped half way": lambda: run_with([1.1 * 0.988**step for step in range(80)]),
        "eight updates": lambda: run_with([1.1 - 0.08 * step for step in range(8)]),
    }
