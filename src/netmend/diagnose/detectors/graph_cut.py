"""D218 GraphCut."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.detectors.parameters_without_gradient import ParametersWithoutGradient
from netmend.diagnose.measures.cuts import cut_off, cutting
from netmend.diagnose.measures.wiring import layers_of, wires
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace

_MEANINGS = {
    "detach": "detaches the result from the graph",
    "data": "detaches the result from the graph",
    "item": "converts it to a plain number",
    "numpy": "converts it to a numpy array",
    "tolist": "converts it to a list",
    "argmax": "has no derivative",
    "argmin": "has no derivative",
}


@register
class GraphCut:
    """An operation takes the result of layers that should learn out of the graph.

    Gradients cannot pass it, so everything before it stays as it is.
    Usual causes: detach() or .data left from an earlier version, a detour over numpy, argmax or rounding inside the model.
    """

    code: ClassVar[str] = "D218"

    least_looks: int = threshold(4, "convention", "as in D214: the layers before it never had a gradient")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for model in dict.fromkeys(wire.model for wire in wires(trace)):
            found = cut_off(trace, model, self.least_looks)
            for cut in cutting(trace, model, found)[:1] if found else ():
                layers = layers_of(found)
                name = cut.function.strip("_")
                yield Symptom(
                    self.code,
                    f"`{name}` at {cut.site.short if cut.site else '?'} {_MEANINGS.get(name, 'lets no gradient through')}: "
                    f"no gradient reaches {layers[-1]}.",
                    component=layers[-1],
                    first_step=0,
                    site=cut.site,
                    detail={"model": model, "layers": layers, "operation": name},
                )

    HEALTHY: ClassVar[tuple[Run, ...]] = ParametersWithoutGradient.HEALTHY
    FAULTY: ClassVar[tuple[Run, ...]] = ParametersWithoutGradient.FAULTY
