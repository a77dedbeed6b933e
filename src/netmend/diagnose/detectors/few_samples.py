"""D319 FewSamples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import numpy as np

from netmend.diagnose.detector import register
from netmend.diagnose.measures.data import training_loader, training_samples
from netmend.diagnose.measures.examples import run_with
from netmend.diagnose.measures.objective import objective
from netmend.unit import Run, threshold
from netmend.vocabulary import LoaderFact, ModelFact, Symptom, Trace

_POOR = [1.0 - 0.01 * step for step in range(16)]


def _trace(
    samples: int, evaluated: int, batch: int = 16, weights: int = 5000, losses: list[float] | None = None
) -> Trace:
    trace = run_with(_POOR if losses is None else losses)
    loaders = {
        "loader": LoaderFact("loader", samples=samples, batch_size=batch, phase="training"),
        "held_out": LoaderFact("held_out", samples=evaluated, batch_size=100, phase="evaluation"),
    }
    model = ModelFact("model", "Net", parameters=weights, trainable=weights)
    return replace(trace, facts={**trace.facts, "loader": loaders, "model": {"model": model}})


@register
class FewSamples:
    """The network was trained on a handful of samples, far fewer than it is evaluated on or than one batch would hold.

    Evaluation sets are parts of the data, a tenth to a half of it; a training set that is the smaller one has usually been cut by mistake: the parts of
    a split exchanged, a subset of a first try that was left in, an index that selects too much away.
    """

    code: ClassVar[str] = "D319"

    few: int = threshold(150, "convention", "training samples that are few for any network")
    weights_per_sample: float = threshold(
        5.0, "convention", "weights per sample: with fewer the network is as small as its data"
    )
    evaluated_share: float = threshold(
        2.0, "convention", "evaluation samples over training samples; splits keep more for training"
    )
    most_updates: int = threshold(
        150,
        "convention",
        "with more of them so few samples are known by heart, unless something else is wrong",
    )
    least_relative: float = threshold(0.35, "convention", "a run that learned did so from few samples too")

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
        yield Symptom(
            self.code,
            f"The network was trained on {samples:,} samples, {beside}.",
            observed=float(samples),
            limit=float(self.few),
            site=None if loader is None else loader.created,
            detail={"samples": samples},
        )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("a large part for training", lambda: _trace(1000, 250)),
        Run("few samples, and fewer held out", lambda: _trace(90, 60)),
        Run(
            "few samples that were enough", lambda: _trace(90, 500, losses=[0.9**step for step in range(60)])
        ),
        Run("a network as small as its data", lambda: _trace(90, 500, weights=200)),
        Run("few samples seen very often", lambda: _trace(90, 500, losses=[1.0] * 400)),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("the parts of a split exchanged", lambda: _trace(90, 900)),
        Run("fewer than a batch holds", lambda: _trace(40, 10, batch=64)),
    )


def evaluation_samples(trace: Trace) -> int | None:
    """Samples of the largest evaluation pass or loader; None where nothing was evaluated."""
    found = [loader.samples for loader in trace.loaders if loader.phase == "evaluation" and loader.samples]
    for table in trace.tables_of("evaluation"):
        counts = table.known("samples")[1]
        found += [int(np.max(counts))] if len(counts) else []
    return max(found, default=0) or None
