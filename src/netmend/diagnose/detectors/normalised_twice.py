"""D401 NormalisedTwice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.head_places import place_of
from netmend.diagnose.measures.heads import CLASS_SCORES, YES_NO_SCORES, Head, heads
from netmend.diagnose.measures.loss_examples import call, given, layer, run_of, wanted
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace


@register
class NormalisedTwice:
    """A loss that applies softmax or sigmoid itself gets values that already went through one.

    The second one flattens what the first made: the loss cannot come near zero, gradients are small and learning is slow or
    stops early. Usual causes: a softmax or sigmoid layer at the end of the model together with CrossEntropyLoss or
    BCEWithLogitsLoss; a softmax between model and loss.
    """

    code: ClassVar[str] = "D401"

    least_rows: int = threshold(
        2, "exact", "a single row of scores may sum to one by chance; several rows to a thousandth do not"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for head in heads(trace):
            function = self._applied(head)
            if function is None:
                continue
            place = place_of(trace, head, function)
            own = "softmax" if head.loss.criterion in (*CLASS_SCORES, "nll_loss") else "sigmoid"
            seen = (
                "each row sums to 1"
                if function == "softmax"
                else f"all values are between {head.given.minimum:.3g} and {head.given.maximum:.3g}"
            )
            yield Symptom(
                self.code,
                f"`{head.loss.criterion}` applies {own} itself, but its input already went through {function}: {seen}.",
                component=place.component if place is not None else head.loss.name,
                site=place.site if place is not None and place.site is not None else head.loss.called,
                detail={"function": function, "loss": head.loss.name, "found": place is not None},
            )

    def _applied(self, head: Head) -> str | None:
        criterion, made = head.loss.criterion, head.made_by
        axis, wide = head.class_axis, (head.width or 0) > 1
        sums = axis in head.given.normalised_axes and head.rows >= self.least_rows and wide
        if criterion in CLASS_SCORES:
            return "softmax" if sums or self._along(head, "softmax") else None
        if criterion in YES_NO_SCORES:
            if made[:1] in (("sigmoid",), ("hardsigmoid",)):
                return made[0]
            return "softmax" if sums and head.last == "softmax" else None
        if criterion == "nll_loss" and made[:2] == ("log_softmax", "softmax"):
            return "softmax"
        return None

    def _along(self, head: Head, function: str) -> bool:
        """Whether the scores come straight from a function; one that ran over another axis is another fault."""
        return head.last == function and not head.given.normalised_axes and (head.width or 0) > 1

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("scores into cross entropy", lambda: run_of("cross_entropy", given(16, 4), wanted(16))),
        Run(
            "log-softmax into the likelihood loss",
            lambda: run_of(
                "nll_loss", given(16, 4, through=["LogSoftmax"], high=0.0, log_axes=[1]), wanted(16)
            ),
        ),
        Run(
            "log-softmax into cross entropy changes nothing",
            lambda: run_of(
                "cross_entropy", given(16, 4, through=["LogSoftmax"], high=0.0, log_axes=[1]), wanted(16)
            ),
        ),
        Run(
            "probabilities into the loss for probabilities",
            lambda: run_of(
                "binary_cross_entropy",
                given(16, 1, through=["Sigmoid"], low=0.1, high=0.9),
                wanted(16, 1, high=1),
            ),
        ),
        Run(
            "yes/no scores that happen to lie between 0 and 1",
            lambda: run_of(
                "binary_cross_entropy_with_logits", given(16, 1, low=0.1, high=0.9), wanted(16, 1, high=1)
            ),
        ),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "a softmax layer before cross entropy",
            lambda: run_of(
                "cross_entropy",
                given(16, 4, through=["Softmax"], low=0.0, high=1.0, axes=[1]),
                wanted(16),
                more=[layer("softmax", 16, 4, dim=1)],
            ),
        ),
        Run(
            "softmax by hand before cross entropy",
            lambda: run_of(
                "cross_entropy", given(16, 4, through=["Div"], low=0.0, high=1.0, axes=[1]), wanted(16)
            ),
        ),
        Run(
            "a sigmoid in forward before the loss with logits",
            lambda: run_of(
                "binary_cross_entropy_with_logits",
                given(16, 1, through=["Squeeze", "Sigmoid"], low=0.3, high=0.7),
                wanted(16, 1, high=1),
                more=[call("sigmoid", 16, 1)],
            ),
        ),
        Run(
            "log-softmax of softmax",
            lambda: run_of(
                "nll_loss",
                given(16, 4, through=["LogSoftmax", "Softmax"], low=-1.7, high=-0.7, log_axes=[1]),
                wanted(16),
                more=[call("softmax", 16, 4, kind="loss path")],
            ),
        ),
    )
