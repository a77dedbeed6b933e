"""D225 LossScaleFalls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.loop import calls, stepping
from netmend.diagnose.measures.loop_examples import optimizer, trained
from netmend.unit import Run, threshold
from netmend.vocabulary import Call, Pattern, Symptom, Trace

_TAKEN = "zero_grad forward=train,grad backward step:optimizer"


def _skipped(taken: int, skipped: int) -> Trace:
    trace = trained(optimizer(), loop=[(_TAKEN, taken)])
    call = Call("step", "optimizer", "skipped by GradScaler")
    pattern = Pattern((Call("backward"), call), ((taken, taken + skipped - 1),))
    return Trace(trace.facts, trace.tables, (*trace.patterns, pattern))


@register
class LossScaleFalls:
    """The scaler of mixed precision skips step after step because gradients overflow.

    Skipped steps teach nothing. A few at the start are normal, while the scale is being found.
    Usual causes: values that overflow in half precision, a loss computed in half precision, weights that are diverging.
    """

    code: ClassVar[str] = "D225"

    share: float = threshold(
        0.2, "convention", "of the steps; a healthy scaler skips a handful at first and one in 2,000 later"
    )
    least_skipped: int = threshold(
        32,
        "convention",
        "the default start of 65,536 takes at most 16 halvings to reach 1; twice that is no search",
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        total = sum(pattern.steps for pattern in stepping(trace))
        skipped = [(p, c) for p, c in calls(trace, "step") if c.detail == "skipped by GradScaler"]
        count = sum(pattern.steps for pattern, _ in skipped)
        if count < self.least_skipped or count < self.share * total:
            return
        yield Symptom(
            self.code,
            f"The scaler skipped {count} of {total} steps because gradients were not finite.",
            component=skipped[0][1].component,
            first_step=min(p.spans[0][0] for p, _ in skipped if p.spans),
            observed=count / total,
            limit=self.share,
            site=skipped[0][1].site,
        )

    HEALTHY: ClassVar[tuple[Run, ...]] = (Run("some steps at the start", lambda: _skipped(200, 20)),)
    FAULTY: ClassVar[tuple[Run, ...]] = (Run("most steps", lambda: _skipped(20, 180)),)
