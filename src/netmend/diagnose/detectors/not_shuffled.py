"""D308 NotShuffled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.batches import label_order, mixture, target_drift
from netmend.diagnose.measures.data import training_loader
from netmend.diagnose.measures.objective import objective
from netmend.diagnose.measures.progress import progress
from netmend.unit import Run, threshold
from netmend.vocabulary import BatchPrint, LoaderFact, Symptom, Trace


def _trace(labels: list[dict[str, int]], changes: int, shuffle: bool | None = None) -> Trace:
    batches = tuple(
        BatchPrint(step, "training", sum(counts.values()), labels=counts, label_changes=changes)
        for step, counts in enumerate(labels)
    )
    loader = LoaderFact("loader", samples=1000, batch_size=20, shuffle=shuffle, phase="training")
    return Trace(facts={"loader": {"loader": loader}}, batches=batches)


@register
class NotShuffled:
    """Training samples come in sorted order: whole batches of one class, or of similar targets.

    Each batch then pulls the network towards its own class and away from the others, so that it forgets in every batch what it learned in
    the one before. Usual causes: data sorted by class and `shuffle=False`, or batches cut by hand in file order.
    """

    code: ClassVar[str] = "D308"

    order_limit: float = threshold(
        0.35,
        "calibrated",
        "label changes between neighbours over those of a random order; healthy runs show at least 0.8",
    )
    drift_limit: float = threshold(
        8.0,
        "calibrated",
        "variance of target means between batches over that of random batches; healthy runs show up to 2.5",
    )
    least_batches: int = threshold(8, "convention", "batches needed to compare their means")
    least_pairs: int = threshold(60, "convention", "neighbours that must have been seen")

    mixed_limit: float = threshold(
        0.9, "convention", "share of the whole set's mix that every batch has: then its order means nothing"
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
            yield Symptom(
                self.code,
                f"Consecutive samples differ in label only {found['order_limit']:.1%} as often as in random order: "
                "the data is sorted by class.",
                component="" if loader is None else loader.name,
                observed=found["order_limit"],
                limit=self.order_limit,
                site=site,
            )
        elif found.get("drift_limit", 1.0) > self.drift_limit:
            yield Symptom(
                self.code,
                f"The targets' mean differs between batches {found['drift_limit']:.0f} times as much as in random order: "
                "the data is sorted.",
                component="" if loader is None else loader.name,
                observed=found["drift_limit"],
                limit=self.drift_limit,
                site=site,
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

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("mixed batches", lambda: _trace([{"0": 10, "1": 10}] * 8, changes=10)),
        Run("the whole set in every batch", lambda: _trace([{"0": 100, "1": 100}] * 20, changes=1)),
        Run("the loader shuffles", lambda: _trace([{"0": 20}, {"1": 20}] * 4, changes=0, shuffle=True)),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "one class after the other",
            lambda: _trace([{"0": 20}] * 4 + [{"1": 20}] * 4, changes=0, shuffle=False),
        ),
    )


def _sorted_targets() -> Trace:
    return Trace(
        batches=tuple(
            BatchPrint(step, "training", 32, target_mean=float(step), target_std=0.3) for step in range(12)
        )
    )


NotShuffled.FAULTY = (*NotShuffled.FAULTY, Run("sorted real targets", lambda: _sorted_targets()))
