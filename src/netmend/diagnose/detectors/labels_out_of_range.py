"""D411 LabelsOutOfRange."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.heads import Head, heads
from netmend.diagnose.measures.loss_examples import given, run_of, wanted
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace

_YES_NO = ("binary_cross_entropy", "binary_cross_entropy_with_logits", "multilabel_soft_margin_loss")
_PLUS_MINUS = ("soft_margin_loss", "hinge_embedding_loss")
_REFUSED = re.compile(r"Target (-?\d+) is out of bounds|index (-?\d+) is out of bounds for dimension 1")
_REFUSED_SHARE = "all elements of target should be between 0 and 1"


@register
class LabelsOutOfRange:
    """Targets are outside what the loss accepts: class ids beyond the outputs, yes/no targets other than 0 and 1, negative counts.

    A class id that no output stands for stops the program. A yes/no loss given 2 or -1 has no lower limit and is
    driven to ever larger scores, and so is a loss for counts given negative ones; a margin loss given 0 instead of -1 ignores those samples.
    Usual causes: ids that start at 1, a head that is too narrow, a yes/no loss for several classes, the wrong encoding of labels.
    """

    code: ClassVar[str] = "D411"

    labels_limit: float = threshold(
        1.2, "exact", "labels per sample: cross entropy is made for one; rows without any lower the mean"
    )
    tolerance: float = threshold(1e-3, "exact", "rounding of targets that are 0 or 1")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for head in heads(trace):
            found = self._found(head)
            if found is not None:
                what, message = found
                yield Symptom(
                    self.code,
                    message,
                    component=head.loss.name,
                    observed=head.target.maximum if head.target is not None else None,
                    site=head.loss.called,
                    detail={"what": what, "loss": head.loss.name},
                )
        exception = trace.run.exception or ""
        refused = _REFUSED.search(exception)
        if refused is not None and exception.startswith("IndexError"):
            label = refused.group(1) or refused.group(2)
            yield Symptom(
                self.code,
                f"The loss got class id {label}, for which the model has no output, and raised an error.",
                component="loss",
                observed=float(label),
                site=trace.run.exception_site,
                detail={"what": "class id", "label": int(label)},
            )
        elif _REFUSED_SHARE in exception:
            yield Symptom(
                self.code,
                "The binary loss raised an error: its targets are outside [0, 1].",
                component="binary_cross_entropy",
                site=trace.run.exception_site,
                detail={"what": "yes/no"},
            )

    def _found(self, head: Head) -> tuple[str, str] | None:
        target, criterion = head.target, head.loss.criterion
        if target is None or target.minimum is None or target.maximum is None:
            return None
        shown = f"{target.minimum:.3g} to {target.maximum:.3g}"
        if criterion in _YES_NO and (target.minimum < -self.tolerance or target.maximum > 1 + self.tolerance):
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

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run(
            "0 and 1", lambda: run_of("binary_cross_entropy_with_logits", given(16, 1), wanted(16, 1, high=1))
        ),
        Run(
            "smoothed targets",
            lambda: run_of(
                "binary_cross_entropy_with_logits",
                given(16, 1),
                wanted(16, 1, low=0.05, high=0.95, whole=False, distinct=2),
            ),
        ),
        Run(
            "one label each, written as zeros and a one",
            lambda: run_of("cross_entropy", given(16, 2), wanted(16, 2, high=1, axes=[1])),
        ),
        Run(
            "-1 and 1",
            lambda: run_of("soft_margin_loss", given(16, 1), wanted(16, 1, low=-1, high=1, distinct=2)),
        ),
        Run(
            "real targets",
            lambda: run_of("mse_loss", given(16, 1), wanted(16, 1, low=-4, high=9, whole=False)),
        ),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "class ids into a yes/no loss",
            lambda: run_of(
                "binary_cross_entropy_with_logits", given(16), wanted(16, high=4, dtype="float32")
            ),
        ),
        Run(
            "-1 and 1 into a yes/no loss",
            lambda: run_of(
                "binary_cross_entropy_with_logits", given(16), wanted(16, low=-1, high=1, distinct=2)
            ),
        ),
        Run(
            "several labels into cross entropy",
            lambda: run_of("cross_entropy", given(16, 4), wanted(16, 4, high=1, dtype="float32")),
        ),
        Run(
            "signed amounts into a loss for counts",
            lambda: run_of("poisson_nll_loss", given(16, 1), wanted(16, 1, low=-3, high=3, whole=False)),
        ),
        Run(
            "0 and 1 into a margin loss",
            lambda: run_of("soft_margin_loss", given(16, 1), wanted(16, 1, high=1)),
        ),
        Run(
            "more classes than outputs",
            lambda: run_of("cross_entropy", exception="IndexError: Target 9 is out of bounds."),
        ),
    )
