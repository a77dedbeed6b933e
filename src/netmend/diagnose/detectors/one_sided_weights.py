"""D122 OneSidedWeights."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.unit import Run, threshold
from netmend.vocabulary import ModuleFact, ParameterFact, Site, Statistics, Symptom, Trace


def _trace(low: float, high: float, kind: str = "Linear") -> Trace:
    initial = Statistics(mean=(low + high) / 2, std=(high - low) / 4, rms=high, minimum=low, maximum=high)
    parameter = ParameterFact("net.0.weight", "net.0", (32, 16), initial=initial)
    module = ModuleFact("net.0", kind, created=Site("train.py", 9), order=0)
    return Trace(facts={"parameter": {parameter.name: parameter}, "module": {module.name: module}})


def _weight_normalised() -> Trace:
    """Sizes, all of them positive, and directions."""
    trace = _trace(0.5, 0.6)
    size = replace(trace.parameters[0], name="net.0.weight_g", shape=(32, 1))
    around = Statistics(mean=0.0, std=0.1, rms=0.1, minimum=-0.2, maximum=0.2)
    direction = replace(size, name="net.0.weight_v", shape=(32, 16), initial=around)
    facts = {**trace.facts, "parameter": {fact.name: fact for fact in (size, direction)}}
    return replace(trace, facts=facts)


def _is_scale(trace: Trace, parameter: ParameterFact) -> bool:
    """A size for each unit, beside directions of the same module: what weight normalisation keeps."""
    return math.prod(parameter.shape[1:]) == 1 and any(
        other.module == parameter.module
        and other.shape[:1] == parameter.shape[:1]
        and len(other.shape) == len(parameter.shape)
        and math.prod(other.shape) > math.prod(parameter.shape)
        for other in trace.parameters
    )


@register
class OneSidedWeights:
    """All weights of a layer start with the same sign.

    Units of such a layer all rise and fall together with the sum of their inputs: behind a rectifier they are all on or all dead. Usual causes: an initialisation over
    an interval that does not lie around zero.
    """

    code: ClassVar[str] = "D122"

    least_weights: int = threshold(32, "exact", "that many signs agree by chance once in 2^31 layers")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for parameter in trace.parameters:
            module = trace.get(ModuleFact, parameter.module)
            if module is None or not module.kind.startswith(("Linear", "Conv")) or len(parameter.shape) < 2:
                continue
            low, high = parameter.initial.minimum, parameter.initial.maximum
            if low is None or high is None or low == high or math.prod(parameter.shape) < self.least_weights:
                continue
            if low < 0 < high or not (math.isfinite(low) and math.isfinite(high)):
                continue
            if _is_scale(trace, parameter):
                continue
            sign = "negative" if high <= 0 else "positive"
            yield Symptom(
                self.code,
                f"All weights of {module.name} start {sign}, between {low:.3g} and {high:.3g}.",
                component=module.name,
                observed=high if high <= 0 else low,
                limit=0.0,
                site=module.created,
                detail={"direction": sign},
            )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("around zero", lambda: _trace(-0.2, 0.2)),
        Run("a constant is another matter", lambda: _trace(0.5, 0.5)),
        Run("a model made of one that was lost already", lambda: _trace(math.nan, math.nan)),
        Run("sizes of a weight-normalised layer", _weight_normalised),
        Run("scales of a norm layer", lambda: _trace(0.5, 1.0, kind="LayerNorm")),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (Run("uniform below zero", lambda: _trace(-0.5, -0.001)),)
