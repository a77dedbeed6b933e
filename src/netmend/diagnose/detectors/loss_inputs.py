"""What a loss is given: shapes that are broadcast, targets of the wrong range."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.losses import call, given, run_of, wanted
from netmend.diagnose.measures.heads import Head, broadcast, heads, node_name, same_values, stretched, written
from netmend.library.activations import SHARES
from netmend.library.losses import DISTANCES
from netmend.vocabulary import FunctionFact, Site, Symptom, Trace

_ELEMENTWISE = (*DISTANCES, "poisson_nll_loss", "gaussian_nll_loss", "kl_div")
_REFUSED = re.compile(
    r"target size \(torch\.Size\(\[([\d, ]*)\]\)\).{0,60}input size \(torch\.Size\(\[([\d, ]*)\]\)\)",
    re.IGNORECASE,
)


def _path(first: tuple[int, ...], second: tuple[int, ...], gradient: bool = False) -> FunctionFact:
    """A difference in a hand-written loss."""
    return call(
        "sub",
        *(broadcast(first, second) or ()),
        kind="loss path",
        first=list(first),
        second=list(second),
        first_needs_gradient=True,
        second_needs_gradient=gradient,
    )


class SilentBroadcast(Detector, code="D407"):
    """Predictions and targets of different shapes are broadcast against each other in the loss: [N, 1] with [N] gives [N, N].

    Every prediction is then compared with the targets of all samples, and the best answer is the mean of the targets: the loss
    falls a little and stops. Usual causes: a squeeze(1) forgotten on the output, an unsqueeze(1) on the target.
    """

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        outputs = {shape for model in trace.models for shape in model.output_shapes}
        for step in trace.all(FunctionFact):
            if step.kind != "loss path" or "first" not in step.settings:
                continue
            first, second = tuple(step.settings["first"]), tuple(step.settings["second"])
            together = stretched(first, second)
            learned = [bool(step.settings.get(f"{name}_needs_gradient")) for name in ("first", "second")]
            prediction, other = (first, second) if learned[0] else (second, first)
            # With axes of length one on both sides, somebody wrote all pairs on purpose; so too among predictions, and
            # for points of several coordinates that are not as the model returned them.
            meant = (
                len(first) == len(second)
                or all(learned)
                or (math.prod(first) not in first and prediction not in outputs)
            )
            if together is not None and not meant:
                yield self._symptom(
                    "The objective combines", (prediction, other, together), step.name, step.site
                )
                return
        for head in heads(trace):
            if head.target is None or head.loss.criterion not in _ELEMENTWISE:
                continue
            first, second = head.given.shape, head.target.shape
            together = stretched(first, second) or _already_stretched(first, second)
            if together is not None and head.loss.form != "expression":
                begin = f"`{head.loss.criterion}` got"
                yield self._symptom(begin, (first, second, together), head.loss.name, head.loss.called)
        yield from self._refused(trace)

    def _refused(self, trace: Trace) -> Iterator[Symptom]:
        """A loss that compares shapes itself stops the program instead."""
        if "multi-target not supported" in (trace.run.exception or ""):
            message = "The loss expects one class id per sample, but the targets have an extra axis."
            detail = {"first": [], "second": [1], "raised": True}
            yield self.symptom(message, "loss", detail=detail, site=trace.run.exception_site)
        refused = _REFUSED.search(trace.run.exception or "")
        if refused is None:
            return
        target, prediction = (
            [int(number) for number in re.findall(r"\d+", text)] for text in refused.groups()
        )
        if same_values(prediction, target):
            message = f"The loss rejected predictions {written(prediction)} and targets {written(target)}: the same values in different shapes."
            detail = {"first": prediction, "second": target, "raised": True}
            yield self.symptom(message, "loss", detail=detail, site=trace.run.exception_site)

    def _symptom(
        self, begin: str, shapes: tuple[Sequence[int], ...], component: str, site: Site | None
    ) -> Symptom:
        first, second, together = shapes
        message = (
            f"{begin} shapes {written(first)} and {written(second)}, which broadcast to {written(together)}: "
            f"every prediction is compared with the targets of all samples."
        )
        detail = {"first": list(first), "second": list(second)}
        return self.symptom(
            message, component, float(math.prod(together)), float(math.prod(first)), detail, site=site
        )

    HEALTHY = {
        "the same shape": lambda: run_of("mse_loss", given(16, 1), wanted(16, 1, whole=False)),
        "one sample": lambda: run_of("mse_loss", given(1, 1), wanted(1, whole=False)),
        "several quantiles of one target": lambda: run_of(
            "l1_loss", given(16, 3), wanted(16, 1, whole=False)
        ),
        "all pairs on purpose: both axes are written out": lambda: run_of(
            "expression", _path((16, 1), (1, 16))
        ),
        "differences of scores among themselves": lambda: run_of(
            "expression", _path((16, 1), (16,), gradient=True)
        ),
        "distances of all pairs of points": lambda: run_of("expression", _path((16, 1, 4), (16, 4))),
        "distances to seven centres": lambda: run_of("expression", _path((16, 1, 4), (7, 4))),
    }
    FAULTY = {
        "[N, 1] with [N]": lambda: run_of("mse_loss", given(16, 1), wanted(16, whole=False)),
        "[N] with [N, 1]": lambda: run_of("huber_loss", given(16), wanted(16, 1, whole=False)),
        "a hand-written loss": lambda: run_of("expression", _path((16, 1), (16,))),
        "targets that were stretched before": lambda: run_of(
            "mse_loss", given(16, 1), wanted(16, 16, whole=False)
        ),
        "class ids with a further axis": lambda: run_of(
            "cross_entropy",
            exception="RuntimeError: 0D or 1D target tensor expected, multi-target not supported",
        ),
        "refused by the loss": lambda: run_of(
            "binary_cross_entropy_with_logits",
            exception="ValueError: Target size (torch.Size([16])) must be the same as input size (torch.Size([16, 1]))",
        ),
    }


def _already_stretched(first: Sequence[int], second: Sequence[int]) -> tuple[int, ...] | None:
    """[N, 1] against [N, N]: a target that was broadcast against something on its way."""
    (size,) = [n for n in first if n != 1] if len([n for n in first if n != 1]) == 1 else (0,)
    return broadcast(first, second) if size > 2 and [n for n in second if n != 1] == [size, size] else None


_MARGINS = ("multi_margin_loss", "multilabel_margin_loss", "hinge_embedding_loss", "soft_margin_loss")
_GATHERING = ("Mean", "Sum", "Pow", "Div", "Mul", "Neg")  # how values of samples become one
_CUTS = ("Clamp", "ClampMin", "Relu", "Maximum", "Threshold")


class MarginOnProbabilities(Detector, code="D414"):
    """A margin (hinge) loss gets probabilities.

    It asks for scores that differ by 1 or more, and probabilities differ by 1 only where the network is quite certain: nearly every sample
    counts the same, however right it is, and the slope of softmax or sigmoid fades where the answer is wrong.
    Usual causes: the loss was taken from a support vector machine, cross entropy was meant.
    """

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for head in heads(trace):
            if head.activation not in SHARES or not self._margin(head):
                continue
            name = head.loss.criterion if head.loss.form != "expression" else "a margin loss"
            message = (
                f"`{name}` wants scores that differ by at least 1, but got the output of {head.activation}: "
                "probabilities, which differ by less."
            )
            detail = {"what": "margin", "loss": head.loss.name, "function": head.activation}
            yield self.symptom(message, (head.loss.name, head.loss.line or head.loss.backward), detail=detail)

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

    HEALTHY = {
        "scores": lambda: run_of("multi_margin_loss", given(16, 4), wanted(16)),
        "an own cross entropy that is clamped": lambda: run_of(
            "nll_loss",
            given(16, 4, "Softmax"),
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
    }
    FAULTY = {
        "softmax into the margin loss": lambda: run_of(
            "multi_margin_loss", given(16, 4, "Softmax"), wanted(16)
        ),
        "an own hinge on softmax": lambda: run_of(
            "l1_loss",
            given(16, 4, "Softmax"),
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
    }
