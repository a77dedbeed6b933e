"""How the data is cut into batches."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.curves import flat, labelled, run_with, trace_of, with_facts
from netmend.diagnose.measures.batches import (
    batch_size,
    epochs,
    label_order,
    mixture,
    target_drift,
    training_loader,
    training_samples,
)
from netmend.diagnose.measures.heads import targets
from netmend.diagnose.measures.objective import objective
from netmend.diagnose.measures.progress import progress
from netmend.unit import calibrated, convention, exact
from netmend.vocabulary import (
    BatchPrint,
    LoaderFact,
    LossFact,
    ModuleFact,
    OperandFact,
    ProbeFact,
    RunFact,
    Site,
    Symptom,
    Trace,
)


def _ordered(labels: list[dict[str, int]], changes: int, shuffle: bool | None = None) -> Trace:
    batches = [replace(batch, label_changes=changes) for batch in labelled(*labels)]
    loader = LoaderFact("loader", samples=1000, batch_size=20, shuffle=shuffle, phase="training")
    return trace_of(loader, *batches)


class NotShuffled(Detector, code="D308", needs_fixed_data=True):
    """Training samples come in sorted order: whole batches of one class, or of similar targets.

    Each batch then pulls the network towards its own class and away from the others, so that it forgets in every batch what it learned in
    the one before. Usual causes: data sorted by class and `shuffle=False`, or batches cut by hand in file order.
    """

    order_limit = calibrated(
        0.35, "label changes between neighbours over those of a random order; healthy runs show at least 0.8"
    )
    drift_limit = calibrated(
        8.0,
        "variance of target means between batches over that of random batches; healthy runs show up to 2.5",
    )
    least_batches = convention(8, "batches needed to compare their means")
    least_pairs = convention(60, "neighbours that must have been seen")
    mixed_limit = convention(
        0.9, "share of the whole set's mix that every batch has: then its order means nothing"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        loader = training_loader(trace)
        if loader is not None and loader.shuffle:
            return
        if len(trace.optimizers) > 1 and (len(trace.models) > 1 or len(progress(trace)) > 1):
            return  # adversarial: targets of ones, then of zeros, are no sorted data
        found = self.extremes(trace)
        site = None if loader is None else loader.created
        if found.get("order_limit", 1.0) < self.order_limit:
            message = (
                f"Consecutive samples differ in label only {found['order_limit']:.1%} as often as in random order: "
                "the data is sorted by class."
            )
            yield self.symptom(
                message, ("" if loader is None else loader.name, site), found["order_limit"], self.order_limit
            )
        elif found.get("drift_limit", 1.0) > self.drift_limit:
            message = (
                f"The targets' mean differs between batches {found['drift_limit']:.0f} times as much as in random order: "
                "the data is sorted."
            )
            yield self.symptom(
                message,
                ("" if loader is None else loader.name, site),
                observed=found["drift_limit"],
                limit=self.drift_limit,
                detail={"by": "drift"},
            )

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        found: dict[str, float] = {}
        order, drift = label_order(trace), target_drift(trace)
        mixed = (mixture(trace) or 0.0) > self.mixed_limit
        if order is not None and order[1] >= self.least_pairs and not mixed:
            found["order_limit"] = order[0]
        # Targets that the program makes itself (Q-learning) drift without being sorted.
        moving = bool(progress(trace)) and objective(trace) is None
        # A recurrent network may be fed a series in its order.
        moving = moving or any(layer.kind.startswith(("RNN", "GRU", "LSTM")) for layer in trace.layers())
        if drift is not None and drift[1] >= self.least_batches and not moving:
            found["drift_limit"] = drift[0]
        return found

    HEALTHY = {
        "mixed batches": lambda: _ordered([{"0": 10, "1": 10}] * 8, changes=10),
        "the whole set in every batch": lambda: _ordered([{"0": 100, "1": 100}] * 20, changes=1),
        "the loader shuffles": lambda: _ordered([{"0": 20}, {"1": 20}] * 4, changes=0, shuffle=True),
    }
    FAULTY = {
        "one class after the other": lambda: _ordered(
            [{"0": 20}] * 4 + [{"1": 20}] * 4, changes=0, shuffle=False
        ),
        "sorted real targets": lambda: trace_of(
            *(BatchPrint(step, "training", 32, target_mean=float(step), target_std=0.3) for step in range(12))
        ),
    }


def _normalised_in_batches(
    size: int, kind: str, steps: int = 500, places: int = 1, shape: tuple[int, ...] = ()
) -> Trace:
    loader = LoaderFact("loader", samples=500, batch_size=size, phase="training")
    layer = ModuleFact("model.bn", kind, order=1, input_shapes=(shape,) if shape else ())
    run = RunFact("example", "train.py", steps=steps)
    target = OperandFact("target", (size * places,), "int64")
    loss = LossFact("cross_entropy", "cross_entropy", operands=(target,), backward=Site("train.py", 20))
    return trace_of(loader, layer, run, loss)


class BatchTooSmall(Detector, code="D313", needs_fixed_data=True):
    """Batches hold so few samples that batch statistics or gradients are mostly noise.

    Batch normalisation estimates mean and spread from the batch: with two samples it replaces the signal by its sign. Gradients of single samples
    point in very different directions.
    """

    least_for_norm = convention(5, "samples from which a mean and a spread mean something")
    least_values = convention(
        64, "values of a channel, at all places of an image, that give a mean and a spread"
    )
    least = convention(3, "samples below which gradients are those of single samples")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        size = batch_size(trace)
        if size is None or size < 1 or not trace.run.steps or self._among_larger(trace, size):
            return
        normed = any(
            layer.kind.startswith("BatchNorm")
            and layer.order is not None
            and size * _places(layer) < self.least_values
            for layer in trace.layers()
        )
        limit = self.least_for_norm if normed else self.least
        if size >= limit or (not normed and _answers(trace) >= limit * size):
            return
        with_norm = ", and batch norm computes its statistics from them" if normed else ""
        message = f"Training batches hold {size} sample{'s' if size > 1 else ''}{with_norm}."
        yield self.symptom(message, "", float(size), float(limit), {"normed": normed, "size": size})

    @staticmethod
    def _among_larger(trace: Trace, size: int) -> bool:
        """Several inputs of different length in every step (a condition at one point beside many samples): no batch size."""
        sizes = [batch.size for batch in trace.batches if batch.phase == "training"]
        return training_loader(trace) is None and sum(other > 4 * size for other in sizes) > 0.1 * len(sizes)

    HEALTHY = {
        "four samples without batch statistics": lambda: _normalised_in_batches(4, "LayerNorm"),
        "eight with them": lambda: _normalised_in_batches(8, "BatchNorm1d"),
        "one text, whose every letter is predicted": lambda: _normalised_in_batches(
            1, "LayerNorm", places=200
        ),
        "three images of many places": lambda: _normalised_in_batches(3, "BatchNorm2d", shape=(3, 16, 8, 8)),
        "nothing was trained": lambda: _normalised_in_batches(1, "LayerNorm", steps=0),
    }
    FAULTY = {
        "two with batch statistics": lambda: _normalised_in_batches(2, "BatchNorm2d"),
        "three images that are down to one place": lambda: _normalised_in_batches(
            3, "BatchNorm2d", shape=(3, 16, 1, 1)
        ),
        "single samples": lambda: _normalised_in_batches(1, "LayerNorm"),
    }


def _places(layer: ModuleFact) -> int:
    """Places of one sample that a layer's statistics are taken over: those of an image, a sequence."""
    return math.prod(layer.input_shapes[0][2:]) if layer.input_shapes else 1


def _answers(trace: Trace) -> int:
    """Predictions in a batch: one sequence, or one image with an answer at every place, holds many."""
    # Class ids, or rows of numbers.
    shapes = (o.shape if o.dtype.startswith("int") else o.shape[:-1] for o in targets(trace))
    return max(map(math.prod, shapes), default=0)


def _updated(steps: int, size: int, samples: int) -> Trace:
    trace = run_with(flat(steps, 0.8))
    loader = LoaderFact("loader", samples=samples, batch_size=size, phase="training")
    run = replace(trace.run, steps=steps)
    return trace_of(loader, run, onto=trace)


class FewUpdates(Detector, code="D314", needs_fixed_data=True, needs_end=True):
    """The batch is so large that the weights were updated only a handful of times.

    Every sample was seen several times, but the weights moved in only a few steps. Smaller batches give many more updates for the same work.
    """

    few = convention(80, "updates in the whole run")
    share_limit = convention(0.15, "batch over the number of samples: half a dozen updates per epoch")
    least_size = convention(200, "samples in a batch; smaller sets are commonly taken whole")
    least_epochs = convention(1.9, "passes over the data: smaller batches would have given more updates")
    least_relative = convention(0.3, "a run that learned does not need more updates")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        samples, size, passes = training_samples(trace), batch_size(trace), epochs(trace)
        course, steps = objective(trace), trace.run.steps
        if samples is None or size is None or passes is None or course is None:
            return
        if course.last_relative is None:
            return
        if any(o.kind == "LBFGS" for o in trace.optimizers) or steps > self.few:
            return
        if size < self.share_limit * samples or passes < self.least_epochs:
            return
        if course.last_relative < self.least_relative:
            return
        size = min(size, samples)
        if size < self.least_size or _on_a_part(trace, size):
            return
        message = f"Batches hold {size} of {samples} samples, so {passes:.0f} passes over the data made only {steps} updates."
        detail = {"size": size, "whole": size >= 0.95 * samples}
        yield self.symptom(message, "", size / samples, self.share_limit, detail)

    HEALTHY = {
        "small batches": lambda: _updated(60, 32, 1000),
        "the whole set, many times": lambda: _updated(500, 200, 200),
        "a tiny set and a larger batch": lambda: _updated(20, 1000, 90),
        "labelled nodes of a graph": lambda: _graph(),
    }
    FAULTY = {"the whole set, twenty times": lambda: _updated(20, 1000, 1000)}


def _on_a_part(trace: Trace, size: int) -> bool:
    """Whether the loss is taken on a part of what the model answers (the labelled nodes of a graph): that is no batch to be cut."""
    return any(target.shape and target.shape[0] < size for target in targets(trace))


def _graph() -> Trace:
    """All nodes go through the model, some of them alike; the loss is that of the 140 labelled ones."""
    trace = _updated(20, 2708, 2367)
    (loss,) = trace.losses
    on_part = replace(loss, operands=(OperandFact("prediction", (140, 7)), OperandFact("target", (140,))))
    return trace_of(on_part, onto=trace)


def _collated(samples: int, given: int, made: int, rows: Sequence[int]) -> Trace:
    values = {"samples": samples, "given": given, "made": made, "rows": list(rows)}
    probe = ProbeFact("collation@loader", "collation", "loader", 0, values, Site("train.py", 30))
    return with_facts(LoaderFact("loader", batch_size=samples, created=Site("train.py", 50)), probe)


class BatchCollapsed(Detector, code="D318", needs_fixed_data=True):
    """Many samples go into the collate function, but its batch holds only one.

    The model is trained on a small part of the data, with batches of one, while everything else (epochs, rates, reports) counts all of it.
    Usual causes: lists of different depth that are zipped, a processor that takes the pictures of all samples for those of one.
    """

    least_samples = convention(4, "samples that were put together")
    largest_share = exact(
        0.5,
        "of what the samples hold that is left: samples put one behind another into a single row lose nothing",
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for probe in trace.probes("collation"):
            samples, given = int(probe.values["samples"]), int(probe.values["given"])
            made, rows = int(probe.values["made"]), list(probe.values["rows"])
            if samples < self.least_samples or not given or not rows or max(rows) != 1:
                continue
            share = made / given
            if share > self.largest_share:
                continue
            loader = trace.get(LoaderFact, probe.component)
            message = (
                f"`{probe.component}` puts {samples} samples together, but its batch has only one row:  {share:.0%} of what they "
                "hold is left."
            )
            yield self.symptom(
                message,
                (probe.component, probe.site or (loader.created if loader is not None else None)),
                observed=share,
                limit=self.largest_share,
                detail={"loader": loader.created if loader is not None else None},
                first_step=0,
            )

    HEALTHY = {
        "stacked": lambda: _collated(50, 5000, 5000, (50, 50)),
        "packed into one long row": lambda: _collated(50, 5000, 5100, (1, 1)),
        "a batch of one": lambda: _collated(1, 100, 100, (1,)),
        "broken samples were left out": lambda: _collated(50, 5000, 4700, (47, 47)),
    }
    FAULTY = {"only the first is left": lambda: _collated(50, 5000, 100, (1, 1))}
