"""Test rows that were seen or made before there was a test part."""

from __future__ import annotations

from netmend.diagnose.detectors.seen_before_division import ResampledThenDivided, SelectedThenDivided
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, Accusation, accuses
from netmend.vocabulary import Symptom


@accuses("VAL-TEST-LEAK", ResampledThenDivided)
def resampled_then_divided(case: Case, symptom: Symptom) -> Accusation:
    """Rows were resampled before they were divided.

    The test part holds copies or mixtures of training rows, in a balance that does not exist outside. Divide first, and resample the training
    part alone.
    """
    return Accusation(
        PROVEN + 1.0,
        reason="A row that was made of training rows is no new row: the network is asked about what it was trained with.",
        remedy="Divide first, then `X_train, y_train = sampler.fit_resample(X_train, y_train)`; leave the test part as it is.",
        refutation="The score stays the same on a test part that was set aside before the resampling.",
        summary=symptom.message,
    )


@accuses("VAL-TEST-LEAK", SelectedThenDivided)
def selected_then_divided(case: Case, symptom: Symptom) -> Accusation:
    """Columns were chosen with the targets of the test rows.

    What goes with the answers by chance is kept, and looks good in the very rows it was chosen by. Divide first, and choose by the training part, in
    each fold anew.
    """
    by = symptom.detail["by"]
    return Accusation(
        PROVEN + 1.0,
        reason="The columns agree with the targets of the test rows because they were chosen so.",
        remedy=f"Divide first, then fit {by} to the training part of each fold and only `transform` the test part.",
        refutation="The score stays the same when the columns are chosen within each training part.",
        summary=symptom.message,
    )
