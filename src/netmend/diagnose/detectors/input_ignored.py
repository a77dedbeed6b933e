"""D602 InputIgnored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.probe_examples import probed
from netmend.unit import Run, threshold
from netmend.vocabulary import ProbeFact, Symptom, Trace


@register
class InputIgnored:
    """The model's output does not depend on its input.

    Nothing that is said about a sample can then be better than the same constant prediction for all.
    Usual causes: the input is overwritten or sliced away in forward(), all units of a layer are dead, the features are multiplied by
    zero, the wrong variable is returned.
    """

    code: ClassVar[str] = "D602"

    change_limit: float = threshold(
        1e-6, "exact", "of the output's size: below this only single-precision rounding is left"
    )
    least_step: int = threshold(
        4, "convention", "an output layer that starts at zero hides the input until it has been updated"
    )
    memorised_limit: float = threshold(
        0.9,
        "convention",
        "with --probe: a batch learned by heart ends far below the constant prediction's loss",
    )
    gain_limit: float = threshold(
        0.05, "convention", "with --probe: true inputs must help more than inputs dealt at random"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for probe in trace.probes("input dependency"):
            change = float(probe.values.get("change", 1.0))
            if change <= self.change_limit and probe.step >= self.least_step:
                yield self._symptom(
                    probe,
                    f"The output of {probe.component} stayed the same when its samples were replaced.",
                    change,
                )
        for probe in trace.probes("input ignored"):
            real, shuffled = probe.values.get("s"), probe.values.get("s_shuffled")
            if real is None or shuffled is None or not real > self.memorised_limit:
                continue
            if abs(shuffled - real) < self.gain_limit * real:
                yield self._symptom(
                    probe,
                    f"A copy of {probe.component} learned one batch no better from its own inputs ({real:.2f} of the constant "
                    f"answer's loss) than from randomly shuffled inputs ({shuffled:.2f}).",
                    float(real),
                )

    def _symptom(self, probe: ProbeFact, message: str, observed: float) -> Symptom:
        values: Mapping[str, object] = dict(probe.values)
        return Symptom(
            self.code,
            message,
            component=probe.component,
            first_step=probe.step,
            observed=observed,
            limit=self.change_limit,
            site=probe.site,
            detail=values,
        )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("a small change", lambda: probed("input dependency", {"change": 1e-4, "ignored": ()}, step=16)),
        Run(
            "a head that starts at zero",
            lambda: probed("input dependency", {"change": 0.0, "ignored": ()}, step=0),
        ),
        Run("learned by heart", lambda: probed("input ignored", {"s": 0.01, "s_shuffled": 1.0})),
        Run("too slow to say", lambda: probed("input ignored", {"s": 0.93, "s_shuffled": 1.01})),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("no effect at all", lambda: probed("input dependency", {"change": 0.0, "ignored": ()}, step=16)),
        Run("inputs do not help", lambda: probed("input ignored", {"s": 1.0, "s_shuffled": 1.0})),
    )
