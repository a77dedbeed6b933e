"""DAT-LABEL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.labels import LabelsPermuted, LabelsUnrelated
from netmend.diagnose.measures.data import training_samples
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, WEAK, fault, for_symptom, register
from netmend.localise.lines.data_origin import target_origin
from netmend.localise.lines.head_lines import STUCK, text_at
from netmend.localise.lines.label_line import label_line, labels_moved, rewritten_argument
from netmend.localise.outcome import level
from netmend.unit import Run, threshold
from netmend.vocabulary import Evidence, Fault, Site, Symptom

_RESULTS = ("D109", "D114", "D220", "D224", "D226")  # of learning nothing, or of no weight
# The network answers the same whatever it is given: no labels, wrong or right, would be learned.
_UNHEARD = ("D109", "D602")


@register
class LabelsDoNotBelong:
    """Labels and inputs do not belong together.

    When labels are shuffled or shifted apart from their inputs there is nothing to learn but the samples themselves. Index inputs and labels with the
    same permutation, and look at a few pairs by eye.
    """

    code: ClassVar[str] = "DAT-LABEL"

    nothing_learned: float = threshold(0.95, "convention", "of the constant prediction's loss at the end")
    few_samples: int = threshold(150, "convention", "training samples that are few for any network")

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
        site = rewritten_argument(case, symptom.site, 1) or symptom.site
        shifted = bool(symptom.detail.get("shifted"))
        instead = "" if shifted else ", or index the inputs with the same permutation"
        return fault(
            self.code,
            [for_symptom(symptom, STRONG + FAIR if shifted else PROVEN + FAIR)],
            component="training data",
            site=site,
            related=(symptom.site,),
            summary=symptom.message,
            reason="The network then learns labels that evaluation does not use."
            if shifted
            else "Every sample is trained on another sample's label, so there is nothing to learn.",
            remedy=f"Pass the labels to the loss as they come from the loader: remove the change at {text_at(case, site)}{instead}.",
            refutation="The model's predictions are changed in the same way wherever they are used.",
            explains=(*STUCK, "D311", "D506", "D507", "D512"),
        )

    FAULTY: ClassVar[tuple[Run, ...]] = (*LabelsUnrelated.FAULTY, *LabelsPermuted.FAULTY)


def _is_one_of_several(case: Case, stuck: Symptom) -> bool:
    """A loss that is a term of an objective may stand still because the other terms outweigh it."""
    return any(stuck.component in loss.settings.get("terms", ()) for loss in case.trace.losses)


def _read(case: Case, site: Site) -> Evidence:
    return Evidence(f"The source changes only the labels: `{case.sources.line(site)}`.", STRONG + WEAK)
