"""D605 ModeGap."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.probe_examples import probed
from netmend.unit import Run, threshold
from netmend.vocabulary import ProbeFact, Symptom, TargetFact, Trace


@register
@dataclass(frozen=True)
class ModeGap:
    """On the very same batch, the model does far worse in one mode than in the other.

    Both losses are compared on the scale on which 1 is the best constant answer. Worse in eval mode: running averages of a norm layer
    do not describe its inputs. Worse in train mode: dropout takes away more than the network can spare.
    Usual causes: batches too small for batch norm, momentum of its averages set wrongly, inputs that differ from batch to batch;
    dropout rate too high.
    """

    code: ClassVar[str] = "D605"

    gap_limit: float = threshold(
        0.5,
        "calibrated",
        "difference of the two losses relative to the constant answer's; healthy runs stay below 0.25",
    )
    least_step: int = threshold(
        64, "exact", "running averages with the usual momentum of 0.1 have then forgotten where they started"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for probe, gap in self._latest(trace):
            if abs(gap) <= self.gap_limit:
                continue
            worse = "eval" if gap > 0 else "train"
            yield Symptom(
                self.code,
                f"At step {probe.step} the same batch had a loss of {probe.values['loss_training']:.3g} in train mode and "
                f"{probe.values['loss_evaluation']:.3g} in eval mode.",
                component=probe.component,
                first_step=probe.step,
                observed=abs(gap),
                limit=self.gap_limit,
                site=probe.site,
                detail={"worse": worse, "gap": gap, **probe.values},
            )

    def _latest(self, trace: Trace) -> Iterator[tuple[ProbeFact, float]]:
        """The last comparison of each model, with eval minus train on the scale of the constant answer."""
        constants = [t.constant_loss for t in trace.all(TargetFact) if t.constant_loss]
        latest = {
            probe.component: probe for probe in trace.probes("mode gap") if probe.step >= self.least_step
        }
        for probe in latest.values():
            training, evaluation = probe.values.get("loss_training"), probe.values.get("loss_evaluation")
            if len(constants) == 1 and training is not None and evaluation is not None:
                gap = (evaluation - training) / constants[0]
                if math.isfinite(gap):
                    yield probe, gap

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        gaps = [abs(gap) for _, gap in self._latest(trace)]
        return {"gap_limit": max(gaps)} if gaps else {}

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run(
            "dropout costs a little",
            probed(
                "mode gap",
                {"output": 0.4, "loss_training": 0.5, "loss_evaluation": 0.3},
                TargetFact("loss", constant_loss=1.0),
                step=64,
            ),
        ),
        Run(
            "averages have not settled",
            probed(
                "mode gap",
                {"output": 0.9, "loss_training": 0.5, "loss_evaluation": 2.3},
                TargetFact("loss", constant_loss=1.0),
                step=16,
            ),
        ),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "averages of batches of two",
            probed(
                "mode gap",
                {"output": 2.0, "loss_training": 0.3, "loss_evaluation": 1.4},
                TargetFact("loss", constant_loss=1.0),
                step=256,
            ),
        ),
    )
