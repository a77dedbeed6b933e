"""D124 ConstantParameters."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.net_examples import net_run
from netmend.diagnose.measures.wiring import loaded
from netmend.unit import Run, threshold
from netmend.vocabulary import ModuleFact, ParameterFact, Statistics, Symptom, Trace

_OWN = "torch.nn."


@register
class ConstantParameters:
    """Parameters of a custom module start with one value everywhere.

    That is often meant (gains of 1, offsets of 0), so it is no fault by itself. It is one where the program has an initialiser for just this parameter
    that would have given it other values.
    Usual causes: a place-holder that was to be filled later, an initialiser that is skipped on this path.
    """

    code: ClassVar[str] = "D124"

    least_values: int = threshold(
        4, "convention", "numbers in the parameter: fewer are often single settings that are learned"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        seen: set[tuple[str, str]] = set()
        for fact in trace.parameters:
            module = trace.get(ModuleFact, fact.module)
            value = fact.initial.minimum
            if module is None or not module.qualified or module.qualified.startswith(_OWN):
                continue
            if value is None or value != fact.initial.maximum or not fact.trainable:
                continue
            if math.prod(fact.shape) < self.least_values or loaded(trace, fact.name):
                continue
            attribute = fact.name.rpartition(".")[2]
            if (module.kind, attribute) in seen:
                continue  # the layers of a stack are alike
            seen.add((module.kind, attribute))
            yield Symptom(
                self.code,
                f"All {math.prod(fact.shape)} values of {fact.name} start at {value:g}.",
                component=fact.name,
                first_step=0,
                observed=value,
                site=module.created,
                detail={
                    "attribute": attribute,
                    "value": value,
                    "class": module.kind,
                    "vector": len(fact.shape) < 2,
                },
            )

    HEALTHY: ClassVar[tuple[Run, ...]]
    FAULTY: ClassVar[tuple[Run, ...]]


def _with(start: Statistics, qualified: str = "__main__.Layer") -> Trace:
    """The example network with one more parameter, in a module of the user's own."""
    trace = net_run()
    module = ModuleFact("model.mixer", "Layer", "model", qualified, order=9)
    fact = ParameterFact("model.mixer.dt_bias", "model.mixer", (8,), initial=start)
    facts = dict(trace.facts)
    facts["module"] = {**facts.get("module", {}), module.name: module}
    facts["parameter"] = {**facts.get("parameter", {}), fact.name: fact}
    return Trace(facts=facts, tables=trace.tables, patterns=trace.patterns, events=trace.events)


_ONES = Statistics(1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0)
_SPREAD = Statistics(-4.0, 1.2, 4.2, -6.5, -2.3, 0.0, 0)
ConstantParameters.HEALTHY = (
    Run("values of many sizes", lambda: _with(_SPREAD)),
    Run("the gain of a norm layer", lambda: _with(_ONES, "torch.nn.modules.normalization.LayerNorm")),
)
ConstantParameters.FAULTY = (Run("ones", lambda: _with(_ONES)),)
