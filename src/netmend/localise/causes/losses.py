"""Losses that are computed wrongly or do not fit the task."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.diagnose.detectors.labels import LabelsOutOfRange
from netmend.diagnose.detectors.loss_inputs import MarginOnProbabilities
from netmend.diagnose.detectors.loss_values import LossSignOrUnbounded, LossSummed
from netmend.diagnose.detectors.losses_for_classes import (
    ClassWeightsWrong,
    LabelsSmoothedAway,
    RegressionOnClassIds,
)
from netmend.diagnose.detectors.regularisation import TermWithoutBound
from netmend.diagnose.examples.losses import given, run_of, wanted
from netmend.diagnose.measures.progress import progress
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, Accusation, Cause, accuses, for_symptom
from netmend.localise.effects import STUCK
from netmend.localise.lines.head_lines import head_of, last_layer, objective_line, result_line, text_at
from netmend.localise.lines.objective_terms import added_term_line
from netmend.localise.outcome import harm
from netmend.program.settings import argument_origin, value_origin
from netmend.program.text.queries import last_name
from netmend.unit import Run
from netmend.vocabulary import Evidence, Fault, LossFact, Site, Symptom

_TOO_LARGE = ("D101", "D103", "D107", "D110", "D115", "D121", "D104", "D130", "D502", "D503")


class LossComputedWrongly(Cause, code="LOS-CALC"):
    """The objective is not the intended loss: its sign is flipped, or it is summed where a mean is needed.

    With the sign turned, the optimiser makes predictions worse without end. A sum over the batch multiplies every step by the
    number of samples.
    Remove the minus sign, or average over the batch.
    """

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D409"):
            backward = next(
                (loss.backward for loss in case.trace.losses if loss.settings.get("negated")), None
            )
            site = result_line(case, symptom.site, backward)
            yield self.fault(
                symptom,
                [for_symptom(symptom, PROVEN + 1.5)],
                site=site,
                reason="The optimiser minimises the objective, and thereby maximises the error.",
                remedy=f"Negate the objective at {text_at(case, site)}.",
                related=[symptom.site, backward],
                refutation="The program unlearns on purpose, or searches for inputs on which the model fails.",
                explains=(*STUCK, *_TOO_LARGE),
            )
        for symptom in case.of("D415"):
            yield self._unbounded(case, symptom)
        for symptom in case.of("D416"):
            yield self._weights(case, symptom)
        for symptom in () if case.has("D415") else case.of("D410"):
            head = head_of(case, symptom)
            elements = int(symptom.detail["elements"])
            yield self.fault(
                symptom,
                [for_symptom(symptom, STRONG + 1.5)],
                reason=f"A sum makes the gradient about {elements} times that of the mean, so a usual rate overshoots.",
                remedy=f'Average instead of summing (`reduction="mean"`) at {text_at(case, symptom.site)}, or divide the learning rate by about {elements}.',
                refutation=f"A rate {elements} times smaller fails in the same way.",
                related=[head.loss.called] if head is not None else [],
                explains=(*STUCK, *_TOO_LARGE),
            )

    def _unbounded(self, case: Case, symptom: Symptom) -> Fault:
        objective = case.trace.get(LossFact, str(symptom.detail["loss"]))
        site = (added_term_line(case, objective) if objective is not None else None) or symptom.site
        return self.fault(
            symptom,
            [for_symptom(symptom, PROVEN + 1.5)],
            site=site,
            reason="The optimiser drives the added term ever lower, at the expense of the loss.",
            remedy=f"Negate the added term at {text_at(case, site)}: a divergence or penalty is added to the loss and is never negative.",
            refutation="The added term has a lower bound that the run has not reached yet.",
            related=[symptom.site],
            explains=(*STUCK, *_TOO_LARGE, "D410", "D512"),
        )

    def _weights(self, case: Case, symptom: Symptom) -> Fault:
        call = case.sources.call_at(symptom.site) if symptom.site is not None else None
        given = case.sources.argument(call, str(symptom.detail["argument"])) if call is not None else None
        site = symptom.site
        if given is not None and site is not None:
            site = value_origin(case.sources, site.file, given)
        return self.fault(
            symptom,
            [for_symptom(symptom, STRONG + FAIR)],
            site=site,
            reason="A rare class that counts less is learned even worse than without weights.",
            remedy=f"Give each class the inverse of its number of samples, in the order of the class numbers, at {text_at(case, site)}.",
            refutation="The frequent class counts more on purpose.",
            related=[symptom.site],
            explains=("D307", "D511"),
        )

    FAULTY = (
        *ClassWeightsWrong.FAULTY,
        *TermWithoutBound.FAULTY,
        *LossSignOrUnbounded.FAULTY,
        *LossSummed.FAULTY,
    )


class LossDoesNotFit(Cause, code="LOS-SELECT"):
    """The loss does not fit the kind of target.

    A squared difference of class ids says that class 9 is further from 0 than 1 is; a yes/no loss on ids has no lower limit.
    Derive the loss from the target: class ids → cross entropy with one output per class; yes/no → binary cross entropy on scores;
    real values → squared or absolute error.
    """

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D403", "D405", "D408", "D411", "D413", "D414"):
            told = self._told(case, symptom)
            if told is None:
                continue
            evidence, reason, remedy, refutation = told
            head = head_of(case, symptom)
            layer = last_layer(case, head)
            site = head.loss.line if head is not None else symptom.site
            if site is None and head is not None:  # an own formula
                site = objective_line(case, head.loss.backward)
            yield self.fault(
                symptom,
                evidence,
                site=site,
                reason=reason,
                remedy=remedy.format(line=text_at(case, site)),
                refutation=refutation,
                related=[
                    head.loss.called if head is not None else None,
                    *((layer.created,) if layer is not None else ()),
                ],
                explains=(
                    *STUCK,
                    "D305",
                    "D403",
                    "D404",
                    "D406",
                    "D502",
                    *(("D102", "D508", "D511") if symptom.code == "D413" else ()),
                ),
            )

    def _told(self, case: Case, symptom: Symptom) -> tuple[list[Evidence], str, str, str] | None:
        what = symptom.detail.get("what", "")
        if symptom.code == "D403":
            return self._divergence(case, symptom)
        if symptom.code == "D414":
            return (
                [for_symptom(symptom, STRONG + STRONG), *harm(case, 0.5)],
                "Probabilities can hardly reach the margin, so right and nearly right answers are pushed just as hard.",
                "Use cross entropy on the raw scores instead of {line}, or a margin loss without the activation.",
                "Cross entropy learns no better on the same data.",
            )
        if symptom.code == "D413":
            stuck = [for_symptom(found, FAIR) for found in case.of("D501", "D504", "D508", "D511")[:1]]
            return (
                [for_symptom(symptom, STRONG + STRONG), *stuck],
                "Nearly all targets are zero, so predicting zero is almost right and there is little gradient towards the true class.",
                "Use `CrossEntropyLoss` with class ids on raw scores instead of {line}.",
                "Cross entropy learns no better on the same data.",
            )
        if what == "exclusive":
            return (
                [
                    for_symptom(
                        symptom, STRONG + FAIR if int(symptom.detail.get("width", 0)) >= 10 else STRONG
                    ),
                    *harm(case, 0.5),
                ],
                "Nearly all outputs are easy negatives, so the one that matters is a small part of the gradient.",
                "Use `CrossEntropyLoss` with class ids instead of {line}: it lets the classes compete.",
                "Samples may have several classes or none.",
            )
        if symptom.code == "D405":
            proven = what == "scores against ids"
            evidence = [for_symptom(symptom, PROVEN if proven else FAIR)]
            evidence += [] if proven else self._meant_as_classes(case, symptom)
            return (
                evidence,
                "Class ids have no order and no distance, but this loss rewards answers between two ids and punishes distant ids more.",
                "Use `CrossEntropyLoss` with one output per class instead of {line}.",
                "The targets are amounts, ranks or ratings, where being off by one is better than by five.",
            )
        if symptom.code == "D408":
            if symptom.detail.get("function"):
                return None
            return (
                [for_symptom(symptom, PROVEN + 1.0)],
                "The scores of a batch compete with each other, although each belongs to a different sample.",
                "Use `BCEWithLogitsLoss` for yes/no targets or `MSELoss` for real ones instead of {line}.",
                "The scores of one list really compete, as in ranking.",
            )
        if what == "class id":
            return None
        if what == "several labels":
            return (
                [for_symptom(symptom, STRONG + 1.5)],
                "Competing classes cannot all be likely, so samples with several labels are never predicted correctly.",
                "Use `BCEWithLogitsLoss` instead of {line}: it answers every label by itself.",
                "The targets are class weights rather than labels.",
            )
        return (
            [for_symptom(symptom, PROVEN + 1.0)],
            "For targets outside its range the loss has no minimum or ignores samples.",
            "Use a loss that fits these targets instead of {line} (cross entropy for class ids), or recode the targets.",
            "The targets leave the range only in the first batch.",
        )

    def _divergence(self, case: Case, symptom: Symptom) -> tuple[list[Evidence], str, str, str] | None:
        """A divergence of distributions, given probabilities instead of their logarithms, for samples that have one class each."""
        head = head_of(case, symptom)
        if head is None or head.loss.criterion != "kl_div" or symptom.detail.get("given") != "probabilities":
            return None
        if head.target is None or not head.target.integral:
            return None
        return (
            [for_symptom(symptom, PROVEN + 1.0)],
            "With one class per sample the loss is just minus the probability of that class: flat where the answer is wrong.",
            "Use `CrossEntropyLoss` with class ids on raw scores instead of {line}.",
            "The targets are distributions in other batches.",
        )

    def _meant_as_classes(self, case: Case, symptom: Symptom) -> Iterator[Evidence]:
        head = head_of(case, symptom)
        if head is None:
            return
        if head.loss.called is not None and _counts_exact_hits(case, head.loss.called):
            yield Evidence("Predictions are rounded and compared with the targets for equality.", FAIR + 0.3)
        for course in progress(case.trace):
            if course.loss == head.loss.name and course.last_relative is not None:
                share = f"{course.last_relative:.2g}"
                yield Evidence(f"The loss ended at {share} times that of the best constant prediction.", 0.3)

    FAULTY = (
        *(run for run in RegressionOnClassIds.FAULTY if "one output per" in run.title),
        *MarginOnProbabilities.FAULTY,
        *(run for run in LabelsOutOfRange.FAULTY if "than outputs" not in run.title),
        Run(
            "a vector of scores into cross entropy",
            lambda: run_of("cross_entropy", given(16), wanted(16, high=1, dtype="float32")),
        ),
    )


def _counts_exact_hits(case: Case, site: Site) -> bool:
    """Whether the file asks how many predictions are exactly right, as one does with classes.

    That is a comparison for equality of two things of which something was rounded before, or "nearer than one half".
    """
    rounds = any(True for _ in case.sources.calls_named(site.file, "round", "long", "int"))
    for node in case.sources.nodes(site.file):
        if not isinstance(node, ast.Compare) or len(node.ops) != 1 or last_name(node.left) == "__name__":
            continue
        right = node.comparators[0]
        number = right.value if isinstance(right, ast.Constant) else None
        if isinstance(node.ops[0], ast.Eq) and number is None and rounds:
            return True
        near = isinstance(node.left, ast.Call) and "abs" in ast.unparse(node.left.func)
        if isinstance(node.ops[0], ast.Lt | ast.LtE) and near and number == 0.5:
            return True
    return False


@accuses("LOS-SMOOTH", LabelsSmoothedAway)
def label_smoothing_too_strong(case: Case, symptom: Symptom) -> Accusation:
    """Labels are smoothed so much that little is left of them.

    The network is asked to be nearly as sure of every wrong class as of the right one, so it hardly learns to tell them apart.
    Smooth by about 0.1, or not at all.
    """
    origin = argument_origin(case.sources, symptom.site, "label_smoothing")
    return Accusation(
        PROVEN,
        site=symptom.site if origin is None else origin.site,
        reason="The best answer under this loss is hardly surer of the true class than of the others.",
        remedy=f"Set `label_smoothing` to 0.1 (it is {symptom.observed:g}).",
        refutation="Targets this vague are meant, as in an experiment on calibration.",
        related=(symptom.site,),
        explains=STUCK,
    )
