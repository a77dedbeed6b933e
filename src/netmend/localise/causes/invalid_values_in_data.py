"""PRE-MISS-CLEAN."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import numpy as np

from netmend.diagnose.detectors.data_values import InputNonfinite
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, STRONG, fault, for_symptom, register
from netmend.localise.lines.data_origin import input_origin, target_origin
from netmend.unit import Run
from netmend.vocabulary import Evidence, Fault, Symptom, Trace

# A run that was lost: nothing that is seen afterwards says anything about another fault.
_SPOILED = (
    "D101",
    "D107",
    "D110",
    "D122",
    "D403",
    "D410",
    "D501",
    "D502",
    "D504",
    "D505",
    "D508",
    "D511",
    "D701",
)


@register
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
            if spoiled is None and (stopped := case.first("D701")) is not None:
                spoiled = stopped.first_step  # a loss that refuses what is no number
            if spoiled is None:
                evidence.append(
                    Evidence("The loss stayed finite: the program seems to handle them.", -2 * STRONG)
                )
            else:
                evidence.append(
                    Evidence(
                        f"At step {spoiled} the loss or the weights were no longer finite, or the program stopped.",
                        STRONG,
                        step=spoiled,
                    )
                )
            yield self._fault(case, symptom, evidence)
        yield from self._targets(case)
        yield from self._traced(case)

    def _traced(self, case: Case) -> Iterator[Fault]:
        """The first value that was not finite was traced back to what the model was given."""
        for symptom in case.of("D110"):
            if symptom.component != "input" or symptom.detail.get("grew") or case.has("D301"):
                continue
            yield self._fault(case, symptom, [for_symptom(symptom, PROVEN)])

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
            reason="One such value turns the loss into NaN, then every gradient, then every weight.",
            remedy="Remove or fill the targets that are not finite before training.",
            refutation="`torch.isfinite(y).all()` holds for every batch.",
            explains=_SPOILED,
        )

    def _fault(self, case: Case, symptom: Symptom, evidence: list[Evidence]) -> Fault:
        return fault(
            self.code,
            evidence,
            component=symptom.component,
            site=input_origin(case),
            summary=symptom.message,
            reason="One such value turns the loss into NaN, then every gradient, then every weight.",
            remedy="Remove or fill the rows that are not finite before training, for example `x = torch.nan_to_num(x)`, and find out where they come from.",
            refutation="`torch.isfinite(x).all()` holds for every batch.",
            related=(symptom.site,),
            explains=_SPOILED,
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


def _seen_late() -> Trace:
    """The batch with NaN was not looked at when it came; the replay of the step that failed found it."""
    from netmend.diagnose.measures.examples import run_with
    from netmend.vocabulary import Event

    trace = run_with([1.0, 0.9, 0.8, 0.8] * 5 + [float("nan")] * 20)
    event = Event(
        20, "nonfinite", "The loss became NaN at step 20: first made by the input of the model", "input"
    )
    return replace(trace, events=(event,))


InvalidValuesInData.FAULTY = (
    Run("NaN in some rows", lambda: _example()),
    Run("NaN in one row, found by the replay", lambda: _seen_late()),
)
