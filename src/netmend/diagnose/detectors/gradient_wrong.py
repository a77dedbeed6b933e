"""D607 GradientWrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.probe_examples import probed
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace


@register
class GradientWrong:
    """The backward of a custom autograd.Function disagrees with finite differences of its forward.

    Everything before that function is then trained in a wrong direction or at a wrong rate. Functions that are flat or the identity in
    the forward direction (rounding, sign, gradient reversal) replace the gradient on purpose and are not judged.
    Usual causes: a factor, a sign or the incoming gradient forgotten in backward(), the wrong tensor saved for it.
    """

    code: ClassVar[str] = "D607"

    error_limit: float = threshold(
        0.05, "exact", "in double precision, central differences agree with a right gradient to 1e-6"
    )
    share_limit: float = threshold(
        0.3, "convention", "of the numbers looked at: single ones may lie at a kink"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for probe in trace.probes("gradient check"):
            error, share = float(probe.values["error"]), float(probe.values["wrong_share"])
            if error <= self.error_limit or share <= self.share_limit:
                continue
            yield Symptom(
                self.code,
                f"The gradient that {probe.values['function']}.backward() returns is off by {error:.0%} (median), compared with finite differences.",
                component=str(probe.values["function"]),
                first_step=probe.step,
                observed=error,
                limit=self.error_limit,
                site=probe.site,
                detail=dict(probe.values),
            )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run(
            "right",
            lambda: probed("gradient check", {"function": "Swish", "error": 1e-7, "wrong_share": 0.0}),
        ),
        Run(
            "a kink", lambda: probed("gradient check", {"function": "Clip", "error": 0.1, "wrong_share": 0.1})
        ),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "a factor is missing",
            lambda: probed(
                "gradient check", {"function": "Square", "error": 0.5, "wrong_share": 1.0, "ratio": 0.5}
            ),
        ),
    )
