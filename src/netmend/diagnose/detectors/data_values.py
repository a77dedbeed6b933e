"""Numbers in the inputs and targets: no numbers, badly scaled, in the wrong layout."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.curves import trace_of
from netmend.diagnose.measures.batches import Features, features, prints
from netmend.unit import calibrated, convention, exact
from netmend.vocabulary import (
    BatchPrint,
    ModelFact,
    ModuleFact,
    ParameterFact,
    ProbeFact,
    Site,
    Statistics,
    Symptom,
    Table,
    TargetFact,
    TaskFact,
    Trace,
)


def _with_bad_values(counts: list[float]) -> Trace:
    rows = {step: (0.0, 1.0, -2.0, 2.0, count) for step, count in enumerate(counts)}
    return trace_of(Table.of("input", "model", rows))


class InputNonfinite(Detector, code="D301"):
    """A batch that reached a model holds NaN or infinite values.

    One such value makes the loss, then every gradient and then every weight NaN. Usual causes: missing entries in a table, a division by
    a standard deviation of zero, the logarithm of zero in preprocessing.
    """

    least_values = exact(1, "a single NaN is enough to spoil every weight")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for table in trace.tables_of("input"):
            steps, counts = table.known("nonfinite")
            bad = np.flatnonzero(counts >= self.least_values)
            if not len(bad):
                continue
            model = trace.get(ModelFact, table.component)
            if model is not None and not model.parameters:
                continue  # a loss: what it is given was made by the network
            born = [event.step for event in trace.events if event.kind == "nonfinite"]
            if born and min(born) < int(steps[bad[0]]):
                continue  # the trouble began elsewhere
            message = (
                f"The input of {table.component} held {int(counts[bad[0]])} non-finite values at step {int(steps[bad[0]])}, "
                f"and in {len(bad)} of {len(counts)} batches looked at."
            )
            yield self.symptom(
                message,
                (table.component, None if model is None else model.called),
                observed=float(counts[bad[0]]),
                limit=0.0,
                first_step=int(steps[bad[0]]),
            )

    HEALTHY = {"all finite": lambda: _with_bad_values([0.0] * 5)}
    FAULTY = {"some rows hold NaN": lambda: _with_bad_values([0.0, 3.0, 0.0, 2.0])}


def _with_features(rows: list[tuple[float, float]], first: str = "Linear") -> Trace:
    described = tuple((mean, std, mean - 2 * std, mean + 2 * std) for mean, std in rows)
    batches = tuple(BatchPrint(step, "training", 32, "model", (), "feature", described) for step in range(4))
    layer = ModuleFact("model.0", first, model="model", order=0)
    return trace_of(layer, *batches)


def _judged() -> Trace:
    made = _with_features([(5.0, 80.0)] * 2).batches
    return trace_of(*made, *made, onto=_with_features([(0.0, 1.0)] * 2))


def _two_inputs(size: float) -> Trace:
    return trace_of(
        ModelFact("model", "Net", input_shapes=((32, 8), (32, 2))),
        _entrance("a", 0, 8),
        _entrance("b", 1, 2),
        ParameterFact("model.b.weight", shape=(4, 2), initial=Statistics(rms=0.4)),
        Table.of("activation", "model.b", {0: {"rms": 0.4 * math.sqrt(2) * size}}),
        *_with_features([(0.0, 1.0)] * 8).batches,
    )


def _entrance(name: str, order: int, width: int) -> ModuleFact:
    shapes = {"input_shapes": ((32, width),), "output_shapes": ((32, 4),)}
    return ModuleFact(f"model.{name}", "Linear", model="model", order=order, **shapes)  # type: ignore[arg-type]


class InputBadlyScaled(Detector, code="D302", needs_fixed_data=True):
    """The inputs are far larger or smaller than an untrained network expects, or differ widely in scale.

    Initial weights are made for inputs of about unit size. Raw pixel values, prices or time stamps saturate or kill the first
    units, make gradients of the first layer huge, and let one feature drown the others.
    """

    size_limit = calibrated(
        20.0, "root mean square of the largest tenth of the features; healthy programs feed up to about 10"
    )
    tiny_limit = calibrated(0.02, "root mean square of the inputs; healthy programs feed at least 0.05")
    ordinary_share = convention(
        0.25, "batches of ordinary size among large ones: the data is as large in all of them"
    )
    further_limit = convention(
        100.0, "the same for a second input, estimated from what the first layer makes of it"
    )
    least_batches = convention(2, "one batch may be odd")

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
        message = (
            f"The inputs are {'large' if large else 'tiny'}: root mean square {_overall(known):.3g}{spread}; default "
            "initialisation expects about 1."
        )
        yield self.symptom(
            message,
            next((batch.model for batch in trace.batches), ""),
            observed=size,
            limit=self.size_limit if large else self.tiny_limit,
        )

    def _further(self, trace: Trace) -> Iterator[Symptom]:
        """A second input, by the layer that meets it first: how much larger its output is than its weights make of inputs of size 1."""
        for layer in _entrances(trace):
            size = _met_by(trace, layer)
            if size is not None and size > self.further_limit:
                message = (
                    f"A further input of the model is large: about {size:.2g} where `{layer.name}` meets it; default "
                    "initialisation expects about 1."
                )
                yield self.symptom(message, layer, size, self.size_limit)

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

    HEALTHY = {
        "standardised": lambda: _with_features([(0.0, 1.0)] * 6),
        "0 to 10 is no matter": lambda: _with_features([(5.0, 3.0), (4.0, 2.0)]),
        "a judge that is given real samples and what another model makes": _judged,
        "two inputs of ordinary size": lambda: _two_inputs(2.0),
        "a norm layer comes first": lambda: _with_features([(120.0, 60.0)] * 3, first="BatchNorm2d"),
    }
    FAULTY = {
        "raw pixels": lambda: _with_features([(110.0, 70.0)] * 3),
        "one feature is a price": lambda: _with_features([(0.2, 1.0), (3e5, 1e5)]),
        "a second input in its own units": lambda: _two_inputs(3e4),
    }


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


def _laid_out(given: float, channels_last: float) -> Trace:
    values = {"given": given, "channels_last": channels_last}
    probe = ProbeFact("layout@model", "layout", "model", 0, values, Site("train.py", 20))
    return trace_of(probe)


class InputLayoutSuspect(Detector, code="D303", needs_fixed_data=True):
    """Images look much smoother when read with the channels last than in the layout used.

    Neighbouring pixels of an image are alike. When height, width and channels were reshaped instead of permuted, numbers that lie side by side no longer belong to
    neighbouring pixels, and convolutions see scrambled pictures.
    """

    ratio_limit = calibrated(
        1.4, "difference of neighbours as given over that with channels last; healthy programs stay below 1.1"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for probe, ratio in _ratios(trace):
            if ratio > self.ratio_limit:
                message = (
                    f"Neighbouring pixels of the input of {probe.component} differ {ratio:.1f} times as much as they would if the "
                    "channels came last: height, width and channels seem to be mixed up."
                )
                yield self.symptom(message, probe, ratio, self.ratio_limit)

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        ratios = [ratio for _, ratio in _ratios(trace)]
        return {"ratio_limit": max(ratios)} if ratios else {}

    HEALTHY = {
        "pictures as they should be": lambda: _laid_out(0.2, 0.5),
        "noise looks the same either way": lambda: _laid_out(1.0, 1.0),
    }
    FAULTY = {"reshaped instead of permuted": lambda: _laid_out(0.6, 0.2)}


def _ratios(trace: Trace) -> Iterator[tuple[ProbeFact, float]]:
    for probe in trace.probes("layout"):
        given, other = probe.values.get("given"), probe.values.get("channels_last")
        if isinstance(given, int | float) and isinstance(other, int | float) and other > 0:
            yield probe, given / other


_LOSS = "mse_loss@train.py:20"


def _with_targets(mean: float, std: float, kind: str = "regression") -> Trace:
    return trace_of(TargetFact(_LOSS, 200, mean=mean, std=std), TaskFact(_LOSS, kind))


class TargetBadlyScaled(Detector, code="D305", needs_fixed_data=True):
    """The targets of a regression lie far from zero or spread over far more than a unit.

    A fresh network answers about zero. Before it can learn anything its last layer must grow by orders of magnitude, and the gradients
    on the way are of that size too.
    """

    size_limit = calibrated(30.0, "root mean square of the targets; healthy programs stay below 12")
    offset_limit = calibrated(10.0, "mean over standard deviation; healthy programs stay below 4")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for target in _regressions(trace):
            assert target.mean is not None and target.std is not None
            size = (target.mean**2 + target.std**2) ** 0.5
            offset = abs(target.mean) / target.std if target.std > 0 else 0.0
            # A constant target is another matter, and so is a small offset of small numbers.
            if size <= self.size_limit and not (offset > self.offset_limit and abs(target.mean) > 1):
                continue
            loss = next((loss for loss in trace.losses if loss.name == target.name), None)
            site: Site | None = None if loss is None else loss.called
            message = (
                f"The targets have mean {target.mean:.3g} and standard deviation {target.std:.3g}; "
                "an untrained network outputs about 0."
            )
            detail = {"size": size, "offset": offset}
            yield self.symptom(message, target.name, size, self.size_limit, detail, site=site)

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        known = [(t.mean or 0.0, t.std or 0.0) for t in _regressions(trace)]
        if not known:
            return {}
        return {
            "size_limit": max((mean**2 + std**2) ** 0.5 for mean, std in known),
            "offset_limit": max(abs(mean) / std if std > 0 and abs(mean) > 1 else 0.0 for mean, std in known),
        }

    HEALTHY = {
        "standardised": lambda: _with_targets(0.0, 1.0),
        "a few units": lambda: _with_targets(3.0, 2.0),
        "class ids are no quantities": lambda: _with_targets(40.0, 30.0, kind="classification"),
    }
    FAULTY = {"prices": lambda: _with_targets(3e5, 8e4)}


def _regressions(trace: Trace) -> Iterator[TargetFact]:
    for target in trace.all(TargetFact):
        task = trace.get(TaskFact, target.name)
        if (
            task is not None
            and task.kind == "regression"
            and target.mean is not None
            and target.std is not None
        ):
            yield target
