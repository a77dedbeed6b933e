"""D413 AbsoluteErrorOnClasses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.unit import Run, threshold
from netmend.vocabulary import LossFact, OperandFact, Site, Symptom, Trace


def _trace(criterion: str, classes: int, integral: bool = True) -> Trace:
    target = OperandFact(
        "target", (32, classes), "float32", minimum=0.0, maximum=1.0, mean=1 / classes, integral=integral
    )
    name = f"{criterion}@train.py:30"
    loss = LossFact(
        name,
        criterion,
        "module",
        operands=(target,),
        created=Site("train.py", 18),
        backward=Site("train.py", 31),
    )
    return Trace(facts={"loss": {name: loss}})


@register
class AbsoluteErrorOnClasses:
    """Absolute differences are taken between predictions and one-hot classes.

    With K classes, K − 1 of every K targets are zero: answering zero everywhere, or always the most frequent class, is already a local best, and the gradient does not say
    how wrong an answer is. Cross entropy does.
    """

    code: ClassVar[str] = "D413"

    least_classes: int = threshold(3, "exact", "with two classes the absolute error is no worse than others")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for loss in trace.losses:
            if loss.criterion != "l1_loss" or loss.backward is None:
                continue
            for operand in loss.operands:
                if (
                    operand.role == "target"
                    and operand.integral
                    and (operand.minimum, operand.maximum) == (0.0, 1.0)
                    and len(operand.shape) == 2
                    and operand.shape[1] >= self.least_classes
                    and operand.mean is not None
                    and abs(operand.mean * operand.shape[1] - 1) < 1e-3  # one of each row
                ):
                    yield Symptom(
                        self.code,
                        f"`{loss.criterion}` compares predictions with one-hot targets of {operand.shape[1]} classes.",
                        component=loss.name,
                        observed=float(operand.shape[1]),
                        limit=float(self.least_classes),
                        site=loss.created or loss.called,
                        detail={"what": "one-hot"},
                    )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("squared error works", lambda: _trace("mse_loss", 10)),
        Run("soft targets", lambda: _trace("l1_loss", 10, integral=False)),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (Run("absolute error on ten classes", lambda: _trace("l1_loss", 10)),)
