"""What an evaluation pass does, and on which data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.curves import labelled, trace_of
from netmend.diagnose.examples.loops import trained
from netmend.diagnose.examples.probes import dropped, probed
from netmend.diagnose.measures.batches import class_counts, features, other_scale, prints
from netmend.unit import calibrated, convention, exact
from netmend.vocabulary import BatchPrint, FunctionFact, LossFact, OperandFact, Site, Symptom, Table, Trace


def _evaluated(passes: int, grad: float) -> Trace:
    rows = {100 * number: (0.5, 1.0, 0.8, 100.0, 4.0, 0.0, grad) for number in range(passes)}
    return trace_of(Table.of("evaluation", "loss@train.py:40", rows))


class GradientsInEvaluation(Detector, code="D224", needs_fixed_data=True):
    """Evaluation passes record gradients that are never used.

    It costs memory and time, and nothing else.
    Usual cause: no torch.no_grad() around validation.
    """

    least_passes = convention(2, "a single pass may be a look at gradients")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for table in trace.tables_of("evaluation"):
            recorded = (table.column("grad_enabled") == 1) & (table.column("training_mode") == 0)
            if recorded.sum() < self.least_passes:
                continue
            loss = trace.get(LossFact, table.component)
            yield self.symptom(
                f"{int(recorded.sum())} evaluation passes recorded gradients that were never used.",
                (table.component, loss.called if loss is not None else None),
                observed=float(recorded.sum()),
                limit=float(self.least_passes),
                first_step=int(table.steps[recorded][0]),
            )

        for loss in trace.losses:
            steps = _unused(trace, loss)
            if steps >= self.least_passes:
                message = (
                    f"{loss.criterion} was computed with gradients on {steps} steps and never backpropagated."
                )
                yield self.symptom(message, loss, float(steps), float(self.least_passes), first_step=0)

    HEALTHY = {"without gradients": lambda: _evaluated(5, 0.0), "one look": lambda: _evaluated(1, 1.0)}
    FAULTY = {
        "with gradients": lambda: _evaluated(5, 1.0),
        "the training loss once more, for the records": lambda: trained(
            LossFact(
                "mse_loss@train.py:42",
                "mse_loss",
                operands=(OperandFact("prediction", requires_grad=True),),
                called=Site("train.py", 42),
            ),
            (
                "forward=train,grad@42 loss:mse_loss@42 zero_grad forward=train,grad@38 loss@38 backward@39 "
                "step:optimizer",
                20,
            ),
        ),
    }


def _unused(trace: Trace, loss: LossFact) -> int:
    """Steps on which a loss with a graph was followed by another training pass before anything was passed back."""
    graded = any(operand.requires_grad for operand in loss.operands)
    terms = [name for other in trace.losses for name in other.settings.get("terms", ())]
    if not graded or loss.backward is not None or loss.name in terms:
        return 0
    steps = 0
    for pattern in trace.patterns:
        waiting = False
        for call in pattern.calls:
            if call.what == "loss" and call.site == loss.called and call.detail != "no_grad":
                waiting = True
            elif waiting and call.what == "zero_grad":
                steps += pattern.steps
                break
            elif call.what == "backward":
                waiting = False
    return steps


class EvaluationNotDeterministic(Detector, code="D603"):
    """In eval mode, dropout still drops: two passes over the same batch differ.

    Evaluation and every later use of the model then work with a random part of it missing.
    Usual causes: `F.dropout(x)` without `training=self.training`, a new `nn.Dropout` made inside forward(). Models that draw
    samples on purpose (variational autoencoders) are not meant.
    """

    difference_limit = exact(
        1e-4, "of the output's size: kernels that add in another order reach 1e-5 in single precision"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        places = {
            (fact.site.file, fact.site.line): fact.name
            for fact in trace.all(FunctionFact)
            if fact.kind == "dropout" and fact.site is not None
        }
        for probe in trace.probes("eval determinism"):
            difference, site = float(probe.values["difference"]), probe.site
            kind = str(probe.values.get("kind", ""))
            name = places.get((site.file, site.line), "") if site is not None else ""
            if "Dropout" in kind:  # a layer that the model's eval() does not reach
                name = kind
            if not name or not difference > self.difference_limit:
                continue
            message = (
                f"In eval mode {probe.component} gives different outputs for the same batch each time, by {difference:.0%} "
                "of its output: dropout is still on."
            )
            detail = {"model": probe.component}
            yield self.symptom(
                message, name, difference, self.difference_limit, detail, first_step=probe.step, site=site
            )

    HEALTHY = {
        "the same twice": lambda: dropped(0.0, ""),
        "a latent value is drawn on purpose": lambda: trace_of(
            *dropped(0.3, "randn_like").probes("eval determinism")
        ),
    }
    FAULTY = {
        "functional dropout": lambda: dropped(),
        "a new layer at every pass": lambda: probed(
            "eval determinism", difference=0.4, operation="bernoulli", kind="Dropout"
        ),
    }


def _with_inputs(training: tuple[float, float], evaluation: tuple[float, float]) -> Trace:
    def rows(mean: float, std: float) -> tuple[tuple[float, float, float, float], ...]:
        return ((mean, std, mean - std, mean + std),) * 3

    return trace_of(
        *(BatchPrint(step, "training", 32, "model", (), "feature", rows(*training)) for step in range(4)),
        BatchPrint(4, "evaluation", 100, "model", (), "feature", rows(*evaluation)),
    )


def _images(training: tuple[float, ...], evaluation: tuple[float, ...]) -> Trace:
    """Pictures of one channel: lowest and highest value, mean, spread."""

    def print_of(step: int, phase: str, low: float, high: float, mean: float, std: float) -> BatchPrint:
        return BatchPrint(step, phase, 64, "model", (), "channel", ((mean, std, low, high),))

    return trace_of(
        *(print_of(step, "training", *training) for step in range(4)), print_of(4, "evaluation", *evaluation)
    )


class TrainingEvaluationSkew(Detector, code="D310", needs_fixed_data=True):
    """The inputs of evaluation differ in offset or scale from those of training.

    The network is asked about another kind of data than it has learned. Usual causes: normalisation applied to the training data only,
    statistics taken from each split separately, a forgotten division by 255.
    """

    shift_limit = calibrated(
        2.0, "difference of means in training standard deviations, median feature; healthy programs up to 0.4"
    )
    scale_limit = calibrated(3.0, "ratio of standard deviations, median feature; healthy programs up to 1.5")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        found = self.extremes(trace)
        if not found:
            return
        rescaled = other_scale(trace)
        beyond = found["shift_limit"] >= self.shift_limit or found["scale_limit"] >= self.scale_limit
        if not beyond and rescaled is None:
            return
        trained, evaluated = features(trace, "training"), features(trace, "evaluation")
        assert trained is not None and evaluated is not None
        model = next((model for model in trace.models), None)
        message = (
            f"Inputs have mean {np.median(trained.mean):.3g} and spread {np.median(trained.std):.3g} in training, but mean "
            f"{np.median(evaluated.mean):.3g} and spread {np.median(evaluated.std):.3g} in evaluation."
        )
        yield self.symptom(
            message,
            ("" if model is None else model.name, None),
            observed=max(found["shift_limit"], found["scale_limit"]),
            limit=self.shift_limit,
            detail={"rescaled": rescaled is not None},
        )

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        trained, evaluated = features(trace, "training"), features(trace, "evaluation")
        if trained is None or evaluated is None or len(trained.mean) != len(evaluated.mean):
            return {}
        varied = (trained.std > 1e-6 * max(float(trained.std.max()), 1e-12)) & (evaluated.std > 0)
        if not varied.any():
            return {}
        shift = np.abs(trained.mean - evaluated.mean)[varied] / trained.std[varied]
        ratio = np.abs(np.log(evaluated.std[varied] / trained.std[varied]))
        return {"shift_limit": float(np.median(shift)), "scale_limit": float(np.exp(np.median(ratio)))}

    HEALTHY = {
        "alike": lambda: _with_inputs((0.0, 1.0), (0.1, 0.95)),
        "noise widens training": lambda: _images((-0.9, 1.9, 0.13, 0.41), (0.0, 1.0, 0.13, 0.31)),
        "brightness varies in training": lambda: _images((0.0, 1.5, 0.13, 0.33), (0.0, 1.0, 0.13, 0.31)),
        "other pictures in evaluation": lambda: _images((0.0, 1.0, 0.13, 0.31), (0.0, 1.0, 0.2, 0.38)),
        "augmentation widens training": lambda: _with_inputs((0.0, 1.4), (0.0, 1.0)),
    }
    FAULTY = {
        "0..1 and -1..1": lambda: _images((-1.0, 1.0, -0.74, 0.62), (0.0, 1.0, 0.13, 0.31)),
        "statistics of another data set": lambda: _images(
            (-0.42, 2.82, 0.0, 1.0), (-2.12, 2.25, -1.55, 1.35)
        ),
        "only training is normalised": lambda: _with_inputs((0.0, 1.0), (120.0, 60.0)),
    }


def _with_classes(training: dict[str, int], evaluation: dict[str, int]) -> Trace:
    return trace_of(*labelled(*[training] * 6), *labelled(evaluation, phase="evaluation", step=6))


class EvaluationClassesUnseen(Detector, code="D312", needs_fixed_data=True):
    """Evaluation contains classes that training never shows.

    No network can answer them. Usual causes: data sorted by class and cut in two without shuffling, a split by a column that goes with the label.
    """

    share_limit = calibrated(
        0.3, "share of evaluation labels that training never showed; healthy programs show none"
    )
    least_in_batch = convention(10, "labels in an evaluation batch that is judged")
    least_labels = convention(100, "training labels that must have been seen to say never")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        share = self.extremes(trace).get("share_limit", 0.0)
        if share < self.share_limit:
            return
        new = sorted(set(_evaluated_labels(trace)) - set(class_counts(trace)))
        named = ", ".join(new[:5]) + (", …" if len(new) > 5 else "")
        message = (
            f"{share:.0%} of the labels in an evaluation are classes that never occur in training ({named})."
        )
        yield self.symptom(message, "", share, self.share_limit)

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        trained = class_counts(trace)
        if sum(trained.values()) < self.least_labels or len(trained) < 2:
            return {}
        shares = [
            sum(count for name, count in batch.labels.items() if name not in trained)
            / sum(batch.labels.values())
            for batch in prints(trace, "evaluation")
            if len(batch.labels) and sum(batch.labels.values()) >= self.least_in_batch
        ]
        return {"share_limit": max(shares)} if shares else {}

    HEALTHY = {
        "the same classes": lambda: _with_classes({"0": 20, "1": 20}, {"0": 9, "1": 11}),
        "a rare class that training has not shown yet": lambda: _with_classes(
            {"0": 20, "1": 20}, {"0": 50, "1": 48, "2": 2}
        ),
    }
    FAULTY = {"sorted, then cut": lambda: _with_classes({"0": 20, "1": 20}, {"2": 30})}


def _evaluated_labels(trace: Trace) -> Counter[str]:
    counts: Counter[str] = Counter()
    for batch in prints(trace, "evaluation"):
        counts.update(batch.labels)
    return counts
