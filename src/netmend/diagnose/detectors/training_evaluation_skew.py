"""D310 TrainingEvaluationSkew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np

from netmend.diagnose.detector import register
from netmend.diagnose.measures.batches import features
from netmend.diagnose.measures.value_scale import other_scale
from netmend.unit import Run, threshold
from netmend.vocabulary import BatchPrint, Symptom, Trace


def _trace(training: tuple[float, float], evaluation: tuple[float, float]) -> Trace:
    def rows(mean: float, std: float) -> tuple[tuple[float, float, float, float], ...]:
        return ((mean, std, mean - std, mean + std),) * 3

    return Trace(
        batches=(
            *(BatchPrint(step, "training", 32, "model", (), "feature", rows(*training)) for step in range(4)),
            BatchPrint(4, "evaluation", 100, "model", (), "feature", rows(*evaluation)),
        )
    )


def _images(training: tuple[float, ...], evaluation: tuple[float, ...]) -> Trace:
    """Pictures of one channel: lowest and highest value, mean, spread."""

    def print_of(step: int, phase: str, low: float, high: float, mean: float, std: float) -> BatchPrint:
        return BatchPrint(step, phase, 64, "model", (), "channel", ((mean, std, low, high),))

    return Trace(
        batches=(
            *(print_of(step, "training", *training) for step in range(4)),
            print_of(4, "evaluation", *evaluation),
        )
    )


@register
class TrainingEvaluationSkew:
    """The inputs of evaluation differ in offset or scale from those of training.

    The network is asked about another kind of data than it has learned. Usual causes: normalisation applied to the training data only,
    statistics taken from each split separately, a forgotten division by 255.
    """

    code: ClassVar[str] = "D310"

    shift_limit: float = threshold(
        2.0,
        "calibrated",
        "difference of means in training standard deviations, median feature; healthy programs up to 0.4",
    )
    scale_limit: float = threshold(
        3.0, "calibrated", "ratio of standard deviations, median feature; healthy programs up to 1.5"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        found = self.extremes(trace)
        if not found:
            return
        rescaled = other_scale(trace)
        beyond = found["shift_limit"] >= self.shift_limit or found["scale_limit"] >= self.scale_limit
        if not beyond and rescaled is None:
            return
        trained, evaluated = features(trace, "training"), features(trace, "evaluation")
        assert trained is not None and evaluated is not None
        model = next((model for model in trace.models), None)
        yield Symptom(
            self.code,
            f"Inputs have mean {np.median(trained.mean):.3g} and spread {np.median(trained.std):.3g} in training, but mean "
            f"{np.median(evaluated.mean):.3g} and spread {np.median(evaluated.std):.3g} in evaluation.",
            component="" if model is None else model.name,
            observed=max(found["shift_limit"], found["scale_limit"]),
            limit=self.shift_limit,
            site=None,
            detail={"rescaled": rescaled is not None},
        )

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        trained, evaluated = features(trace, "training"), features(trace, "evaluation")
        if trained is None or evaluated is None or len(trained.mean) != len(evaluated.mean):
            return {}
        varied = (trained.std > 1e-6 * max(float(trained.std.max()), 1e-12)) & (evaluated.std > 0)
        if not varied.any():
            return {}
        shift = np.abs(trained.mean - evaluated.mean)[varied] / trained.std[varied]
        ratio = np.abs(np.log(evaluated.std[varied] / trained.std[varied]))
        return {"shift_limit": float(np.median(shift)), "scale_limit": float(np.exp(np.median(ratio)))}

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("alike", lambda: _trace((0.0, 1.0), (0.1, 0.95))),
        Run("noise widens training", lambda: _images((-0.9, 1.9, 0.13, 0.41), (0.0, 1.0, 0.13, 0.31))),
        Run("brightness varies in training", lambda: _images((0.0, 1.5, 0.13, 0.33), (0.0, 1.0, 0.13, 0.31))),
        Run("other pictures in evaluation", lambda: _images((0.0, 1.0, 0.13, 0.31), (0.0, 1.0, 0.2, 0.38))),
        Run("augmentation widens training", lambda: _trace((0.0, 1.4), (0.0, 1.0))),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("0..1 and -1..1", lambda: _images((-1.0, 1.0, -0.74, 0.62), (0.0, 1.0, 0.13, 0.31))),
        Run(
            "statistics of another data set",
            lambda: _images((-0.42, 2.82, 0.0, 1.0), (-2.12, 2.25, -1.55, 1.35)),
        ),
        Run("only training is normalised", lambda: _trace((0.0, 1.0), (120.0, 60.0))),
    )
