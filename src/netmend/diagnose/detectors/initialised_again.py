"""D123 InitialisedAgain."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.probe_examples import probed
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace


def _again(parameters: int, most: int) -> Trace:
    values = {"parameters": parameters, "most": most, "names": ["model.h.0.c_proj.weight"]}
    return probed("initialised again", values)


@register
class InitialisedAgain:
    """One line initialises the same parameters several times.

    Each time the values before are thrown away; the last one to write decides, and that is often not the rule that was meant for the
    parameter. Large models take much longer to build.
    Usual causes: an initialiser that is applied to every module and walks through all parameters below it: `for p in module.parameters()` where only the
    module's own are meant.
    """

    code: ClassVar[str] = "D123"

    least_parameters: int = threshold(
        2, "convention", "a single one is often a tied weight that two layers share"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for probe in trace.probes("initialised again"):
            count, most = int(probe.values["parameters"]), int(probe.values["most"])
            if count < self.least_parameters:
                continue
            names = list(probe.values["names"])
            yield Symptom(
                self.code,
                f"{count} parameters are initialised repeatedly by one line, up to {most} times before training"
                + (f" ({names[0]} first)." if names else "."),
                component=probe.component,
                first_step=0,
                observed=float(count),
                limit=float(self.least_parameters),
                site=probe.site,
                detail={"most": most, "names": names},
            )

    HEALTHY: ClassVar[tuple[Run, ...]] = (Run("a tied weight", lambda: _again(1, 2)),)
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("every module walks through all below it", lambda: _again(6, 4)),
    )
