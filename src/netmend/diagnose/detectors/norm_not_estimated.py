"""D231 NormNotEstimated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.probe_examples import probed
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace


def _estimate(agreement: float) -> Trace:
    return probed("spectral estimate", {"agreement": agreement, "layers": 3, "model": "model"})


@register
class NormNotEstimated:
    """A spectrally normalised layer was used in eval mode before its norm was ever estimated.

    Weights are divided by an estimate of their largest singular value. Only training passes improve it; before the first one it comes from random
    vectors and is far too small, so the weights, and everything computed with them, are far too large.
    Usual causes: eval() right after the model is made (a first evaluation, a frozen judge).
    """

    code: ClassVar[str] = "D231"

    agreement_limit: float = threshold(
        0.9,
        "exact",
        "cosine between the two vectors of an estimate: 1 after a single training pass, about 1/sqrt(units) before",
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for probe in trace.probes("spectral estimate"):
            agreement = float(probe.values["agreement"])
            if agreement >= self.agreement_limit:
                continue
            layers = int(probe.values["layers"])
            several = f" and {layers - 1} more" if layers > 1 else ""
            yield Symptom(
                self.code,
                f"`{probe.component}`{several} ran in eval mode before spectral_norm had estimated the size of its weights "
                f"(its vectors agree to {agreement:.2f} of 1).",
                component=probe.component,
                first_step=probe.step,
                observed=agreement,
                limit=self.agreement_limit,
                site=probe.site,
                detail={"model": probe.values["model"], "layers": layers},
            )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("after one training pass", lambda: _estimate(1.0)),
        Run("weights have changed a little since", lambda: _estimate(0.97)),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (Run("straight after it was made", lambda: _estimate(0.04)),)
