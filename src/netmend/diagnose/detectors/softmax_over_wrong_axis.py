"""D408 SoftmaxOverWrongAxis."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.head_places import place_of
from netmend.diagnose.measures.heads import Head, heads
from netmend.diagnose.measures.loss_examples import given, layer, run_of, wanted
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace

_CLASS_LOSSES = ("cross_entropy", "nll_loss")
_OTHER_LOSSES = ("kl_div", "binary_cross_entropy", "binary_cross_entropy_with_logits", "mse_loss", "l1_loss")


@register
class SoftmaxOverWrongAxis:
    """The outputs sum to 1 over the samples of the batch (or another axis) instead of over the classes.

    The answer for one sample then depends on the others in its batch, and each class is shared out among the samples. The loss
    may even fall while accuracy stays at chance. Usual causes: softmax with dim=0, or without the axis that is meant; cross entropy
    given a vector of one score per sample.
    """

    code: ClassVar[str] = "D408"

    least_samples: int = threshold(2, "exact", "over a single sample everything sums to one")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for head in heads(trace):
            axis = self._axis(head)
            if axis is not None:
                function = head.last if head.last in ("softmax", "log_softmax") else "softmax"
                place = place_of(trace, head, function)
                over = "the samples of the batch" if axis == 0 else f"axis {axis}"
                instead = f", not over the classes on axis {head.class_axis}" if head.class_axis else ""
                yield Symptom(
                    self.code,
                    f"The predictions {list(head.given.shape)} sum to 1 over {over}{instead}.",
                    component=place.component if place is not None else head.loss.name,
                    observed=float(axis),
                    site=place.site if place is not None and place.site is not None else head.loss.called,
                    detail={"axis": axis, "function": function, "loss": head.loss.name},
                )
            elif self._vector(head):
                yield Symptom(
                    self.code,
                    f"`cross_entropy` got a vector of {head.given.shape[0]} scores, which it treats as one sample with that many classes.",
                    component=head.loss.name,
                    site=head.loss.called,
                    detail={"axis": 0, "function": "", "loss": head.loss.name},
                )

    def _axis(self, head: Head) -> int | None:
        """The axis that the predictions are normalised along, if it is not that of the classes."""
        seen, target = head.given, head.target
        if not seen.shape or (target is not None and 0 in target.normalised_axes):
            return None
        axes = seen.normalised_axes or seen.log_normalised_axes
        if head.loss.criterion in _CLASS_LOSSES and len(seen.shape) > 1:
            wrong = [axis for axis in axes if axis != head.class_axis]
            return wrong[0] if wrong and head.class_axis not in axes else None
        if head.loss.criterion in _OTHER_LOSSES:
            only_samples = axes == (0,) and head.last in ("softmax", "log_softmax")
            return 0 if only_samples and seen.shape[0] >= self.least_samples else None
        return None

    def _vector(self, head: Head) -> bool:
        """One score per sample, laid out as if they were the classes of a single sample."""
        target = head.target
        return (
            head.loss.criterion == "cross_entropy"
            and len(head.given.shape) == 1
            and head.given.shape[0] >= self.least_samples
            and target is not None
            and target.shape == head.given.shape
            and 0 not in target.normalised_axes
        )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run(
            "log-softmax over the classes",
            lambda: run_of(
                "nll_loss", given(16, 4, through=["LogSoftmax"], high=0.0, log_axes=[1]), wanted(16)
            ),
        ),
        Run(
            "classes on axis 1 of a sequence",
            lambda: run_of(
                "nll_loss", given(8, 4, 5, through=["LogSoftmax"], high=0.0, log_axes=[1]), wanted(8, 5)
            ),
        ),
        Run(
            "a ranking: scores of a list against shares that sum to one",
            lambda: run_of("cross_entropy", given(16), wanted(16, high=1, whole=False, axes=[0])),
        ),
        Run(
            "one sample alone",
            lambda: run_of(
                "nll_loss", given(1, 4, through=["LogSoftmax"], high=0.0, log_axes=[1]), wanted(1)
            ),
        ),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "log-softmax over the batch",
            lambda: run_of(
                "nll_loss",
                given(16, 4, through=["LogSoftmax"], low=-5, high=-0.1, log_axes=[0]),
                wanted(16),
                more=[layer("log_softmax", 16, 4, dim=0)],
            ),
        ),
        Run(
            "softmax over the batch, for a loss on probabilities",
            lambda: run_of(
                "binary_cross_entropy",
                given(16, 1, through=["Softmax"], low=0, high=0.3, axes=[0]),
                wanted(16, 1, high=1),
                more=[layer("softmax", 16, 1, dim=0)],
            ),
        ),
        Run(
            "a vector of scores into cross entropy",
            lambda: run_of("cross_entropy", given(16), wanted(16, high=1, dtype="float32")),
        ),
    )
