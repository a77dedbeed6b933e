"""D302 InputBadlyScaled."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from netmend.diagnose.detector import register
from netmend.diagnose.measures.batches import Features, features, prints
from netmend.unit import Run, threshold
from netmend.vocabulary import (
    BatchPrint,
    ModelFact,
    ModuleFact,
    ParameterFact,
    Statistics,
    Symptom,
    Table,
    Trace,
)
from netmend.vocabulary.table import COLUMNS


def _trace(rows: list[tuple[float, float]], first: str = "Linear") -> Trace:
    described = tuple((mean, std, mean - 2 * std, mean + 2 * std) for mean, std in rows)
    batches = tuple(BatchPrint(step, "training", 32, "model", (), "feature", described) for step in range(4))
    layer = ModuleFact("model.0", first, model="model", order=0)
    return Trace(facts={"module": {"model.0": layer}}, batches=batches)


def _judged() -> Trace:
    ordinary, made = _trace([(0.0, 1.0)] * 2), _trace([(5.0, 80.0)] * 2)
    return Trace(ordinary.facts, batches=(*ordinary.batches, *made.batches, *made.batches))


def _two_inputs(size: float) -> Trace:
    one = _trace([(0.0, 1.0)] * 8)
    model = ModelFact("model", "Net", input_shapes=((32, 8), (32, 2)))
    layers = [
        ModuleFact(
            "model.a", "Linear", model="model", order=0, input_shapes=((32, 8),), output_shapes=((32, 4),)
        ),
        ModuleFact(
            "model.b", "Linear", model="model", order=1, input_shapes=((32, 2),), output_shapes=((32, 4),)
        ),
    ]
    weight = ParameterFact("model.b.weight", shape=(4, 2), initial=Statistics(rms=0.4))
    columns = COLUMNS["activation"]
    values = np.full((1, len(columns)), np.nan)
    values[0, columns.index("rms")] = 0.4 * math.sqrt(2) * size
    table = Table("activation", "model.b", columns, np.array([0]), values)
    facts: dict[str, Mapping[str, Any]] = {
        "module": {layer.name: layer for layer in layers},
        "model": {"model": model},
        "parameter": {weight.name: weight},
    }
    return Trace(facts=facts, tables={("activation", "model.b"): table}, batches=one.batches)


@register
class InputBadlyScaled:
    """The inputs are far larger or smaller than an untrained network expects, or differ widely in scale.

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
    further_limit: float = threshold(
        100.0, "convention", "the same for a second input, estimated from what the first layer makes of it"
    )
    least_batches: int = threshold(2, "convention", "one batch may be odd")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        yield from self._further(trace)
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

    def _further(self, trace: Trace) -> Iterator[Symptom]:
        """A second input, by the layer that meets it first: how much larger its output is than its weights make of inputs of size 1."""
        for layer in _entrances(trace):
            size = _met_by(trace, layer)
            if size is not None and size > self.further_limit:
                yield Symptom(
                    self.code,
                    f"A further input of the model is large: about {size:.2g} where `{layer.name}` meets it; default "
                    "initialisation expects about 1.",
                    component=layer.name,
                    site=layer.created,
                    observed=size,
                    limit=self.size_limit,
                    detail={"rms": size, "largest": size, "smallest": size, "large": True},
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
        Run("two inputs of ordinary size", lambda: _two_inputs(2.0)),
        Run("a norm layer comes first", lambda: _trace([(120.0, 60.0)] * 3, first="BatchNorm2d")),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("raw pixels", lambda: _trace([(110.0, 70.0)] * 3)),
        Run("one feature is a price", lambda: _trace([(0.2, 1.0), (3e5, 1e5)])),
        Run("a second input in its own units", lambda: _two_inputs(3e4)),
    )


def _entrances(trace: Trace) -> Iterator[ModuleFact]:
    """Layers that are given a model's second or further input as it is: nothing before them made anything of its shape."""
    for model in trace.models:
        for shape in model.input_shapes[1:]:
            made: set[tuple[int, ...]] = set(model.input_shapes[:1])
            for layer in (one for one in trace.layers() if one.order is not None and one.model == model.name):
                if layer.input_shapes[:1] == (shape,):
                    if layer.kind == "Linear" and shape not in made:
                        yield layer
                    break
                made.update(layer.output_shapes)


def _met_by(trace: Trace, layer: ModuleFact) -> float | None:
    weight = next((one for one in trace.parameters if one.name == f"{layer.name}.weight"), None)
    _, made = trace.series("activation", layer.name, "rms")
    if weight is None or not weight.initial.rms or not len(made) or not math.isfinite(made[0]):
        return None
    return float(made[0]) / (weight.initial.rms * math.sqrt(weight.shape[-1]))


def _overall(known: Features) -> float:
    return float(np.sqrt(np.mean(known.rms**2)))


def _normalised_inside(trace: Trace) -> bool:
    """Whether the first layer that runs is a normalisation or an embedding, which makes the scale irrelevant."""
    first = next((layer for layer in trace.layers() if layer.order is not None), None)
    return first is not None and ("Norm" in first.kind or "Embedding" in first.kind)
