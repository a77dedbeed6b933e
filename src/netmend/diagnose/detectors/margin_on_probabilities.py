"""D414 MarginOnProbabilities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.heads import Head, heads, node_name
from netmend.diagnose.measures.loss_examples import given, run_of, wanted
from netmend.unit import Run
from netmend.vocabulary import Symptom, Trace

_MARGINS = ("multi_margin_loss", "multilabel_margin_loss", "hinge_embedding_loss", "soft_margin_loss")
_GATHERING = ("Mean", "Sum", "Pow", "Div", "Mul", "Neg")  # how values of samples become one
_CUTS = ("Clamp", "ClampMin", "Relu", "Maximum", "Threshold")
_PROBABILITIES = ("softmax", "sigmoid", "hardsigmoid")


@register
class MarginOnProbabilities:
    """A margin (hinge) loss gets probabilities.

    It asks for scores that differ by 1 or more, and probabilities differ by 1 only where the network is quite certain: nearly every sample
    counts the same, however right it is, and the slope of softmax or sigmoid fades where the answer is wrong.
    Usual causes: the loss was taken from a support vector machine, cross entropy was meant.
    """

    code: ClassVar[str] = "D414"

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for head in heads(trace):
            if head.activation not in _PROBABILITIES or not self._margin(head):
                continue
            name = head.loss.criterion if head.loss.form != "expression" else "a margin loss"
            yield Symptom(
                self.code,
                f"`{name}` wants scores that differ by at least 1, but got the output of {head.activation}: "
                "probabilities, which differ by less.",
                component=head.loss.name,
                site=head.loss.created or head.loss.called or head.loss.backward,
                detail={"what": "margin", "loss": head.loss.name, "function": head.activation},
            )

    @staticmethod
    def _margin(head: Head) -> bool:
        if head.loss.form != "expression":
            return head.loss.criterion in _MARGINS
        nodes = [node_name(node) for node in head.loss.operations]
        first = next((index for index, node in enumerate(nodes) if node not in _GATHERING), None)
        if first is None or nodes[first] not in _CUTS:
            return False
        # max(0, 1 - y·f) and max(0, others - true + 1): a difference stands between the cut and the output.
        return any(node in ("Rsub", "Sub", "Add") for node in nodes[first + 1 :])

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("scores", lambda: run_of("multi_margin_loss", given(16, 4), wanted(16))),
        Run(
            "an own cross entropy that is clamped",
            lambda: run_of(
                "nll_loss",
                given(16, 4, through=["Softmax"], low=0, high=1, axes=[1]),
                wanted(16),
                form="expression",
                operations=[
                    "NegBackward0",
                    "MeanBackward0",
                    "LogBackward0",
                    "ClampBackward1",
                    "SoftmaxBackward0",
                ],
            ),
        ),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "softmax into the margin loss",
            lambda: run_of(
                "multi_margin_loss", given(16, 4, through=["Softmax"], low=0, high=1, axes=[1]), wanted(16)
            ),
        ),
        Run(
            "an own hinge on softmax",
            lambda: run_of(
                "l1_loss",
                given(16, 4, through=["Softmax"], low=0, high=1, axes=[1]),
                wanted(16, 4, low=-1, high=1),
                form="expression",
                operations=[
                    "MeanBackward0",
                    "ClampBackward1",
                    "RsubBackward1",
                    "MulBackward0",
                    "SoftmaxBackward0",
                ],
            ),
        ),
    )
