"""D310 TrainingEvaluationSkew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np

from netmend.diagnose.detector import register
from netmend.diagnose.measures.batches import features
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
        if found["shift_limit"] < self.shift_limit and found["scale_limit"] < self.scale_limit:
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
        Run("augmentation widens training", lambda: _trace((0.0, 1.4), (0.0, 1.0))),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("only training is normalised", lambda: _trace((0.0, 1.0), (120.0, 60.0))),
    )
