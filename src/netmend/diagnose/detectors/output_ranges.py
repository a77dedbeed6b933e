"""Outputs that cannot take the values or the shape of the targets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.losses import call, given, layer, run_of, wanted
from netmend.diagnose.measures.heads import (
    CLASS_SCORES,
    REAL,
    YES_NO_SCORES,
    Head,
    heads,
    limits,
    place_of,
    seen_at,
)
from netmend.library.activations import SQUASHING
from netmend.library.losses import DISTANCES
from netmend.unit import calibrated, convention, exact
from netmend.vocabulary import Symptom, Table, TargetFact, Trace

_SHARES = ("binary_cross_entropy", "mse_loss", "l1_loss")
_CLAMPED = 1e-3  # by which outputs are usually kept off 0 and 1
_MARGINS = ("multi_margin_loss", "multilabel_margin_loss")  # ask for scores that differ by 1


class OutputRangeTooNarrow(Detector, code="D404", needs_fixed_data=True):
    """The last function of the model cannot give the values that the loss asks for.

    A ReLU is never negative, a sigmoid stays in 0..1, softmax over a single unit is always 1. Targets outside cannot be
    met, and where the output sits at its bound the gradient is zero; class scores that are cut off keep the loss up and let
    classes die. Usual causes: an activation left on the output layer, or one that suits another kind of target.
    """

    beyond_limit = calibrated(
        0.7,
        "standard deviations by which targets leave the range; healthy programs stay at 0, own ones with noise on targets at 0.15",
    )
    labels_limit = exact(1.2, "labels per sample: with one each, outputs that sum to one can be right")
    least_looks = convention(4, "measurements that are needed to call an output dead")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for head in heads(trace):
            found = self._lone(head) or self._scores(head) or self._shares(head)
            found = found or self._values(trace, head) or self._dead(trace, head)
            if found is None:
                continue
            what, message, observed = found
            function = "relu" if what == "cut scores" and "relu" in head.made_by else head.activation
            place = place_of(trace, head, function)
            yield self.symptom(
                message,
                seen_at(place, head),
                observed=observed,
                limit={"values": self.beyond_limit, "shares": self.labels_limit}.get(what),
                detail={"what": what, "function": function, "loss": head.loss.name},
            )

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        beyond = [value for head in heads(trace) if (value := self._beyond(trace, head)) is not None]
        return {"beyond_limit": max(beyond)} if beyond else {}

    @staticmethod
    def _lone(head: Head) -> tuple[str, str, float | None] | None:
        function, given = head.activation, head.given
        level = {"softmax": 1.0, "log_softmax": 0.0}.get(function)
        clamped = function != head.last
        if level is None or given.minimum != given.maximum or given.minimum is None:
            return None
        if abs(given.minimum - level) > (_CLAMPED if clamped else 0.0):
            return None
        return "lone", f"`{function}` runs over a single unit, so the output is always {level:g}.", None

    @staticmethod
    def _scores(head: Head) -> tuple[str, str, float | None] | None:
        criterion, function = head.loss.criterion, head.activation
        if criterion == "nll_loss" and head.made_by[:2] == ("log_softmax", "relu"):
            criterion, function = "log_softmax", "relu"  # the two make a cross-entropy
        if function == "relu" and criterion in (*CLASS_SCORES, *YES_NO_SCORES, "log_softmax"):
            meaning = "the predicted probability can never fall below one half"
            if criterion not in YES_NO_SCORES:
                meaning = "a class whose score is 0 gets no gradient"
            return ("cut scores", f"`{criterion}` got scores that a ReLU had cut off at 0: {meaning}.", None)
        if function in ("softplus", "exp") and criterion in YES_NO_SCORES:
            message = f"`{criterion}` got scores from {function}, never below 0: the predicted probability can never fall below one half."
            return "cut scores", message, None
        if function in SQUASHING and (
            criterion in CLASS_SCORES
            or (criterion in YES_NO_SCORES and function in ("tanh", "hardtanh", "softsign"))
        ):
            low, high = head.given.minimum, head.given.maximum
            message = f"`{criterion}` got scores that {function} squeezes into a narrow range ({low:.3g}..{high:.3g} in the first batch)."
            return "bounded scores", message, None
        if criterion in _MARGINS and function in (*SQUASHING, "softmax"):
            message = f"`{criterion}` wants scores that differ by at least 1, but {function} squeezes them into a range of that size."
            return "bounded scores", message, None
        return None

    def _shares(self, head: Head) -> tuple[str, str, float | None] | None:
        """Outputs that share one unit of probability, for samples with several labels or values that add up to more."""
        target, width = head.target, head.width or 0
        if head.last != "softmax" or target is None or target.shape != head.given.shape:
            return None
        if target.mean is None:
            return None
        labels = target.mean * width
        marked = len(target.shape) == 2 and head.class_axis not in target.normalised_axes
        if not marked or (target.minimum or 0.0) < 0 or head.class_axis not in head.given.normalised_axes:
            return None
        if head.loss.criterion not in _SHARES or labels <= self.labels_limit:
            return None
        wanted = f"samples have {labels:.2g} labels" if target.integral else f"targets add up to {labels:.2g}"
        text = f"The outputs went through softmax and share a sum of one, but {wanted} on average."
        return "shares", text, labels

    def _dead(self, trace: Trace, head: Head) -> tuple[str, str, float | None] | None:
        """A ReLU that ends the model and gives nothing but zeros."""
        if head.last != "relu" or head.loss.criterion not in REAL or head.target is None:
            return None
        place = place_of(trace, head, "relu")
        if place is None or place.calls > 1 or head.target.minimum == head.target.maximum:
            return None
        _, zeros = trace.series("activation", place.component, "zero_share")
        late = zeros[len(zeros) // 2 :]
        if len(late) < self.least_looks or float(late.min()) < 1.0:
            return None
        return (
            "dead",
            "The output went through relu and was exactly 0 for every sample of the second half of the run.",
            None,
        )

    def _values(self, trace: Trace, head: Head) -> tuple[str, str, float | None] | None:
        beyond, image = self._beyond(trace, head), limits(trace, head)
        if beyond is None or image is None or head.target is None or beyond <= self.beyond_limit:
            return None
        message = (
            f"The output went through {head.last}, which gives {_range(image)}, but targets reach from "
            f"{head.target.minimum:.3g} to {head.target.maximum:.3g}."
        )
        return "values", message, beyond

    @staticmethod
    def _beyond(trace: Trace, head: Head) -> float | None:
        """By how many of their standard deviations targets lie outside what the output can be."""
        image, target = limits(trace, head), head.target
        if head.loss.criterion not in REAL or image is None or target is None:
            return None
        seen = trace.get(TargetFact, head.loss.name)
        spread = seen.std if seen is not None and seen.std else target.std
        if not spread or target.minimum is None or target.maximum is None:
            return None
        return max(0.0, image[0] - target.minimum, target.maximum - image[1]) / spread

    HEALTHY = {
        "a sigmoid for targets in 0..1": lambda: run_of(
            "mse_loss", given(16, 1, "Sigmoid"), wanted(16, 1, high=1, whole=False)
        ),
        "a ReLU for positive targets with a little noise": lambda: run_of(
            "mse_loss", given(16, 1, "Relu", high=3), wanted(16, 1, low=-0.3, high=4, whole=False, std=0.8)
        ),
        "a scaled tanh reaches further than 1": lambda: run_of(
            "mse_loss", given(16, 1, "Mul", "Tanh"), wanted(16, 1, low=-2, high=2, whole=False)
        ),
        "scores into cross entropy": lambda: run_of("cross_entropy", given(16, 4), wanted(16)),
        "average pooling of what a ReLU made": lambda: run_of(
            "cross_entropy", given(16, 4, "View", "Mean", "Relu"), wanted(16)
        ),
        "average pooling before the log-probabilities": lambda: run_of(
            "nll_loss", given(16, 4, "LogSoftmax", "View", "Mean", "Relu", high=2.0, log_axes=[]), wanted(16)
        ),
        "a ReLU before the last layer": lambda: run_of(
            "nll_loss", given(16, 4, "LogSoftmax", high=2.0), wanted(16)
        ),
        "softmax for targets that are shares": lambda: run_of(
            "mse_loss", given(16, 4, "Softmax"), wanted(16, 4, high=1, axes=[1])
        ),
    }
    FAULTY = {
        "a ReLU for targets that are negative half the time": lambda: run_of(
            "mse_loss",
            given(16, 1, "Relu"),
            wanted(16, 1, low=-2.1, high=2.3, whole=False, std=1.0),
            call("relu", 16, 1),
        ),
        "a sigmoid for free targets": lambda: run_of(
            "l1_loss",
            given(16, 1, "View", "Sigmoid", low=0.4, high=0.6),
            wanted(16, 1, low=2, high=9, whole=False),
            layer("sigmoid", 16, 1),
        ),
        "a ReLU on class scores": lambda: run_of(
            "cross_entropy", given(16, 4, "Relu"), wanted(16), layer("relu", 16, 4)
        ),
        "a ReLU on class scores that log_softmax takes": lambda: run_of(
            "nll_loss", given(16, 4, "LogSoftmax", "Relu", high=2.0), wanted(16), call("relu", 16, 4)
        ),
        "a sigmoid on class scores": lambda: run_of(
            "cross_entropy", given(16, 4, "Sigmoid", low=0.2, high=0.8), wanted(16), layer("sigmoid", 16, 4)
        ),
        "softmax for samples with several labels": lambda: run_of(
            "binary_cross_entropy",
            given(16, 4, "Softmax"),
            wanted(16, 4, high=1),
            layer("softmax", 16, 4, dim=1),
        ),
        "softmax for pixels": lambda: run_of(
            "mse_loss",
            given(16, 40, "Softmax"),
            wanted(16, 40, high=1, whole=False),
            layer("softmax", 16, 40, dim=1),
        ),
        "a ReLU that gives only zeros": lambda: run_of(
            "mse_loss",
            given(16, 1, "Relu"),
            wanted(16, 1, low=0.5, high=2, whole=False),
            layer("relu", 16, 1),
            Table.of("activation", "model.relu", dict.fromkeys(range(20), (0, 0, 0, 0, 0, 1.0))),
        ),
        "softmax over one unit": lambda: run_of(
            "binary_cross_entropy",
            given(16, 1, "Softmax", low=1, axes=[]),
            wanted(16, 1, high=1),
            layer("softmax", 16, 1, dim=1),
        ),
    }


def _range(image: tuple[float, float]) -> str:
    low, high = image
    if high == float("inf"):
        return f"nothing below {low:g}"
    return f"nothing above {high:g}" if low == float("-inf") else f"only {low:g} to {high:g}"


class OutputWidthMismatch(Detector, code="D406", needs_fixed_data=True):
    """The number of outputs does not fit what the loss compares them with.

    Cross entropy over a single output is always 0: there is nothing to choose from. One output compared with several
    targets, or several with one, is stretched to fit without a word.
    Usual causes: a head with one unit where one per class is needed, or a head left over from another task.
    """

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for head in heads(trace):
            found = _found(head)
            if found is not None:
                what, message = found
                detail = {"what": what, "width": head.width, "loss": head.loss.name}
                yield self.symptom(message, head.loss, float(head.width or 0), detail=detail)

    HEALTHY = {
        "one output per class": lambda: run_of("cross_entropy", given(16, 4), wanted(16)),
        "more outputs than classes seen so far": lambda: run_of("cross_entropy", given(16, 900), wanted(16)),
        "as many outputs as targets": lambda: run_of("mse_loss", given(16, 3), wanted(16, 3, whole=False)),
        "two critics of one value, in an own formula": lambda: run_of(
            "mse_loss", given(16, 2), wanted(16, 1, whole=False), form="expression"
        ),
        "one sample per batch": lambda: run_of("mse_loss", given(1, 3), wanted(3, whole=False)),
    }
    FAULTY = {
        "one output for cross entropy": lambda: run_of("cross_entropy", given(16, 1), wanted(16)),
        "one output for three targets": lambda: run_of("mse_loss", given(16, 1), wanted(16, 3, whole=False)),
    }


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
    if head.loss.criterion not in DISTANCES or head.loss.form == "expression":
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
