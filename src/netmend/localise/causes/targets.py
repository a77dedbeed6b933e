"""What the network is to answer: labels, their classes and their scale."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from netmend.diagnose.detectors.constant_answers import ClassCollapse
from netmend.diagnose.detectors.data_values import TargetBadlyScaled
from netmend.diagnose.detectors.labels import ClassImbalance, LabelsPermuted, LabelsUnrelated
from netmend.diagnose.examples.curves import flat, run_with
from netmend.diagnose.measures.batches import training_samples
from netmend.diagnose.measures.ending import finished
from netmend.diagnose.measures.objective import constant_of
from netmend.diagnose.measures.progress import progress
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, WEAK, Cause, fault, for_symptom
from netmend.localise.effects import STUCK, codes
from netmend.localise.lines.data_lines import (
    label_line,
    labels_moved,
    loader_site,
    target_origin,
)
from netmend.localise.lines.head_lines import text_at
from netmend.localise.lines.values import rewritten_argument
from netmend.localise.outcome import hardly_trained, level, rivals
from netmend.unit import convention
from netmend.vocabulary import Evidence, Fault, Site, Symptom, Trace

_RESULTS = ("D109", "D114", "D220", "D224", "D226")  # of learning nothing, or of no weight
# The network answers the same whatever it is given: no labels, wrong or right, would be learned.
_UNHEARD = ("D109", "D602")


class LabelsDoNotBelong(Cause, code="DAT-LABEL"):
    """Labels and inputs do not belong together.

    When labels are shuffled or shifted apart from their inputs there is nothing to learn but the samples themselves. Index inputs and labels with the
    same permutation, and look at a few pairs by eye.
    """

    nothing_learned = convention(0.95, "of the constant prediction's loss at the end")
    few_samples = convention(150, "training samples that are few for any network")

    def accuse(self, case: Case) -> Iterator[Fault]:
        permuted = case.first("D320")
        if permuted is not None:
            yield self._permuted(case, permuted)
            return
        memorised, stuck = case.first("D311"), case.first("D501")
        reached, apart = level(case), labels_moved(case)
        if memorised is None and stuck is None:
            # A short run says little by itself; with labels that the source plainly moves apart, that it learned nothing is enough.
            if apart is not None and reached is not None and reached > self.nothing_learned:
                yield self._moved(case, apart, reached)
            return
        if memorised is None and apart is None and stuck is not None and _is_one_of_several(case, stuck):
            return
        evidence = []
        if memorised is not None:
            evidence.append(for_symptom(memorised, STRONG + WEAK))
        if stuck is not None:
            evidence.append(for_symptom(stuck, WEAK))
        # Nothing else may explain it: every other symptom of a broken program speaks against the labels, unless the source shows them mixed up.
        read = next((finding for finding in case.findings if finding.cause == self.code), None)
        if read is not None and stuck is not None:
            text = "Nothing was learned, as always when labels are mixed up."
            evidence.append(Evidence(text, FAIR + WEAK))
        elif any(s.code[:2] in ("D1", "D2", "D4") and s.code not in _RESULTS for s in case.symptoms):
            evidence.append(Evidence("Something else is broken and would explain it.", -STRONG))
        elif memorised is None and case.has(*_UNHEARD):
            evidence.append(Evidence("The inputs do not reach the output, whatever the labels are.", -WEAK))
        elif stuck is not None:
            text = "Gradients, updates, loss and loop all look right."
            evidence.append(Evidence(text, FAIR + WEAK))
        if memorised is None and case.has("D512", "D505"):
            evidence.append(Evidence("Training was too short to tell.", -STRONG))
        samples = training_samples(case.trace)
        if memorised is not None and samples is not None and samples <= self.few_samples:
            evidence.append(Evidence(f"There are only {samples} samples to learn from.", -STRONG))
        if case.has("D312", "D316"):
            evidence.append(Evidence("Evaluation covers other classes than training.", -STRONG))
        if case.has("D310"):
            evidence.append(Evidence("Evaluation data is prepared differently.", -STRONG))
        chief = memorised or stuck
        assert chief is not None
        if apart is not None:
            evidence.append(_read(case, apart))
        yield fault(
            self.code,
            evidence,
            component="training data",
            site=apart
            or (Site(read.file, read.line) if read is not None else label_line(case))
            or target_origin(case),
            related=(target_origin(case),),
            summary=chief.message,
            reason="When labels do not belong to their inputs there is nothing to learn, only samples to memorise.",
            remedy="Check that inputs and labels are indexed, shuffled and split in the same way, and look at a few pairs by eye.",
            refutation="A simple model (nearest neighbour, logistic regression) does better than chance on the same pairs.",
            explains=("D311", "D506", "D507", "D501", *(STUCK if read is not None else ())),
        )

    def _moved(self, case: Case, site: Site, reached: float) -> Fault:
        text = f"The loss ended at {reached:.2f} of that of the best constant prediction."
        return fault(
            self.code,
            [_read(case, site), Evidence(text, FAIR)],
            component="training data",
            site=site,
            summary=f"The labels are shuffled separately from the inputs, and nothing was learned: the loss ended at {reached:.2f} of a constant prediction's.",
            reason="Every sample is trained on another sample's label, so there is nothing to learn.",
            remedy=f"Remove {text_at(case, site)}, or index inputs and labels with the same permutation.",
            refutation="The loss is no lower without that line.",
            explains=(*STUCK, "D512"),
        )

    def _permuted(self, case: Case, symptom: Symptom) -> Fault:
        """The labels were in their place when the loader handed them out."""
        site = rewritten_argument(case.sources, symptom.site, 1) or symptom.site
        shifted = bool(symptom.detail.get("shifted"))
        instead = "" if shifted else ", or index the inputs with the same permutation"
        return self.fault(
            symptom,
            [for_symptom(symptom, STRONG + FAIR if shifted else PROVEN + FAIR)],
            component="training data",
            site=site,
            related=(symptom.site,),
            reason="The network then learns labels that evaluation does not use."
            if shifted
            else "Every sample is trained on another sample's label, so there is nothing to learn.",
            remedy=f"Pass the labels to the loss as they come from the loader: remove the change at {text_at(case, site)}{instead}.",
            refutation="The model's predictions are changed in the same way wherever they are used.",
            explains=(*STUCK, "D311", "D506", "D507", "D512"),
        )

    FAULTY = (*LabelsUnrelated.FAULTY, *LabelsPermuted.FAULTY)


def _is_one_of_several(case: Case, stuck: Symptom) -> bool:
    """A loss that is a term of an objective may stand still because the other terms outweigh it."""
    return any(stuck.component in loss.settings.get("terms", ()) for loss in case.trace.losses)


def _read(case: Case, site: Site) -> Evidence:
    return Evidence(f"The source changes only the labels: `{case.sources.line(site)}`.", STRONG + WEAK)


# Signal or gradient is lost on the way, numbers are invalid, or output and loss do not fit: then no class can be learned.
_BROKEN = codes("D104 D130 D109 D110 D111 D112 D117 D119 D128 D403 D404 D411 D502 D602")


class ClassesUnbalanced(Cause, code="DAT-IMBALANCE"):
    """The classes are unbalanced, and the rare ones are never predicted.

    Always giving the frequent class is right most of the time, so the loss gives little reason to tell the classes apart.
    Weight the classes in the loss, sample them evenly, and look at the recall of each class instead of the accuracy.
    """

    recall_limit = convention(0.1, "recall of a class below which it counts as never predicted")
    frequent_limit = convention(
        0.6,
        "share of the most frequent class up to which giving it alone is wrong so often that other classes are worth learning",
    )

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D307"):
            evidence = [for_symptom(symptom, FAIR)]
            recall = _worst_recall(case.trace)
            if (collapse := case.first("D511")) is not None:
                evidence.append(for_symptom(collapse, STRONG + FAIR))
            elif recall is not None and recall < self.recall_limit:
                text = f"Only {recall:.0%} of the samples of one class are recognised."
                evidence.append(Evidence(text, STRONG))
            else:
                continue
            if _handled(case.trace):
                text = "The loss has class weights, or a sampler balances the classes."
                evidence.append(Evidence(text, -2 * STRONG))
            evidence += self._against(case, symptom, collapse is not None)
            loss = next((loss for loss in case.trace.losses if loss.backward is not None), None)
            yield fault(
                self.code,
                evidence,
                component="training data",
                site=loss.line if loss is not None else loader_site(case),
                summary=symptom.message + (f" {collapse.message}" if collapse is not None else ""),
                reason="Always predicting the frequent class is right most of the time, so there is little pressure to learn the others.",
                remedy="Weight the classes in the loss (`weight=` or `pos_weight=`), or balance them with a WeightedRandomSampler, and watch the recall of each class.",
                refutation="The rare class is never predicted with class weights either.",
                related=(loader_site(case), target_origin(case)),
                explains=("D511", "D510", "D501"),
            )

    def _against(self, case: Case, symptom: Symptom, collapsed: bool) -> Iterator[Evidence]:
        """Imbalance hides rare classes from a network that works; it neither breaks one nor hides frequent classes."""
        broken = next((s for s in case.symptoms if s.code in _BROKEN), None)
        if broken is not None:
            text = f"Something else is broken that the class balance does not explain: {broken.message}"
            yield Evidence(text, -STRONG - FAIR, broken.code)
        if collapsed and float(symptom.detail.get("majority", 1.0)) < self.frequent_limit:
            yield Evidence("Classes that are not rare are never predicted either.", -STRONG)

    FAULTY = {"97 to 3, one class predicted": lambda: _with_labels()}


def _worst_recall(trace: Trace) -> float | None:
    values = [
        float(known[-1])
        for kind in ("evaluation", "progress")
        for table in trace.tables_of(kind)
        if len(known := table.known("worst_recall")[1])
    ]
    return values[0] if values else None


def _handled(trace: Trace) -> bool:
    sampled = any("Weighted" in loader.sampler for loader in trace.loaders)
    weighted = any(operand.role == "weight" for loss in trace.losses for operand in loss.operands) or any(
        loss.settings.get(name) not in (None, False)
        for loss in trace.losses
        for name in ("weight", "pos_weight")
    )
    return sampled or weighted


def _with_labels() -> Trace:
    collapse, counts = ClassCollapse.FAULTY[0].trace, ClassImbalance.FAULTY[0].trace
    assert np.isfinite(next(iter(collapse.tables.values())).column("loss")).all()
    return Trace(tables=collapse.tables, batches=counts.batches)


_RIVALS = {
    "D106": "The gradients vanish on their way.",
    "D111": "The weights start symmetric.",
    "D113": "Biases start badly.",
}


class TargetsNotScaled(Cause, code="PRE-MISS-SCALE"):
    """The targets of a regression are not scaled.

    The network starts at about zero; most of the training is spent on reaching the size of the targets, with gradients of that size.
    Standardise the targets with training statistics and undo it on the predictions.
    """

    good_relative = convention(0.4, "a program that learns as well as that is not hindered")
    large_factor = convention(10.0, "times the limit from which size alone weighs more")

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D305"):
            course = next((c for c in progress(case.trace) if c.loss == symptom.component), None)
            evidence = [for_symptom(symptom, STRONG)]
            if symptom.observed and symptom.limit and symptom.observed > self.large_factor * symptom.limit:
                evidence.append(Evidence("The targets are far larger than a new network's outputs.", FAIR))
            if course is None or course.last_relative is None:
                continue
            if self._learned(case, course.loss):
                text = f"The program learns anyway ({course.last_relative:.2f})."
                evidence.append(Evidence(text, -2 * STRONG))
            elif hardly_trained(case):
                evidence.append(Evidence("There were too few steps, or they were too small.", -STRONG))
            elif finished(case.trace):
                text = f"At the end the loss was still {course.last_relative:.2f} times that of the best constant prediction."
                evidence.append(Evidence(text, FAIR))
            if any(s.code == "D305" and self._learned(case, s.component) for s in case.symptoms):
                text = "Another network of the same program learned such targets."
                evidence.append(Evidence(text, -2 * STRONG))
            evidence += rivals(case, _RIVALS, FAIR)
            yield self.fault(
                symptom,
                evidence,
                site=target_origin(case),
                reason="The output must first grow to the size of the targets, and until then the gradients are that large too.",
                remedy="Standardise the targets, `y = (y - y.mean()) / y.std()` with training statistics, and undo it on the predictions.",
                refutation="Standardising the targets does not lower the relative loss.",
                related=(symptom.site,),
                explains=codes("D501 D502 D503 D508 D505 D412 D103 D102 D115 D504 D101"),
            )

    def _learned(self, case: Case, loss: str) -> bool:
        """Whether that loss came down, for one of the optimisers that take turns at it."""
        course = next((c for c in progress(case.trace) if c.loss == loss), None)
        if course is None or course.last_relative is None:
            return False
        constant = constant_of(course)
        ends = [] if constant is None or len(progress(case.trace)) > 1 else _ends(case.trace)
        return min([course.last_relative, *(end / constant for end in ends if constant)]) < self.good_relative

    FAULTY = {"prices, nothing learned": lambda: _with_targets()}


def _with_targets() -> Trace:
    trace, prices = run_with(flat(200, 1.2), criterion="mse_loss"), TargetBadlyScaled.FAULTY[0].trace
    return Trace({**trace.facts, **prices.facts}, trace.tables)


def _ends(trace: Trace) -> list[float]:
    """The mean loss of each optimiser's last steps, where several train networks side by side."""
    if len(trace.optimizers) < 2:
        return []
    losses = [table.known("loss")[1] for table in trace.tables_of("step")]
    return [float(values[-max(1, len(values) // 10) :].mean()) for values in losses if len(values)]
