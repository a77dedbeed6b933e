"""Outputs and losses that do not expect the same kind of numbers."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.losses import call, given, layer, run_of, wanted
from netmend.diagnose.measures.chain import Link, chain
from netmend.diagnose.measures.heads import (
    CLASS_SCORES,
    YES_NO_SCORES,
    Head,
    heads,
    node_name,
    place_of,
    seen_at,
)
from netmend.library.activations import ACROSS_UNITS, SHARES
from netmend.unit import exact
from netmend.vocabulary import ModuleFact, Symptom, Trace


class NormalisedTwice(Detector, code="D401", needs_fixed_data=True):
    """A loss that applies softmax or sigmoid itself gets values that already went through one.

    The second one flattens what the first made: the loss cannot come near zero, gradients are small and learning is slow or
    stops early. Usual causes: a softmax or sigmoid layer at the end of the model together with CrossEntropyLoss or
    BCEWithLogitsLoss; a softmax between model and loss.
    """

    least_rows = exact(
        2, "a single row of scores may sum to one by chance; several rows to a thousandth do not"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for head in heads(trace):
            function = self._applied(head)
            if function is None:
                continue
            place = place_of(trace, head, function)
            own = "softmax" if head.loss.criterion in (*CLASS_SCORES, "nll_loss") else "sigmoid"
            seen = "each row sums to 1"
            if function != "softmax":
                seen = f"all values are between {head.given.minimum:.3g} and {head.given.maximum:.3g}"
            message = f"`{head.loss.criterion}` applies {own} itself, but its input already went through {function}: {seen}."
            detail = {"function": function, "loss": head.loss.name}
            yield self.symptom(message, seen_at(place, head), detail=detail)

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

    HEALTHY = {
        "scores into cross entropy": lambda: run_of("cross_entropy", given(16, 4), wanted(16)),
        "log-softmax into the likelihood loss": lambda: run_of(
            "nll_loss", given(16, 4, "LogSoftmax"), wanted(16)
        ),
        "log-softmax into cross entropy changes nothing": lambda: run_of(
            "cross_entropy", given(16, 4, "LogSoftmax"), wanted(16)
        ),
        "probabilities into the loss for probabilities": lambda: run_of(
            "binary_cross_entropy", given(16, 1, "Sigmoid"), wanted(16, 1, high=1)
        ),
        "yes/no scores that happen to lie between 0 and 1": lambda: run_of(
            "binary_cross_entropy_with_logits", given(16, 1, low=0.1, high=0.9), wanted(16, 1, high=1)
        ),
    }
    FAULTY = {
        "a softmax layer before cross entropy": lambda: run_of(
            "cross_entropy", given(16, 4, "Softmax"), wanted(16), layer("softmax", 16, 4, dim=1)
        ),
        "softmax by hand before cross entropy": lambda: run_of(
            "cross_entropy", given(16, 4, "Div", low=0.0, high=1.0, axes=[1]), wanted(16)
        ),
        "a sigmoid in forward before the loss with logits": lambda: run_of(
            "binary_cross_entropy_with_logits",
            given(16, 1, "Squeeze", "Sigmoid", low=0.3, high=0.7),
            wanted(16, 1, high=1),
            call("sigmoid", 16, 1),
        ),
        "log-softmax of softmax": lambda: run_of(
            "nll_loss",
            given(16, 4, "LogSoftmax", "Softmax", low=-1.7, high=-0.7),
            wanted(16),
            call("softmax", 16, 4, kind="loss path"),
        ),
    }


_NEEDS_LOGS = ("nll_loss", "kl_div")
_REFUSED = "all elements of input should be between 0 and 1"
# What leaves these can only be outside 0..1 by being no number, which has other causes.
_NOT_POSITIVE = ("relu", "tanh", "softsign", "hardtanh", "elu", "leaky_relu")
_PICKS = ("Index", "Gather", "Select", "Mul")  # the true class, by its number or by a row of zeros and a one


class ScoresWhereProbabilitiesExpected(Detector, code="D403", needs_fixed_data=True):
    """A loss that expects probabilities or their logarithms gets something else.

    NLLLoss and KLDivLoss take logarithms of probabilities and trust the caller: raw scores make them fall without
    bound, plain probabilities make them nearly flat. BCELoss takes probabilities; scores clamped into range have
    no gradient outside. Usual causes: softmax, log-softmax or sigmoid forgotten, or the loss for scores was meant.
    """

    log_limit = exact(
        1e-3, "the logarithm of a probability is never above 0; a thousandth allows for rounding"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for head in heads(trace):
            found = self._given(trace, head)
            if found is None:
                continue
            what, message, value, limit = found
            detail = {
                "given": what,
                "criterion": head.loss.criterion,
                **({"function": _maker(trace, head)} if what == "unshared" else {}),
            }
            yield self.symptom(message, head.loss, value, limit, detail)
        yield from self._signed_shares(trace)
        exception, function = trace.run.exception or "", _last_function(trace)
        if _REFUSED in exception and function not in SHARES:
            message = "The loss expects probabilities and raised an error: it got values outside [0, 1]."
            detail = {"given": "scores", "criterion": "binary_cross_entropy", "ends_in": function}
            yield self.symptom(message, "binary_cross_entropy", detail=detail, site=trace.run.exception_site)

    def _signed_shares(self, trace: Trace) -> Iterator[Symptom]:
        """Outputs divided by their sum, as if they were weights of the classes, and then the logarithm of the true one's share."""
        last, function = _last_link(trace), _last_function(trace)
        if last is None or function not in _NOT_POSITIVE or len(last.shape) < 2 or last.shape[-1] < 2:
            return
        for loss in trace.losses:
            nodes = [node_name(node) for node in loss.operations]
            if loss.backward is None or loss.form != "expression" or "Div" not in nodes:
                continue
            before = nodes[: nodes.index("Div")]
            if "Log" in before and any(node in _PICKS for node in before):
                message = (
                    f"The loss takes logarithms of each class's share of the sum of all outputs, but outputs went through {function}, "
                    f"which gives {'zeros' if function == 'relu' else 'negative values'} too."
                )
                detail = {
                    "given": "signed shares",
                    "criterion": loss.criterion,
                    "function": function,
                    "loss": loss.name,
                }
                yield self.symptom(message, last, detail=detail)

    def _given(self, trace: Trace, head: Head) -> tuple[str, str, float | None, float | None] | None:
        criterion, seen = head.loss.criterion, head.given
        if head.loss.form == "expression" or not head.last:
            return None  # an own formula may mean densities, rewards or energies, which have no such limits
        if criterion in _NEEDS_LOGS and seen.maximum is not None and seen.minimum is not None:
            if seen.normalised_axes and head.last not in ("log", "log_softmax"):
                message = f"`{criterion}` expects log-probabilities, but got probabilities: all between {seen.minimum:.3g} and {seen.maximum:.3g}, summing to one."
                return "probabilities", message, seen.maximum, self.log_limit
            if seen.maximum > self.log_limit and not seen.log_normalised_axes:
                message = f"`{criterion}` expects log-probabilities, which are never above 0, but got values up to {seen.maximum:.3g}."
                return "scores", message, seen.maximum, self.log_limit
            maker = _maker(trace, head)
            unshared = criterion == "nll_loss" and head.last == "log" and not seen.log_normalised_axes
            if unshared and len(seen.shape) > 1 and maker and maker not in ACROSS_UNITS:
                message = f"`{criterion}` got logarithms of the output of {maker}: values between {seen.minimum:.3g} and {seen.maximum:.3g} that do not sum to 1 over the classes."
                return "unshared", message, None, None
        if criterion == "binary_cross_entropy" and head.made_by == ("clamp", "raw"):
            message = f"`{criterion}` expects probabilities, but got raw scores clamped to {seen.minimum:.3g}..{seen.maximum:.3g}."
            return "clamped scores", message, None, None
        return None

    HEALTHY = {
        "log-softmax into the likelihood loss": lambda: run_of(
            "nll_loss", given(16, 4, "LogSoftmax", low=-3, high=-1e-6), wanted(16)
        ),
        "logarithms that round to just above 0": lambda: run_of(
            "nll_loss", given(16, 4, "Log", low=-9, high=2e-4), wanted(16)
        ),
        "scores into cross entropy": lambda: run_of("cross_entropy", given(16, 4), wanted(16)),
        "a sigmoid, clamped against infinite logarithms": lambda: run_of(
            "binary_cross_entropy",
            given(16, 1, "Clamp", "Sigmoid", low=0.01, high=0.99),
            wanted(16, 1, high=1),
        ),
        "a sigmoid whose inputs became NaN": lambda: run_of(
            "binary_cross_entropy",
            ModuleFact("net.0", "Linear", model="net", order=0),
            ModuleFact("net.1", "Sigmoid", model="net", order=1, activation="sigmoid"),
            exception=f"RuntimeError: {_REFUSED}",
        ),
        "logarithms of softmax, clamped": lambda: run_of(
            "nll_loss", given(16, 4, "Log", "Clamp", "Softmax", low=-9, high=-1e-4, log_axes=[1]), wanted(16)
        ),
        "densities of an own formula, which may be above 1": lambda: run_of(
            "nll_loss", given(16, 4, "Sub", high=3.0), wanted(16)
        ),
    }
    FAULTY = {
        "raw scores into the likelihood loss": lambda: run_of("nll_loss", given(16, 4), wanted(16)),
        "probabilities into the likelihood loss": lambda: run_of(
            "nll_loss", given(16, 4, "Softmax"), wanted(16)
        ),
        "logarithms of sigmoids, which share nothing": lambda: run_of(
            "nll_loss",
            given(16, 4, "Log", "Clamp", "Sigmoid", low=-0.9, high=-0.5),
            wanted(16),
            call("sigmoid", 16, 4),
        ),
        "scores clamped to 0..1": lambda: run_of(
            "binary_cross_entropy", given(16, 1, "Clamp"), wanted(16, 1, high=1)
        ),
        "scores into the loss for probabilities": lambda: run_of(
            "binary_cross_entropy", exception=f"RuntimeError: {_REFUSED}"
        ),
    }


def _last_link(trace: Trace) -> Link | None:
    """What ends the model, where there is one model."""
    links = [link for link in chain(trace) if link.kind != "transparent"]
    return links[-1] if links and len({link.model for link in links}) == 1 else None


def _last_function(trace: Trace) -> str:
    """The activation that ends the model, where there is one model and it ends in one."""
    last = _last_link(trace)
    return last.function if last is not None and last.kind == "activation" else ""


def _maker(trace: Trace, head: Head) -> str:
    """The activation whose logarithm a loss is given; of those that the graph does not name, the one that ends the model."""
    function = next((name for name in head.made_by[1:] if name != "clamp"), "")
    return function if function not in ("", "raw") else _last_function(trace) if function == "" else ""
