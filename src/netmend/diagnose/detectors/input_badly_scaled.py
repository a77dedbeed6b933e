"""D302 InputBadlyScaled."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np

from netmend.diagnose.detector import register
from netmend.diagnose.measures.batches import Features, features, prints
from netmend.unit import Run, threshold
from netmend.vocabulary import BatchPrint, ModuleFact, Symptom, Trace


def _trace(rows: list[tuple[float, float]], first: str = "Linear") -> Trace:
    described = tuple((mean, std, mean - 2 * std, mean + 2 * std) for mean, std in rows)
    batches = tuple(BatchPrint(step, "training", 32, "model", (), "feature", described) for step in range(4))
    layer = ModuleFact("model.0", first, model="model", order=0)
    return Trace(facts={"module": {"model.0": layer}}, batches=batches)


def _judged() -> Trace:
    ordinary, made = _trace([(0.0, 1.0)] * 2), _trace([(5.0, 80.0)] * 2)
    return Trace(ordinary.facts, batches=(*ordinary.batches, *made.batches, *made.batches))


@register
class InputBadlyScaled:
    """The inputs are far larger or smaller than a fresh network expects, or differ widely in scale among themselves.

    Initial weights are made for inputs of about unit size. Raw pixel values, prices or time stamps saturate or kill the first
    units, make gradients of the first layer huge, and let one feature drown the others.
    """

    code: ClassVar[str] = "D302"

    size_limit: float = threshold(
        20.0,
        "calibrated",
        "root mean square of the largest tenth of the features; healthy programs feed up to about 10",
    )
    tiny_limit: float = threshold(
        0.02, "calibrated", "root mean square of the inputs; healthy programs feed at least 0.05"
    )
    ordinary_share: float = threshold(
        0.25, "convention", "batches of ordinary size among large ones: the data is as large in all of them"
    )
    least_batches: int = threshold(2, "convention", "one batch may be odd")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        found = self.extremes(trace)
        if not found or _normalised_inside(trace):
            return
        size = found["size_limit"]
        if self.tiny_limit <= size <= self.size_limit:
            return
        known = features(trace, "training")
        assert known is not None
        if size > self.size_limit and self._some_ordinary(trace):
            return
        smallest, largest = float(known.rms.min()), float(known.rms.max())
        large = size > self.size_limit
        spread = f" (features {smallest:.3g}–{largest:.3g})" if len(known.rms) > 1 else ""
        yield Symptom(
            self.code,
            f"The inputs are {'large' if large else 'tiny'}: root mean square {_overall(known):.3g}{spread}; default "
            "initialisation expects about 1.",
            component=next((batch.model for batch in trace.batches), ""),
            observed=size,
            limit=self.size_limit if large else self.tiny_limit,
            detail={"rms": _overall(known), "largest": largest, "smallest": smallest, "large": large},
        )

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        known = features(trace, "training")
        if known is None or known.batches < self.least_batches:
            return {}
        alive = known.rms[known.rms > 0]
        if not len(alive):
            return {}
        size = float(np.quantile(alive, 0.9, method="higher"))
        return {"size_limit": size, "tiny_limit": size}

    def _some_ordinary(self, trace: Trace) -> bool:
        """Whether many batches are of ordinary size: then the others come from a model, as those that a generator makes."""
        described = [batch for batch in prints(trace, "training") if batch.features]
        sizes = [max(math.hypot(*row[:2]) for row in batch.features) for batch in described]
        return float(np.mean(np.array(sizes) <= self.size_limit)) >= self.ordinary_share

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("standardised", lambda: _trace([(0.0, 1.0)] * 6)),
        Run("0 to 10 is no matter", lambda: _trace([(5.0, 3.0), (4.0, 2.0)])),
        Run("a judge that is given real samples and what another model makes", _judged),
        Run("a norm layer comes first", lambda: _trace([(120.0, 60.0)] * 3, first="BatchNorm2d")),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("raw pixels", lambda: _trace([(110.0, 70.0)] * 3)),
        Run("one feature is a price", lambda: _trace([(0.2, 1.0), (3e5, 1e5)])),
    )


def _overall(known: Features) -> float:
    return float(np.sqrt(np.mean(known.rms**2)))


def _normalised_inside(trace: Trace) -> bool:
    """Whether the first layer that runs is a normalisation or an embedding, which makes the scale irrelevant."""
    first = next((layer for layer in trace.layers() if layer.order is not None), None)
    return first is not None and ("Norm" in first.kind or "Embedding" in first.kind)
