"""OPT-EPS, and LOS-CALC where a NaN is born in the loss."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from netmend.diagnose.detectors.gradients import NonfiniteOrigin
from netmend.diagnose.examples.networks import net_run
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, STRONG, WEAK, Cause, fault, for_symptom
from netmend.localise.lines.rates import setting
from netmend.localise.outcome import harm, relief
from netmend.unit import calibrated, convention
from netmend.vocabulary import Evidence, Fault, OptimizerFact, Symptom

_UNSAFE = {
    "log": "Use the stable form (`F.log_softmax`, `F.logsigmoid`, a `…_with_logits` loss), or `torch.clamp` the argument first.",
    "div": "Add a small number to the divisor, or skip the samples for which it is zero.",
    "sqrt": "Add a small number under the root: its slope at zero is infinite.",
    "exp": "Subtract the largest value first, or use `torch.logsumexp`.",
    "acos": "Clamp the argument a little inside -1 and 1.",
}
_FIRST = 8  # updates looked at
_SAME = {
    "log2": "log", "log10": "log", "log1p": "log", "truediv": "div", "reciprocal": "div", "rsqrt": "sqrt", "norm": "sqrt",
    "linalg_vector_norm": "sqrt", "pow": "sqrt", "asin": "acos", "atan2": "acos", "mean": "div",
}  # fmt: skip


class NumericallyUnsafe(Cause, code="OPT-EPS"):
    """A small constant that keeps numbers apart from zero is off, or missing where one is needed.

    Adam's epsilon as large as the gradients turns it into slow gradient descent, and one of zero divides by zero; log, division and roots in a loss
    give NaN at zero. Use 1e-8 with Adam, and clamp or the stable forms in losses.
    """

    large_epsilon = convention(1e-4, "1e-8 is usual, up to 1e-5 in half precision and reinforcement learning")
    least_share = calibrated(
        0.1,
        "size of the first updates over the rate: Adam's are 0.3 to 1 by construction, unless epsilon dominates",
    )
    tiny_epsilon = convention(1e-15, "less than that is lost beside float32 values")

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D110"):
            if not symptom.detail.get("grew"):
                yield from self._operation(symptom)
        for optimizer in case.trace.optimizers:
            for group in optimizer.groups[:1]:
                epsilon = group.settings.get("eps")
                if isinstance(epsilon, int | float) and optimizer.kind not in ("Adadelta", "Adafactor"):
                    yield from self._epsilon(case, optimizer, float(epsilon))

    def _operation(self, symptom: Symptom) -> Iterator[Fault]:
        """The operation that made the first invalid number, in the loss or inside the network."""
        operation = str(symptom.detail.get("operation", "")).strip("_")
        advice = _UNSAFE.get(_SAME.get(operation, operation))
        in_loss = symptom.component == "loss"
        if symptom.detail.get("phase") not in ("forward", "backward") or not (advice or in_loss):
            return
        yield self.fault(
            symptom,
            [for_symptom(symptom, PROVEN if advice else STRONG)],
            code="LOS-CALC" if in_loss else "ACT-HID-WRONG",
            component=symptom.component or "model",
            reason="All values that reached this operation were finite: it produces the invalid number.",
            remedy=advice or "Check the inputs of this operation, and keep them inside its domain.",
            refutation="Invalid numbers still appear when the argument of this line is clamped.",
            explains=("D110", "D215", "D412", "D501", "D502", "D511"),
        )

    def _epsilon(self, case: Case, optimizer: OptimizerFact, epsilon: float) -> Iterator[Fault]:
        hurt = harm(case)
        large = epsilon >= self.large_epsilon and self._share(case, optimizer) < self.least_share
        tiny = epsilon < self.tiny_epsilon
        slow = [for_symptom(s, STRONG) for s in case.of("D102")[:1]]
        broken = [for_symptom(s, STRONG) for s in case.of("D110") if s.component != "loss"]
        if not (large and (hurt or slow)) and not (tiny and (broken or case.has("D502", "D503"))):
            return
        place = setting(case, optimizer, "eps", 3)
        where = "" if place.site is None else f" in {place.site.short}"
        size = "at least as large as the gradients" if large else "too small to prevent division by zero"
        yield fault(
            self.code,
            [
                Evidence(f"The epsilon of {optimizer.name} is {epsilon:g}.", STRONG + WEAK),
                *slow,
                *broken,
                *hurt,
                *relief(case, 2 * STRONG),
            ],
            component=optimizer.name,
            site=place.site,
            summary=f"The epsilon of {optimizer.name} is {epsilon:g}, {size}.",
            reason="Each step is divided by the usual size of the gradient plus epsilon: a wrong epsilon shrinks all steps or blows up some.",
            remedy=f"Use `eps=1e-8`{where}.",
            refutation="Training is no better with the default epsilon.",
            related=place.related,
            explains=("D101", "D102", "D110", "D501", "D502", "D503", "D504", "D505", "D508"),
        )

    def _share(self, case: Case, optimizer: OptimizerFact) -> float:
        """How large the optimiser's first updates are, as a share of the rate."""
        group = optimizer.groups[0]
        rate = float(group.settings.get("lr") or 0.0)
        updates = [case.trace.series("update", name, "rms")[1][:_FIRST] for name in group.parameters]
        known = np.concatenate(updates) if updates else np.empty(0)
        return float(np.median(known)) / rate if len(known) and rate else 1.0

    FAULTY = {
        "epsilon of one": lambda: net_run(
            losses=[1.1 - 1e-4 * s for s in range(300)], settings={"eps": 1.0}, ratio=1e-5
        ),
        "the logarithm of zero": ("LOS-CALC", lambda: NonfiniteOrigin.FAULTY[0].trace),
    }
