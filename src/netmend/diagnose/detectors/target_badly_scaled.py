"""D305 TargetBadlyScaled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.unit import Run, threshold
from netmend.vocabulary import Site, Symptom, TargetFact, TaskFact, Trace

_LOSS = "mse_loss@train.py:20"


def _trace(mean: float, std: float, kind: str = "regression") -> Trace:
    return Trace(
        facts={
            "target": {_LOSS: TargetFact(_LOSS, 200, mean=mean, std=std)},
            "task": {_LOSS: TaskFact(_LOSS, kind)},
        }
    )


@register
class TargetBadlyScaled:
    """The targets of a regression lie far from zero or spread over far more than a unit.

    A fresh network answers about zero. Before it can learn anything its last layer must grow by orders of magnitude, and the gradients
    on the way are of that size too.
    """

    code: ClassVar[str] = "D305"

    size_limit: float = threshold(
        30.0, "calibrated", "root mean square of the targets; healthy programs stay below 12"
    )
    offset_limit: float = threshold(
        10.0, "calibrated", "mean over standard deviation; healthy programs stay below 4"
    )

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
            yield Symptom(
                self.code,
                f"The targets have mean {target.mean:.3g} and standard deviation {target.std:.3g}; "
                "an untrained network outputs about 0.",
                component=target.name,
                observed=size,
                limit=self.size_limit,
                site=site,
                detail={"mean": target.mean, "std": target.std, "size": size, "offset": offset},
            )

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        known = [(t.mean or 0.0, t.std or 0.0) for t in _regressions(trace)]
        if not known:
            return {}
        return {
            "size_limit": max((mean**2 + std**2) ** 0.5 for mean, std in known),
            "offset_limit": max(abs(mean) / std if std > 0 and abs(mean) > 1 else 0.0 for mean, std in known),
        }

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("standardised", lambda: _trace(0.0, 1.0)),
        Run("a few units", lambda: _trace(3.0, 2.0)),
        Run("class ids are no quantities", lambda: _trace(40.0, 30.0, kind="classification")),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (Run("prices", lambda: _trace(3e5, 8e4)),)


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
