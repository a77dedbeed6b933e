"""Labels that do not belong to their samples or lie outside the classes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping

import numpy as np

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.curves import falling, labelled, run_with, trace_of, with_facts
from netmend.diagnose.examples.losses import given, run_of, wanted
from netmend.diagnose.measures.batches import data_labels
from netmend.diagnose.measures.heads import Head, heads
from netmend.diagnose.measures.objective import constant_of, evaluations, objective
from netmend.library.losses import OF_YES_NO
from netmend.unit import calibrated, convention, exact, published
from netmend.vocabulary import LossFact, OperandFact, ProbeFact, Site, Symptom, TargetFact, Trace


def _labelled(counts: dict[str, int]) -> Trace:
    return trace_of(*labelled(*[counts] * 6))


def _made_up() -> Trace:
    return trace_of(*labelled(*[{"1": 32}, {"1": 32}, {"0": 2}] * 6))


def _drawn_beside() -> Trace:
    """Of the batches that were looked at, most show the ones and zeros of the adversarial loss."""
    drawn = TargetFact("cross_entropy@train.py:24", 320, {str(label): 32 for label in range(10)})
    adversarial, classes = (
        LossFact(
            name,
            name.partition("@")[0],
            operands=(OperandFact("prediction", shape), OperandFact("target", (32,))),
            backward=Site("train.py", 30),
        )
        for name, shape in (("mse_loss@train.py:20", (32, 1)), (drawn.name, (32, 10)))
    )
    return trace_of(adversarial, classes, drawn, *labelled(*[{"1": 97, "0": 2, "5": 1}] * 6))


class ClassImbalance(Detector, code="D307", needs_fixed_data=True):
    """The classes that training batches show are strongly unbalanced.

    A network that always gives the frequent class is right most of the time and has little reason to change. Imbalance alone is no
    fault; together with classes that are never predicted it is.
    """

    share_limit = convention(0.85, "share of the most frequent class")
    perplexity_limit = published(0.5, "normalised perplexity, as proposed for SageMaker's rule")
    even_limit = convention(0.75, "normalised perplexity above which no class stands out")
    least_samples = convention(100, "labels needed to know the frequencies")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        counts = data_labels(trace)
        total = sum(counts.values())
        if total < self.least_samples or len(counts) < 2:
            return
        name, most = max(counts.items(), key=lambda item: item[1])
        entropy = -sum(n / total * math.log(n / total) for n in counts.values() if n)
        perplexity = math.exp(entropy) / len(counts)
        if most / total < self.share_limit and perplexity > self.perplexity_limit:
            return
        if perplexity > self.even_limit:
            return
        rarest = min(counts.values())
        message = f"{most / total:.0%} of the training labels are class {name}; the rarest class has {rarest / total:.1%}."
        detail = {"majority": most / total, "class": name}
        yield self.symptom(message, "", most / total, self.share_limit, detail)

    HEALTHY = {
        "balanced": lambda: _labelled({"0": 20, "1": 18, "2": 22}),
        "mildly unbalanced": lambda: _labelled({"0": 45, "1": 15}),
        "ones for real samples, zeros for made ones": _made_up,
        "a loss on drawn classes beside one on ones and zeros": _drawn_beside,
    }
    FAULTY = {"97 to 3": lambda: _labelled({"0": 97, "1": 3})}


class LabelsUnrelated(Detector, code="D311", needs_fixed_data=True):
    """The training loss falls, but no evaluation was ever better than a constant prediction.

    The network remembers its training samples, and what it remembers says nothing about new ones: inputs and labels do
    not belong together, or evaluation data is something else. Usual causes: labels shuffled or shifted apart from their inputs, different
    preprocessing in evaluation.
    """

    evaluation_limit = calibrated(
        0.97,
        "lowest evaluation loss over that of the best constant prediction; healthy programs end below 0.9",
    )
    training_limit = convention(
        0.95, "the training loss must have fallen below a constant's: the same bound as for learning nothing"
    )
    chance_limit = convention(0.1, "accuracy in evaluation above that of the most frequent class")
    least_passes = convention(3, "evaluations that must agree")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        course, found = objective(trace), self.extremes(trace)
        if course is None or course.relative is None or not found:
            return
        if found["evaluation_limit"] < self.evaluation_limit or course.relative[-1] > self.training_limit:
            return
        metrics = (
            passes[2][np.isfinite(passes[2])] if (passes := evaluations(trace)) is not None else np.empty(0)
        )
        if len(metrics) and float(metrics.max()) > self.chance_limit + _majority(trace, course.loss):
            return  # sure of itself where it is wrong, but right more often than chance
        message = (
            f"The training loss fell to {course.relative[-1]:.2f} times that of the best constant prediction, but in evaluation it "
            f"was never below {found['evaluation_limit']:.2f} times it."
        )
        yield self.symptom(
            message, course.loss, found["evaluation_limit"], self.evaluation_limit, first_step=course.middle
        )

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        course, passes = objective(trace), evaluations(trace)
        constant = None if course is None else constant_of(course)
        if course is None or passes is None or not constant or len(passes[1]) < self.least_passes:
            return {}
        return {"evaluation_limit": float(np.min(passes[1])) / constant}

    HEALTHY = {
        "evaluation falls too": lambda: run_with(falling(200), evaluations=[0.9, 0.6, 0.4, 0.3]),
        "overfits, but had learned something": lambda: run_with(
            falling(200), evaluations=[0.9, 0.8, 1.1, 1.5]
        ),
    }
    FAULTY = {
        "evaluation never better than a guess": lambda: run_with(
            falling(200), evaluations=[1.02, 1.1, 1.3, 1.6]
        )
    }


def _majority(trace: Trace, loss: str) -> float:
    """Share of the most frequent class; what a metric other than accuracy is compared with is out of its reach."""
    target = trace.get(TargetFact, loss)
    counts = target.class_counts.values() if target is not None else ()
    return max(counts) / sum(counts) if counts else 1.0


_WHAT = "handed labels"


def _permuted(*losses: tuple[str, int, int], shifted: int = 0) -> Trace:
    """Losses with how often they were given the loader's labels as they came, and in another order."""
    return with_facts(
        *(
            ProbeFact(
                f"{_WHAT}@{name}",
                _WHAT,
                name,
                3,
                {"same": same, "permuted": permuted, "shifted": shifted, "other": 0},
                Site("train.py", 31),
            )
            for name, same, permuted in losses
        )
    )


class LabelsPermuted(Detector, code="D320", needs_fixed_data=True):
    """The loss gets the loader's labels in a different order than the inputs, or shifted by some class numbers.

    The model sees the samples in the order in which the loader handed them out, the loss sees the very same labels in another one: each
    sample is taught the label of another. Usual causes: labels indexed by a random permutation, rolled by one place, or sorted, while the
    inputs stay where they are; `(labels + 1) % classes`.
    """

    least_looks = convention(3, "steps on which the order differed")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        found = trace.probes(_WHAT)
        # Mixed samples have two losses, one for the labels in place and one for those mixed in.
        if any(probe.values["same"] for probe in found):
            return
        for probe in found:
            permuted, shifted = int(probe.values["permuted"]), int(probe.values.get("shifted", 0))
            times = permuted + shifted
            how = "in another order than the inputs" if permuted else "shifted to the next class number"
            if times >= self.least_looks and not probe.values["other"]:
                message = f"On all {times} recorded steps the loss got the loader's labels {how}."
                detail = {"loss": probe.component, "shifted": not permuted}
                yield self.symptom(
                    message, probe, float(times), float(self.least_looks), detail, first_step=None
                )

    HEALTHY = {
        "labels as they came": lambda: _permuted(("cross_entropy@train.py:31", 8, 0)),
        "mixed samples: two losses": lambda: _permuted(
            ("cross_entropy@train.py:31", 8, 0), ("cross_entropy@train.py:32", 0, 8)
        ),
        "two looks": lambda: _permuted(("cross_entropy@train.py:31", 0, 2)),
    }
    FAULTY = {
        "shuffled apart": lambda: _permuted(("cross_entropy@train.py:31", 0, 8)),
        "the next class": lambda: _permuted(("cross_entropy@train.py:31", 0, 0), shifted=8),
    }


_PLUS_MINUS = ("soft_margin_loss", "hinge_embedding_loss")
_REFUSED = re.compile(r"Target (-?\d+) is out of bounds|index (-?\d+) is out of bounds for dimension 1")
_REFUSED_SHARE = "all elements of target should be between 0 and 1"


class LabelsOutOfRange(Detector, code="D411"):
    """Targets are outside what the loss accepts: class ids beyond the outputs, yes/no targets other than 0 and 1, negative counts.

    A class id that no output stands for stops the program. A yes/no loss given 2 or -1 has no lower limit and is
    driven to ever larger scores, and so is a loss for counts given negative ones; a margin loss given 0 instead of -1 ignores those samples.
    Usual causes: ids that start at 1, a head that is too narrow, a yes/no loss for several classes, the wrong encoding of labels.
    """

    labels_limit = exact(
        1.2, "labels per sample: cross entropy is made for one; rows without any lower the mean"
    )
    tolerance = exact(1e-3, "rounding of targets that are 0 or 1")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for head in heads(trace):
            found = self._found(head)
            if found is not None:
                what, message = found
                yield self.symptom(
                    message,
                    head.loss,
                    observed=head.target.maximum if head.target is not None else None,
                    detail={"what": what, "loss": head.loss.name},
                )
        exception = trace.run.exception or ""
        refused = _REFUSED.search(exception)
        if refused is not None and exception.startswith("IndexError"):
            label = refused.group(1) or refused.group(2)
            message = (
                f"The loss got class id {label}, for which the model has no output, and raised an error."
            )
            detail = {"what": "class id", "label": int(label)}
            yield self.symptom(message, "loss", float(label), detail=detail, site=trace.run.exception_site)
        elif _REFUSED_SHARE in exception:
            message = "The binary loss raised an error: its targets are outside [0, 1]."
            detail = {"what": "yes/no"}
            yield self.symptom(message, "binary_cross_entropy", detail=detail, site=trace.run.exception_site)

    def _found(self, head: Head) -> tuple[str, str] | None:
        target, criterion = head.target, head.loss.criterion
        if target is None or target.minimum is None or target.maximum is None:
            return None
        shown = f"{target.minimum:.3g} to {target.maximum:.3g}"
        if criterion in OF_YES_NO and (
            target.minimum < -self.tolerance or target.maximum > 1 + self.tolerance
        ):
            return "yes/no", f"`{criterion}` expects targets between 0 and 1, but got {shown}."
        if criterion == "poisson_nll_loss" and target.minimum < -self.tolerance:
            return "counts", f"`{criterion}` expects counts, which are never negative, but got {shown}."
        labels = self._labels_per_sample(head)
        if labels is not None and labels > self.labels_limit:
            return "several labels", (
                f"`{criterion}` makes the classes compete (their probabilities sum to 1), but samples have {labels:.2g} labels on average."
            )
        if criterion in _PLUS_MINUS and target.minimum == 0 and target.maximum == 1 and target.distinct == 2:
            return (
                "plus minus",
                f"`{criterion}` expects targets -1 and 1, but got 0 and 1: samples with target 0 are ignored.",
            )
        return None

    @staticmethod
    def _labels_per_sample(head: Head) -> float | None:
        """How many classes are marked per sample, where targets are given as one 0 or 1 per class."""
        target = head.target
        if head.loss.criterion != "cross_entropy" or target is None or target.mean is None:
            return None
        marked = target.shape == head.given.shape and len(target.shape) >= 2 and target.integral
        one_each = 1 in target.normalised_axes
        return target.mean * target.shape[1] if marked and not one_each and target.maximum == 1 else None

    HEALTHY = {
        "0 and 1": lambda: run_of("binary_cross_entropy_with_logits", given(16, 1), wanted(16, 1, high=1)),
        "smoothed targets": lambda: run_of(
            "binary_cross_entropy_with_logits",
            given(16, 1),
            wanted(16, 1, low=0.05, high=0.95, whole=False, distinct=2),
        ),
        "one label each, written as zeros and a one": lambda: run_of(
            "cross_entropy", given(16, 2), wanted(16, 2, high=1, axes=[1])
        ),
        "-1 and 1": lambda: run_of(
            "soft_margin_loss", given(16, 1), wanted(16, 1, low=-1, high=1, distinct=2)
        ),
        "real targets": lambda: run_of("mse_loss", given(16, 1), wanted(16, 1, low=-4, high=9, whole=False)),
    }
    FAULTY = {
        "class ids into a yes/no loss": lambda: run_of(
            "binary_cross_entropy_with_logits", given(16), wanted(16, high=4, dtype="float32")
        ),
        "-1 and 1 into a yes/no loss": lambda: run_of(
            "binary_cross_entropy_with_logits", given(16), wanted(16, low=-1, high=1, distinct=2)
        ),
        "several labels into cross entropy": lambda: run_of(
            "cross_entropy", given(16, 4), wanted(16, 4, high=1, dtype="float32")
        ),
        "signed amounts into a loss for counts": lambda: run_of(
            "poisson_nll_loss", given(16, 1), wanted(16, 1, low=-3, high=3, whole=False)
        ),
        "0 and 1 into a margin loss": lambda: run_of("soft_margin_loss", given(16, 1), wanted(16, 1, high=1)),
        "more classes than outputs": lambda: run_of(
            "cross_entropy", exception="IndexError: Target 9 is out of bounds."
        ),
    }
