"""DAT-LABEL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.labels_permuted import LabelsPermuted
from netmend.diagnose.detectors.labels_unrelated import LabelsUnrelated
from netmend.diagnose.measures.data import training_samples
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, WEAK, fault, for_symptom, register
from netmend.localise.data_origin import target_origin
from netmend.localise.head_lines import STUCK, text_at
from netmend.localise.label_line import label_line, rewritten_argument
from netmend.unit import Run, threshold
from netmend.vocabulary import Evidence, Fault, Symptom

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

    few_samples: int = threshold(150, "convention", "training samples that are few for any network")

    def accuse(self, case: Case) -> Iterator[Fault]:
        permuted = case.first("D320")
        if permuted is not None:
            yield self._permuted(case, permuted)
            return
        memorised, stuck = case.first("D311"), case.first("D501")
        if memorised is None and stuck is None:
            return
        evidence = []
        if memorised is not None:
            evidence.append(for_symptom(memorised, STRONG + WEAK))
        if stuck is not None:
            evidence.append(for_symptom(stuck, WEAK))
        # Nothing else may explain it: every other symptom of a broken program speaks against the labels.
        if any(s.code[:2] in ("D1", "D2", "D4") and s.code not in _RESULTS for s in case.symptoms):
            evidence.append(Evidence("Something else is broken that would explain it.", -STRONG))
        elif memorised is None and case.has(*_UNHEARD):
            evidence.append(Evidence("The inputs do not reach the output, whatever the labels are.", -WEAK))
        elif stuck is not None:
            text = "Gradients, updates, loss and loop all look as they should."
            evidence.append(Evidence(text, FAIR + WEAK))
        if memorised is None and case.has("D512", "D505"):
            evidence.append(Evidence("Training was too short to tell.", -STRONG))
        samples = training_samples(case.trace)
        if memorised is not None and samples is not None and samples <= self.few_samples:
            evidence.append(Evidence(f"There are only {samples} samples to learn from.", -STRONG))
        if case.has("D312", "D316"):
            evidence.append(Evidence("Evaluation is about something else than training.", -STRONG))
        if case.has("D310"):
            evidence.append(Evidence("Evaluation data is prepared differently.", -STRONG))
        chief = memorised or stuck
        assert chief is not None
        moved = label_line(case)
        if stuck is not None and moved is not None:
            text = f"The source moves labels alone: `{case.sources.line(moved)}`."
            evidence.append(Evidence(text, STRONG))
        yield fault(
            self.code,
            evidence,
            component="training data",
            site=moved or target_origin(case),
            related=(target_origin(case),),
            summary=chief.message,
            reason="With labels that do not belong to their inputs there is no rule to be found, only samples to be remembered.",
            remedy="Check that inputs and labels are indexed, shuffled and cut in the same way, and look at a few pairs by eye.",
            refutation="A simple model (nearest neighbour, logistic regression) does better than chance on the same pairs.",
            explains=("D311", "D506", "D507", "D501"),
        )

    def _permuted(self, case: Case, symptom: Symptom) -> Fault:
        """The labels were in their place when the loader handed them out."""
        site = rewritten_argument(case, symptom.site, 1) or symptom.site
        return fault(
            self.code,
            [for_symptom(symptom, PROVEN + FAIR)],
            component="training data",
            site=site,
            related=(symptom.site,),
            summary=symptom.message,
            reason="Every sample is taught the label of another one, so there is nothing to learn.",
            remedy=f"Give the loss the labels as they come from the loader: leave out the change of order at {text_at(case, site)}, "
            "or index the inputs with the same permutation.",
            refutation="The outputs of the model are brought into the same order before the loss.",
            explains=(*STUCK, "D311", "D506", "D507", "D512"),
        )

    FAULTY: ClassVar[tuple[Run, ...]] = (*LabelsUnrelated.FAULTY, *LabelsPermuted.FAULTY)
