"""D406 OutputWidthMismatch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.heads import SYMMETRIC, Head, heads
from netmend.diagnose.measures.loss_examples import given, run_of, wanted
from netmend.unit import Run
from netmend.vocabulary import Symptom, Trace


@register
class OutputWidthMismatch:
    """The number of outputs does not fit what the loss compares them with.

    Cross entropy over a single output is always 0: there is nothing to choose from. One output compared with several
    targets, or several with one, is stretched to fit without a word.
    Usual causes: a head with one unit where one per class is needed, or a head left over from another task.
    """

    code: ClassVar[str] = "D406"

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for head in heads(trace):
            found = _found(head)
            if found is not None:
                what, message = found
                yield Symptom(
                    self.code,
                    message,
                    component=head.loss.name,
                    observed=float(head.width or 0),
                    site=head.loss.called,
                    detail={"what": what, "width": head.width, "loss": head.loss.name},
                )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("one output per class", lambda: run_of("cross_entropy", given(16, 4), wanted(16))),
        Run(
            "more outputs than classes seen so far",
            lambda: run_of("cross_entropy", given(16, 900), wanted(16)),
        ),
        Run(
            "as many outputs as targets", lambda: run_of("mse_loss", given(16, 3), wanted(16, 3, whole=False))
        ),
        Run(
            "two critics of one value, in an own formula",
            lambda: run_of("mse_loss", given(16, 2), wanted(16, 1, whole=False), form="expression"),
        ),
        Run("one sample per batch", lambda: run_of("mse_loss", given(1, 3), wanted(3, whole=False))),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("one output for cross entropy", lambda: run_of("cross_entropy", given(16, 1), wanted(16))),
        Run(
            "one output for three targets",
            lambda: run_of("mse_loss", given(16, 1), wanted(16, 3, whole=False)),
        ),
    )


def _found(head: Head) -> tuple[str, str] | None:
    shape, target = head.given.shape, head.target
    if target is None:
        return None
    if head.loss.criterion in ("cross_entropy", "nll_loss") and len(shape) >= 2 and shape[1] == 1:
        if head.loss.criterion == "nll_loss" and head.last != "log_softmax":
            return None
        return "single class", (
            f"`{head.loss.criterion}` got a single output per sample, so there is nothing to choose from: the loss is 0 whatever the target."
        )
    if head.loss.criterion not in SYMMETRIC or head.loss.form == "expression":
        return None  # in an own formula, repeating the shorter side is a usual way of writing
    if len(shape) != len(target.shape) or len(shape) < 2:
        return None
    differ = [axis for axis in range(len(shape)) if shape[axis] != target.shape[axis]]
    if len(differ) != 1 or differ[0] == 0 or 1 not in (shape[differ[0]], target.shape[differ[0]]):
        return None
    outputs, targets = shape[differ[0]], target.shape[differ[0]]
    return "width", (
        f"`{head.loss.criterion}` compares {_number(outputs, 'output')} with {_number(targets, 'target')} per sample; "
        f"the shorter side is repeated to fit."
    )


def _number(count: int, what: str) -> str:
    return f"one {what}" if count == 1 else f"{count} {what}s"
