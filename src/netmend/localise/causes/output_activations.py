"""Activations behind the last layer that the loss does not expect, or misses."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.diagnose.detectors.axes import AttentionOverBatch, SoftmaxOverWrongAxis
from netmend.diagnose.detectors.output_activations import NormalisedTwice, ScoresWhereProbabilitiesExpected
from netmend.diagnose.detectors.output_ranges import OutputRangeTooNarrow
from netmend.diagnose.examples.losses import call, given, run_of, wanted
from netmend.diagnose.measures.chain import chain
from netmend.diagnose.measures.heads import Head
from netmend.diagnose.measures.progress import progress
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, STRONG, Accusation, Cause, accuses, for_symptom
from netmend.localise.effects import STUCK
from netmend.localise.lines.head_lines import activation_line, head_of, last_layer, text_at
from netmend.unit import Run, convention
from netmend.vocabulary import Evidence, Fault, ModuleFact, Site, Symptom


@accuses("LYR-SOFTMAX-EXTRA", NormalisedTwice)
def normalised_twice(case: Case, symptom: Symptom) -> Accusation | None:
    """Softmax or sigmoid is applied before a loss that applies it itself.

    The loss then sees values squeezed into 0..1 as if they were scores: even a perfect answer costs a lot, gradients are small,
    and learning is slow or stops early.
    Give the loss the raw scores; apply softmax or sigmoid only where probabilities are read.
    """
    head = head_of(case, symptom)
    if head is None:
        return None
    function = str(symptom.detail["function"])
    site, related = activation_line(case, head, function)
    return Accusation(
        PROVEN + 1.5,
        site=site,
        reason=f"`{head.loss.criterion}` treats probabilities as logits, so the loss stays high even for correct predictions and gradients are small.",
        remedy=f"Remove the {function} at {text_at(case, site, function)}; apply it only where you need probabilities.",
        refutation=f"No {function} runs before the loss, and the scores lie in this range by chance.",
        related=related,
        explains=STUCK,
    )


@accuses(
    "ACT-EXTRA",
    OutputRangeTooNarrow,
    faulty=tuple(run for run in OutputRangeTooNarrow.FAULTY if "ReLU on class" in run.title),
)
def output_activation_extra(case: Case, symptom: Symptom) -> Accusation | None:
    """The scores went through an activation that cuts them off before the loss.

    Scores below zero say "rather not this class". A ReLU turns them all into 0, without gradient: a class that falls there
    cannot come back.
    Leave the last layer linear.
    """
    head = head_of(case, symptom)
    if head is None or symptom.detail["what"] != "cut scores":
        return None
    function = str(symptom.detail["function"])
    site, related = activation_line(case, head, function)
    classes = head.loss.criterion in ("cross_entropy", "nll_loss")
    return Accusation(
        STRONG + 1.5 if classes else PROVEN + 1.0,
        site=site,
        reason="Scores below zero are cut off together with their gradient, so a class that gets there cannot recover.",
        remedy=f"Remove the {function} at {text_at(case, site, function)}: the loss needs the raw output of the last layer.",
        refutation="The scores pass through more layers before the loss.",
        related=related,
        explains=STUCK,
    )


@accuses(
    "ACT-OUT-MISSING",
    ScoresWhereProbabilitiesExpected,
    faulty=(
        Run(
            "scores clamped to 0..1",
            lambda: run_of("binary_cross_entropy", given(16, 1, "Clamp"), wanted(16, 1, high=1)),
        ),
        Run(
            "scores into the loss for probabilities",
            lambda: run_of(
                "binary_cross_entropy",
                exception="RuntimeError: all elements of input should be between 0 and 1",
            ),
        ),
    ),
)
def output_activation_missing(case: Case, symptom: Symptom) -> Accusation | None:
    """A loss that expects probabilities gets outputs without a sigmoid.

    Values outside 0..1 are no probabilities: the loss refuses them, or, if they were clamped, gives no gradient where they were cut.
    Use BCEWithLogitsLoss on the scores, or apply a sigmoid to the output.
    """
    if symptom.detail["criterion"] != "binary_cross_entropy" or symptom.detail.get("ends_in"):
        return None  # where there is an activation, it is the wrong one
    head = head_of(case, symptom)
    layer = last_layer(case, head)
    called = head.loss.called if head is not None else symptom.site
    created = head.loss.created if head is not None else None
    # The layer that lacks its activation is the line to change; the loss takes part.
    site = (layer.created if layer is not None else None) or created or called
    return Accusation(
        PROVEN + 1.5,
        component=layer.name if layer is not None else symptom.component,
        site=created or called or site,
        reason="Raw scores are not probabilities: the loss rejects them, or has no gradient where they are clamped.",
        remedy=f"Use `BCEWithLogitsLoss` on the raw scores instead of {text_at(case, created or called)}, or apply a sigmoid to the output.",
        refutation="The output is a probability by construction and leaves [0, 1] only by rounding.",
        related=[called, *((layer.created, layer.called) if layer is not None else ())],
        explains=(*STUCK, "D110", "D701"),
    )


@accuses(
    "LYR-SOFTMAX-MISSING",
    ScoresWhereProbabilitiesExpected,
    faulty=(
        Run("raw scores into the likelihood loss", lambda: run_of("nll_loss", given(16, 4), wanted(16))),
        Run(
            "raw scores into the divergence",
            lambda: run_of("kl_div", given(16, 4), wanted(16, 4, high=1, whole=False, axes=[1])),
        ),
    ),
)
def log_probabilities_missing(case: Case, symptom: Symptom) -> Accusation | None:
    """A loss that expects log-probabilities gets raw scores.

    NLLLoss only picks the value of the true class and turns its sign: with raw scores it falls without end as scores grow, and
    classes do not compete with each other.
    Use CrossEntropyLoss on the scores, or apply log_softmax before the loss.
    """
    if symptom.detail["given"] != "scores" or symptom.detail["criterion"] not in ("nll_loss", "kl_div"):
        return None
    head = head_of(case, symptom)
    if head is None:
        return None
    loss, layer = head.loss, last_layer(case, head)
    site = loss.line
    remedy = (
        f"Use cross entropy instead of {text_at(case, site)}, or apply `log_softmax` over the classes before it."
        if loss.criterion == "nll_loss"
        else f"Apply `log_softmax` to the first argument of {text_at(case, loss.called)}."
    )
    return Accusation(
        PROVEN + 1.5,
        site=site,
        reason="Without normalisation the loss keeps falling as the scores grow, and the classes do not compete.",
        remedy=remedy,
        refutation="The outputs are log-densities, which may be above 0.",
        related=[loss.called, *((layer.created, layer.called) if layer is not None else ())],
        explains=(*STUCK, "D101", "D103", "D107", "D110", "D115", "D409", "D502"),
    )


class SoftmaxAxis(Cause, code="ACT-DIM"):
    """Softmax or log-softmax of the output runs over the wrong axis.

    Over the batch, the samples compete for each class: the answer for one depends on the others, and nothing forces the classes
    of one sample to share probability.
    Name the axis of the classes: `dim=1`, or `dim=-1` when they come last.
    """

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D408"):
            head = head_of(case, symptom)
            function = str(symptom.detail["function"])
            if head is None or not function:
                continue
            site, related = activation_line(case, head, function)
            yield self.fault(
                symptom,
                [for_symptom(symptom, PROVEN + 1.5)],
                site=site,
                reason="Samples compete instead of classes, so the prediction for one sample depends on the rest of its batch.",
                remedy=f"Apply {function} over the classes (`dim={head.class_axis}`) at {text_at(case, site, function)}."
                if head.class_axis and head.width != 1
                else f"Use a sigmoid for a single output instead of {function} at {text_at(case, site, function)}.",
                refutation="The first axis of the outputs holds the classes.",
                related=related,
                explains=(*STUCK, "D401", "D403", "D601"),
            )

        seen = any("softmax" in str(symptom.detail.get("operation", "")) for symptom in case.of("D601"))
        for symptom in case.of("D417") if not seen else ():
            line = "" if symptom.site is None else f" in `{case.sources.line(symptom.site)}`"
            yield self.fault(
                symptom,
                [for_symptom(symptom, PROVEN)],
                reason="Samples compete instead of positions, so what one sample attends to depends on the rest of its batch.",
                remedy=f"Apply softmax over the positions that are attended to (`dim=-1`){line}.",
                refutation="The first axis of the scores holds the positions.",
                explains=(*STUCK, "D601"),
            )

    FAULTY = (
        *AttentionOverBatch.FAULTY,
        *(run for run in SoftmaxOverWrongAxis.FAULTY if "a vector" not in run.title),
    )


class OutputActivationWrong(Cause, code="ACT-OUT-WRONG"):
    """The activation of the output cannot give what the targets ask for.

    Targets beyond its range are never met, and near its bounds the gradient fades; softmax over one unit is constant.
    Choose by the kind of target: none for real values and for losses on scores, sigmoid for values in 0..1, softplus or exp
    for values above 0.
    """

    well_fitted = convention(
        0.05, "a loss this far below the best constant prediction: whatever the range, it did not hurt"
    )

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D404", "D403"):
            if symptom.detail.get("ends_in"):
                yield self._refused(case, symptom)
                continue
            if symptom.detail.get("given") == "signed shares":
                yield self._signed(case, symptom)
                continue
            head = head_of(case, symptom)
            if head is None:
                continue
            if symptom.code == "D403" and symptom.detail["given"] not in ("probabilities", "unshared"):
                continue
            if symptom.code == "D404" and symptom.detail["what"] == "cut scores":
                continue
            function = str(symptom.detail.get("function") or head.activation)
            site, related = activation_line(case, head, function)
            weight, reason, instead = self._meaning(symptom, head)
            yield self.fault(
                symptom,
                [for_symptom(symptom, weight), *self._against(case, head, symptom)],
                site=site,
                reason=reason,
                remedy=f"{instead} at {text_at(case, site, function)}.",
                refutation="In all other batches the targets are within the output's range.",
                related=related,
                explains=STUCK,
            )

    def _refused(self, case: Case, symptom: Symptom) -> Fault:
        """The loss for probabilities stopped the program, and the model ends in an activation that makes none."""
        function = str(symptom.detail["ends_in"])
        last = [link for link in chain(case.trace) if link.function == function][-1]
        return self.fault(
            symptom,
            [for_symptom(symptom, PROVEN + 1.5)],
            component=last.name,
            site=last.site,
            reason=f"The output of {function} is not a probability, and the loss only accepts values between 0 and 1.",
            remedy=f"Use a sigmoid instead of {function} at {text_at(case, last.site)}.",
            refutation="The output is a probability by construction and leaves [0, 1] only by rounding.",
            related=[symptom.site],
            explains=(*STUCK, "D110", "D701"),
        )

    def _signed(self, case: Case, symptom: Symptom) -> Fault:
        """Outputs divided by their sum stand for probabilities, and the activation gives values that cannot."""
        function = str(symptom.detail["function"])
        broken = [for_symptom(s, STRONG) for s in case.of("D110")[:1]]
        loss = next((loss for loss in case.trace.losses if loss.name == symptom.detail["loss"]), None)
        return self.fault(
            symptom,
            [for_symptom(symptom, STRONG + 1.0 if function == "relu" else PROVEN), *broken],
            reason="Dividing by the sum gives probabilities only if no value is negative and not all are zero.",
            remedy=f"Use a softmax instead of {function} at {text_at(case, symptom.site)}.",
            refutation="The outputs are above zero by construction.",
            related=[loss.called, loss.backward] if loss is not None else [],
            explains=(*STUCK, "D110", "D502"),
        )

    @staticmethod
    def _meaning(symptom: Symptom, head: Head) -> tuple[float, str, str]:
        function = head.activation
        what = symptom.detail.get("what", "")
        if symptom.detail.get("given") == "unshared":
            reason = "The loss only wants the true class near 1, so predicting 1 for every class is optimal and nothing is learned."
            return PROVEN, reason, f"Use a softmax instead of {symptom.detail['function']}"
        if symptom.code == "D403" and head.loss.criterion == "kl_div" and _ids(head):
            reason = "The loss is then just minus the probability: flat where the answer is wrong, so little is learned from mistakes."
            return STRONG + 1.0, reason, "Use `log_softmax` in place of the softmax"
        if symptom.code == "D403":
            reason = "The loss is then just minus the probability: flat where the answer is wrong, so little is learned from mistakes."
            text = "Use `log_softmax` in place of the softmax, or cross entropy on raw scores,"
            return PROVEN + 0.5, reason, text
        if what == "lone":
            reason = "The softmax of a single value is always 1, so there is no gradient."
            return PROVEN + 1.5, reason, "Use a sigmoid instead of softmax for a single unit"
        if what == "shares":
            reason = "Outputs that sum to one cannot all be near one: several labels, or values that add up to more, are never met."
            text = "Use a sigmoid instead of softmax, so that every output is answered by itself,"
            return PROVEN, reason, text
        if what == "dead":
            reason = "A ReLU whose input is negative for every sample passes no gradient, so the output stays at zero forever."
            return STRONG + 0.5, reason, "Remove the relu, or use softplus,"
        if what == "bounded scores":
            reason = f"The loss needs unbounded scores: after {function} no class can become much likelier than the others."
            weight = STRONG + (2.0 if "sigmoid" in function else 1.0)
            return weight, reason, f"Remove the {function}"
        reason = (
            "Targets outside that range can never be reached, and at its bounds the output has no gradient."
        )
        return STRONG + 1.5, reason, f"Remove the {function}, or use one whose range covers the targets,"

    def _against(self, case: Case, head: Head, symptom: Symptom) -> Iterator[Evidence]:
        if symptom.detail.get("what") == "dead" and case.has("D101", "D103", "D112", "D113"):
            yield Evidence("Steps, weights or biases were too large, which also kills a ReLU.", -STRONG)
        for course in progress(case.trace) if symptom.detail.get("given") != "unshared" else ():
            share = course.last_relative if course.loss == head.loss.name else None
            if share is not None and share < self.well_fitted:
                text = f"The loss ended at {share:.2g} times that of the best constant prediction."
                yield Evidence(text, -STRONG)

    FAULTY = (
        *(run for run in OutputRangeTooNarrow.FAULTY if "ReLU on class" not in run.title),
        Run(
            "tanh where probabilities are expected",
            lambda: run_of(
                "binary_cross_entropy",
                ModuleFact("net.0", "Linear", model="net", order=0),
                ModuleFact(
                    "net.1", "Tanh", model="net", activation="tanh", order=1, created=Site("train.py", 9)
                ),
                exception="RuntimeError: all elements of input should be between 0 and 1",
            ),
        ),
        Run(
            "softmax where log-softmax is expected",
            lambda: run_of("nll_loss", given(16, 4, "Softmax"), wanted(16), call("softmax", 16, 4)),
        ),
    )


def _ids(head: Head) -> bool:
    """Whether each sample has one class, written as zeros and a one: to such targets a divergence of distributions is an odd choice."""
    return head.target is not None and bool(head.target.integral)
