"""What experiments on a copy of the model show."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.probes import probed
from netmend.unit import convention, exact
from netmend.vocabulary import ProbeFact, Symptom, Trace


class InputIgnored(Detector, code="D602"):
    """The model's output does not depend on its input.

    Nothing that is said about a sample can then be better than the same constant prediction for all.
    Usual causes: the input is overwritten or sliced away in forward(), all units of a layer are dead, the features are multiplied by
    zero, the wrong variable is returned.
    """

    change_limit = exact(1e-6, "of the output's size: below this only single-precision rounding is left")
    least_step = convention(
        4, "an output layer that starts at zero hides the input until it has been updated"
    )
    memorised_limit = convention(
        0.9, "with --probe: a batch learned by heart ends far below the constant prediction's loss"
    )
    gain_limit = convention(0.05, "with --probe: true inputs must help more than inputs dealt at random")

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
        return self.symptom(message, probe, observed, self.change_limit, values)

    HEALTHY = {
        "a small change": lambda: probed("input dependency", step=16, change=1e-4, ignored=()),
        "a head that starts at zero": lambda: probed("input dependency", step=0, change=0.0, ignored=()),
        "learned by heart": lambda: probed("input ignored", s=0.01, s_shuffled=1.0),
        "too slow to say": lambda: probed("input ignored", s=0.93, s_shuffled=1.01),
    }
    FAULTY = {
        "no effect at all": lambda: probed("input dependency", step=16, change=0.0, ignored=()),
        "inputs do not help": lambda: probed("input ignored", s=1.0, s_shuffled=1.0),
    }


class BatchOverfitFails(Detector, code="D606"):
    """A copy of the model could not memorise a single batch, with the program's own optimiser and settings.

    Only said with --probe. What cannot be memorised cannot be learned: data and generalisation are not the trouble, but the model,
    its loss, its gradients or the learning rate.
    Usual causes: output activation that does not fit the loss, cut graph, dead units, learning rate far off, labels that do not
    fit the outputs.
    """

    level_limit = convention(0.9, "of the constant prediction's loss: next to nothing was learned")
    fall_limit = convention(
        0.2, "share of the first loss that must be gone; slow optimisers get this far in 200 steps"
    )
    least_steps = convention(100, "a probe that ran out of time says nothing")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for probe in trace.probes("batch overfit"):
            values = probe.values
            level, first, best = values.get("s"), float(values["first"]), float(values["best"])
            fell = 1 - best / first if first > 0 else 1.0
            if level is None or not level > self.level_limit or fell > self.fall_limit:
                continue
            if int(values["steps"]) < self.least_steps:
                continue
            message = (
                f"Trained on one batch for {values['steps']} steps, a copy of {probe.component} still has {level:.0%} of the "
                "best constant prediction's loss."
            )
            yield self.symptom(message, probe, float(level), self.level_limit, dict(values))

    HEALTHY = {
        "by heart": lambda: probed("batch overfit", first=2.3, best=0.02, steps=40, s=0.01),
        "slow": lambda: probed("batch overfit", first=2.3, best=1.9, steps=200, s=0.85),
        "no time": lambda: probed("batch overfit", first=2.3, best=2.3, steps=4, s=1.0),
    }
    FAULTY = {"not even one batch": lambda: probed("batch overfit", first=2.35, best=2.29, steps=200, s=1.0)}


class GradientWrong(Detector, code="D607"):
    """The backward of a custom autograd.Function disagrees with finite differences of its forward.

    Everything before that function is then trained in a wrong direction or at a wrong rate. Functions that are flat or the identity in
    the forward direction (rounding, sign, gradient reversal) replace the gradient on purpose and are not judged.
    Usual causes: a factor, a sign or the incoming gradient forgotten in backward(), the wrong tensor saved for it.
    """

    error_limit = exact(0.05, "in double precision, central differences agree with a right gradient to 1e-6")
    share_limit = convention(0.3, "of the numbers looked at: single ones may lie at a kink")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for probe in trace.probes("gradient check"):
            error, share = float(probe.values["error"]), float(probe.values["wrong_share"])
            if error <= self.error_limit or share <= self.share_limit:
                continue
            message = f"The gradient that {probe.values['function']}.backward() returns is off by {error:.0%} (median), compared with finite differences."
            yield self.symptom(
                message,
                (str(probe.values["function"]), probe.site),
                observed=error,
                limit=self.error_limit,
                detail=dict(probe.values),
                first_step=probe.step,
            )

    HEALTHY = {
        "right": lambda: probed("gradient check", function="Swish", error=1e-7, wrong_share=0.0),
        "a kink": lambda: probed("gradient check", function="Clip", error=0.1, wrong_share=0.1),
    }
    FAULTY = {
        "a factor is missing": lambda: probed(
            "gradient check", function="Square", error=0.5, wrong_share=1.0, ratio=0.5
        )
    }


class RateProbe(Detector, code="D608"):
    """On one batch, copies of the model learn far better at another learning rate than at the program's.

    Only said with --probe. Ten steps on the first batch were tried at a hundredth, a tenth, ten and a hundred times the rate.
    Usual cause: a learning rate that is too high or too low. Ten steps say nothing about schedules with a warm-up.
    """

    worse_limit = exact(1.0, "of the first loss after ten steps: it rose")
    better_limit = convention(0.7, "of the first loss: a lower rate must do plainly better on the same batch")
    stuck_limit = convention(
        0.999,
        "of the first loss after ten steps on one batch; Adam at 1e-3 leaves 0.98 even of a slow model's",
    )
    moved_limit = convention(0.9, "of the first loss: a higher rate must do plainly better on the same batch")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for probe in trace.probes("rate probe"):
            own = _reached(probe.values, "x1")
            lower = min(_reached(probe.values, "x0.01"), _reached(probe.values, "x0.1"))
            higher = min(_reached(probe.values, "x10"), _reached(probe.values, "x100"))
            if own > self.worse_limit and lower < self.better_limit:
                direction, other = "too high", lower
            elif self.stuck_limit < own <= self.worse_limit and higher < self.moved_limit:
                direction, other = "too low", higher
            else:
                continue
            message = (
                f"Ten steps on one batch brought the loss to {own:.2f} of its start at the program's learning rate, and to {other:.2f} "
                f"at a {'lower' if direction == 'too high' else 'higher'} one."
            )
            detail = {"direction": direction, **probe.values}
            yield self.symptom(message, probe, own, self.better_limit, detail)

    HEALTHY = {
        "falls": lambda: _ten_steps(1.0, 0.95, 0.6, 0.3, 9.0),
        "slow": lambda: _ten_steps(1.0, 1.0, 0.98, 0.7, 0.02),
        "cautious": lambda: _ten_steps(1.0, 0.999, 0.98, 0.85, 0.72),
        "nothing helps": lambda: _ten_steps(1.0, 1.0, 1.0, 1.0, 1.0),
    }
    FAULTY = {
        "too high": lambda: _ten_steps(0.9, 0.3, 4.0, 80.0, math.nan),
        "too low": lambda: _ten_steps(1.0, 1.0, 0.9995, 0.99, 0.5),
    }


_RATES = ("x0.01", "x0.1", "x1", "x10", "x100")


def _ten_steps(*losses: float) -> Trace:
    """What was left of the first loss, by rate."""
    values: dict[str, Any] = dict(zip(_RATES, losses, strict=True))
    return probed("rate probe", **values)


def _reached(values: Mapping[str, Any], name: str) -> float:
    """The loss relative to its start; infinite where it was lost on the way."""
    value = values.get(name)
    return float(value) if value is not None and math.isfinite(value) else math.inf
