"""PRE-MISS-CLEAN."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from netmend.diagnose.detectors.input_nonfinite import InputNonfinite
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, STRONG, fault, for_symptom, register
from netmend.localise.data_origin import input_origin, target_origin
from netmend.unit import Run
from netmend.vocabulary import Evidence, Fault, Trace


@register
@dataclass(frozen=True)
class InvalidValuesInData:
    """The data holds NaN or infinite values.

    The first batch with such a value makes the loss NaN, and the step after it every weight.
    Drop or fill the rows concerned before training, and check with `torch.isfinite(x).all()`.
    """

    code: ClassVar[str] = "PRE-MISS-CLEAN"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D301"):
            evidence = [for_symptom(symptom, PROVEN)]
            spoiled = _spoiled(case.trace)
            if spoiled is None:
                evidence.append(
                    Evidence("The loss stayed finite: the program seems to take care of them.", -2 * STRONG)
                )
            else:
                evidence.append(
                    Evidence(
                        f"From step {spoiled} on the loss or the weights were not finite.",
                        STRONG,
                        step=spoiled,
                    )
                )
            yield fault(
                self.code,
                evidence,
                component=symptom.component,
                site=input_origin(case),
                summary=symptom.message,
                reason="One such value makes the loss NaN, then every gradient, then every weight.",
                remedy="Remove or fill the rows that are not finite before training, for example `x = torch.nan_to_num(x)`, and find out where they come from.",
                refutation="`torch.isfinite(x).all()` holds for every batch.",
                related=(symptom.site,),
                explains=("D110", "D502", "D107", "D101"),
            )
        yield from self._targets(case)

    def _targets(self, case: Case) -> Iterator[Fault]:
        bad = [
            batch
            for batch in case.trace.batches
            if batch.target_mean is not None and not np.isfinite(batch.target_mean)
        ]
        if not bad or case.has("D301"):
            return
        message = f"The targets of the batch at step {bad[0].step} were not all finite."
        yield fault(
            self.code,
            [Evidence(message, PROVEN + STRONG, step=bad[0].step)],
            component="targets",
            site=target_origin(case),
            summary=message,
            reason="One such value makes the loss NaN, then every gradient, then every weight.",
            remedy="Remove or fill the targets that are not finite before training.",
            refutation="`torch.isfinite(y).all()` holds for every batch.",
            explains=("D110", "D502", "D107", "D101"),
        )

    FAULTY: ClassVar[tuple[Run, ...]]


def _spoiled(trace: Trace) -> int | None:
    """The first step at which something other than the input was not finite."""
    steps = [event.step for event in trace.events if event.kind == "nonfinite"]
    for table in trace.tables_of("step"):
        losses = table.column("loss")
        there = np.flatnonzero(~np.isfinite(losses) & (table.column("backwards") > 0))
        steps.extend(int(table.steps[index]) for index in there[:1])
    return min(steps, default=None)


def _example() -> Trace:
    from netmend.vocabulary import Event

    trace = InputNonfinite.FAULTY[0].trace
    return Trace(tables=trace.tables, events=(Event(1, "nonfinite", "The input was not finite."),))


InvalidValuesInData.FAULTY = (Run("NaN in some rows", _example()),)
