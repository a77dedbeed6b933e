"""D605 ModeGap."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.probe_examples import probed
from netmend.unit import Run, threshold
from netmend.vocabulary import ProbeFact, Symptom, TargetFact, Trace


@register
class ModeGap:
    """On the very same batch, the model does far worse in one mode than in the other.

    Both losses are compared on the scale on which 1 is the best constant prediction. Worse in eval mode: running averages of a norm layer
    do not describe its inputs. Worse in train mode: dropout takes away more than the network can spare.
    Usual causes: batches too small for batch norm, momentum of its averages set wrongly, inputs that differ from batch to batch;
    dropout rate too high.
    """

    code: ClassVar[str] = "D605"

    gap_limit: float = threshold(
        0.5,
        "calibrated",
        "difference of the two losses relative to the constant prediction's; healthy calibration runs reach 0.18",
    )
    output_limit: float = threshold(
        3.0,
        "calibrated",
        "root mean square difference of the outputs, relative to their spread in eval mode; healthy runs reach 1.1, "
        "dropout of 95 % shows 12 and more",
    )
    least_step: int = threshold(
        64, "exact", "running averages with the usual momentum of 0.1 have then forgotten where they started"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for probe in self._latest(trace):
            gap, apart = _gap(trace, probe), float(probe.values["output"])
            if abs(gap or 0.0) <= self.gap_limit and apart <= self.output_limit:
                continue
            losses = ""
            if gap is not None:
                training, evaluation = probe.values["loss_training"], probe.values["loss_evaluation"]
                losses = f", and its loss was {training:.3g} in train mode and {evaluation:.3g} in eval mode"
            yield Symptom(
                self.code,
                f"At step {probe.step} the outputs for the same batch differed between train and eval mode by {apart:.1f} "
                f"times their spread{losses}.",
                component=probe.component,
                first_step=probe.step,
                observed=apart,
                limit=self.output_limit,
                site=probe.site,
                detail={
                    "worse": "" if gap is None else "eval" if gap > 0 else "train",
                    "gap": gap,
                    **probe.values,
                },
            )

    def _latest(self, trace: Trace) -> Iterator[ProbeFact]:
        """The last comparison of each model."""
        latest = {
            probe.component: probe for probe in trace.probes("mode gap") if probe.step >= self.least_step
        }
        yield from latest.values()

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        latest = list(self._latest(trace))
        gaps = [abs(gap) for probe in latest if (gap := _gap(trace, probe)) is not None]
        found = {"gap_limit": max(gaps)} if gaps else {}
        return found | ({"output_limit": max(float(p.values["output"]) for p in latest)} if latest else {})

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run(
            "dropout costs a little",
            lambda: probed(
                "mode gap",
                {"output": 0.4, "loss_training": 0.5, "loss_evaluation": 0.3},
                TargetFact("loss", constant_loss=1.0),
                step=64,
            ),
        ),
        Run(
            "averages have not settled",
            lambda: probed(
                "mode gap",
                {"output": 0.9, "loss_training": 0.5, "loss_evaluation": 2.3},
                TargetFact("loss", constant_loss=1.0),
                step=16,
            ),
        ),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("dropout leaves nothing", lambda: probed("mode gap", {"output": 12.0}, step=64)),
        Run(
            "averages of batches of two",
            lambda: probed(
                "mode gap",
                {"output": 2.0, "loss_training": 0.3, "loss_evaluation": 1.4},
                TargetFact("loss", constant_loss=1.0),
                step=256,
            ),
        ),
    )


def _gap(trace: Trace, probe: ProbeFact) -> float | None:
    """Eval minus train mode, on the scale of the best constant prediction; None where that is not known."""
    constants = [t.constant_loss for t in trace.all(TargetFact) if t.constant_loss]
    training, evaluation = probe.values.get("loss_training"), probe.values.get("loss_evaluation")
    if len(constants) != 1 or training is None or evaluation is None:
        return None
    gap = (float(evaluation) - float(training)) / constants[0]
    return gap if math.isfinite(gap) else None
