"""Statistics of norm layers that do not follow the data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.curves import falling, run_with, trace_of
from netmend.diagnose.examples.probes import probed
from netmend.diagnose.measures.objective import evaluations, objective
from netmend.unit import calibrated, convention, exact
from netmend.vocabulary import ModuleFact, ProbeFact, Site, Symptom, Table, TargetFact, Trace

NAN = float("nan")


def _normalised(momentum: float, evaluated: list[float]) -> Trace:
    trace = run_with(falling(200, end=0.05), evaluations=evaluated)
    layer = ModuleFact(
        "net.bn", "BatchNorm2d", settings={"momentum": momentum}, order=1, created=Site("train.py", 9)
    )
    return trace_of(layer, onto=trace)


def _unscored(momentum: float, mode: float) -> Trace:
    trace = _normalised(momentum, [])
    passes = {199: (NAN, NAN, NAN, 500.0, 5.0, mode)}
    return trace_of(Table.of("evaluation", "net", passes), onto=trace)


class NormStatisticsLag(Detector, code="D316"):
    """Batch norm's running statistics are still mostly those it was made with, and evaluation uses them.

    In training a batch is normalised with its own mean and spread; in evaluation the running ones are used, which follow by `momentum` at each step. With a tiny momentum they
    have hardly moved when the run ends.
    """

    old_share = exact(0.2, "share of the initial statistics that is left: (1 - momentum) ** steps")
    unseen_share = exact(
        0.8, "the same where no loss of evaluation was seen: evaluation has nearly another network"
    )
    least_steps = convention(50, "fewer steps are a first try, not a training")
    gap_limit = convention(2.5, "evaluation loss over training loss, so that it matters")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        gap = _loss_ratio(trace)
        if gap is None and not _evaluated(trace):
            return
        share = self.old_share if gap is not None else self.unseen_share
        for layer in trace.layers():
            momentum = layer.settings.get("momentum")
            if not layer.kind.startswith("BatchNorm") or not isinstance(momentum, int | float):
                continue
            if trace.run.steps < self.least_steps:
                continue
            left = (1 - float(momentum)) ** trace.run.steps
            if left > share and (gap is None or gap > self.gap_limit):
                suffers = "and evaluation uses them"
                if gap is not None:
                    suffers = f"the evaluation loss is {gap:.1f} times the training loss"
                message = (
                    f"After {trace.run.steps} steps with `momentum={momentum:g}` {left:.0%} of the running statistics of {layer.name} are "
                    f"still those it started with; {suffers}."
                )
                yield self.symptom(message, layer, left, self.old_share)
                return

    HEALTHY = {
        "the default momentum": lambda: _normalised(0.1, [0.4, 0.3, 0.2, 0.2]),
        "slow, but evaluation is as good": lambda: _normalised(0.001, [0.4, 0.2, 0.1, 0.05]),
        "slow, but always in training mode": lambda: _unscored(0.0001, mode=1.0),
    }
    FAULTY = {
        "slow, and evaluation suffers": lambda: _normalised(0.0005, [3.0, 4.0, 5.0, 6.0]),
        "slower, and evaluation computes no loss": lambda: _unscored(0.0001, mode=0.0),
    }


def _loss_ratio(trace: Trace) -> float | None:
    """Evaluation loss over training loss at the end, where both are known."""
    course, passes = objective(trace), evaluations(trace)
    if course is None or passes is None or course.last <= 0:
        return None
    return float(np.median(passes[1][-3:])) / course.last


def _evaluated(trace: Trace) -> bool:
    """Whether a model was asked in evaluation mode without a loss, so that nothing says how it did."""
    return any(
        bool((table.column("training_mode") == 0).any()) and not np.isfinite(table.column("loss")).any()
        for table in trace.tables_of("evaluation")
    )


def _estimate(agreement: float) -> Trace:
    return probed("spectral estimate", agreement=agreement, layers=3, model="model")


class NormNotEstimated(Detector, code="D231"):
    """A spectrally normalised layer was used in eval mode before its norm was ever estimated.

    Weights are divided by an estimate of their largest singular value. Only training passes improve it; before the first one it comes from random
    vectors and is far too small, so the weights, and everything computed with them, are far too large.
    Usual causes: eval() right after the model is made (a first evaluation, a frozen judge).
    """

    agreement_limit = exact(
        0.9,
        "cosine between the two vectors of an estimate: 1 after a single training pass, about 1/sqrt(units) before",
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for probe in trace.probes("spectral estimate"):
            agreement = float(probe.values["agreement"])
            if agreement >= self.agreement_limit:
                continue
            layers = int(probe.values["layers"])
            several = f" and {layers - 1} more" if layers > 1 else ""
            message = (
                f"`{probe.component}`{several} ran in eval mode before spectral_norm had estimated the size of its weights "
                f"(its vectors agree to {agreement:.2f} of 1)."
            )
            detail = {"model": probe.values["model"], "layers": layers}
            yield self.symptom(message, probe, agreement, self.agreement_limit, detail)

    HEALTHY = {
        "after one training pass": lambda: _estimate(1.0),
        "weights have changed a little since": lambda: _estimate(0.97),
    }
    FAULTY = {"straight after it was made": lambda: _estimate(0.04)}


class ModeGap(Detector, code="D605"):
    """On the very same batch, the model does far worse in one mode than in the other.

    Both losses are compared on the scale on which 1 is the best constant prediction. Worse in eval mode: running averages of a norm layer
    do not describe its inputs. Worse in train mode: dropout takes away more than the network can spare.
    Usual causes: batches too small for batch norm, momentum of its averages set wrongly, inputs that differ from batch to batch;
    dropout rate too high.
    """

    gap_limit = calibrated(
        0.5,
        "difference of the two losses relative to the constant prediction's; healthy calibration runs reach 0.18",
    )
    output_limit = calibrated(
        3.0,
        "root mean square difference of the outputs, relative to their spread in eval mode; healthy runs reach 1.1, "
        "dropout of 95 % shows 12 and more",
    )
    least_step = exact(
        64, "running averages with the usual momentum of 0.1 have then forgotten where they started"
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
            message = (
                f"At step {probe.step} the outputs for the same batch differed between train and eval mode by {apart:.1f} "
                f"times their spread{losses}."
            )
            detail = {**probe.values}
            yield self.symptom(message, probe, apart, self.output_limit, detail)

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

    HEALTHY = {
        "dropout costs a little": lambda: probed(
            "mode gap",
            TargetFact("loss", constant_loss=1.0),
            step=64,
            output=0.4,
            loss_training=0.5,
            loss_evaluation=0.3,
        ),
        "averages have not settled": lambda: probed(
            "mode gap",
            TargetFact("loss", constant_loss=1.0),
            step=16,
            output=0.9,
            loss_training=0.5,
            loss_evaluation=2.3,
        ),
    }
    FAULTY = {
        "dropout leaves nothing": lambda: probed("mode gap", step=64, output=12.0),
        "averages of batches of two": lambda: probed(
            "mode gap",
            TargetFact("loss", constant_loss=1.0),
            step=256,
            output=2.0,
            loss_training=0.3,
            loss_evaluation=1.4,
        ),
    }


def _gap(trace: Trace, probe: ProbeFact) -> float | None:
    """Eval minus train mode, on the scale of the best constant prediction; None where that is not known."""
    constants = [t.constant_loss for t in trace.all(TargetFact) if t.constant_loss]
    training, evaluation = probe.values.get("loss_training"), probe.values.get("loss_evaluation")
    if len(constants) != 1 or training is None or evaluation is None:
        return None
    gap = (float(evaluation) - float(training)) / constants[0]
    return gap if math.isfinite(gap) else None
