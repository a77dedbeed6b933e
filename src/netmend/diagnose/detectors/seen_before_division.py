"""Test rows that a step before the division has seen or made."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.curves import SITE, trace_of
from netmend.diagnose.measures.preparation import prepared
from netmend.unit import exact
from netmend.vocabulary import PreparationFact, Symptom, Trace


def _resampled(**seen: int | str) -> Trace:
    usual: dict[str, int | str] = {"rows": 2600, "rows_after": 4962, "by": "SMOTE"}
    return trace_of(
        PreparationFact(
            "fit_resample@train.py:20", "imblearn.fit_resample", "resample", SITE, seen=usual | seen
        )
    )


def _selected(**seen: int | str) -> Trace:
    usual: dict[str, int | str] = {"rows": 180, "columns": 2500, "kept": 40, "by": "SelectKBest"}
    return trace_of(
        PreparationFact("fit@train.py:20", "sklearn.feature_selection.fit", "fit", SITE, seen=usual | seen)
    )


class ResampledThenDivided(Detector, code="D850"):
    """The rows that a resampling gave back were divided into training and test afterwards.

    Copies of one row, or mixtures of two, lie in both parts: the network is tested on what it was trained with, on a balance of classes that
    does not exist. Seen exactly: the targets that were divided are those that the resampling gave back, row by row.
    """

    least = exact(1, "test rows from a resampled set: any are too many")

    HEALTHY = {"the training part alone": lambda: _resampled()}
    FAULTY = {
        "half of the test part was made": lambda: _resampled(tested=1489, tested_made=723),
        "made rows were thinned out again": lambda: _resampled(by="SMOTEENN", tested=900, tested_made=900),
    }  # fmt: skip

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for fact in prepared(trace, "resample"):
            tested = fact.seen.get("tested", 0)
            if tested < self.least:
                continue
            message = (
                f"{fact.seen['by']} made {fact.seen['rows_after']:,} rows of {fact.seen['rows']:,}, and these were divided afterwards: {tested:,} of them are "
                f"the test part, {fact.seen['tested_made']:,} of which the resampling made or may have made."
            )
            yield self.symptom(message, fact.name, tested, self.least, dict(fact.seen), site=fact.site)


class SelectedThenDivided(Detector, code="D851"):
    """Columns were chosen by the targets of rows of which some became the test part afterwards.

    Among many columns some go with the answers by chance, in the test rows too when these have a say: the score is good even where there is
    nothing to find. Seen exactly: the targets that the selection was given are those that were divided, row by row, with the columns it kept.
    """

    least = exact(1, "test rows whose targets a selection has seen: any are too many")

    HEALTHY = {"within the training part": lambda: _selected()}
    FAULTY = {"before the folds": lambda: _selected(tested=36, tested_made=36)}

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for fact in prepared(trace, "fit"):
            tested = fact.seen.get("tested", 0)
            if tested < self.least:
                continue
            message = (
                f"{fact.seen['by']} kept {fact.seen['kept']:,} of {fact.seen['columns']:,} columns by the targets of all {fact.seen['rows']:,} rows; "
                f"{tested:,} of these rows are the test part."
            )
            yield self.symptom(message, fact.name, tested, self.least, dict(fact.seen), site=fact.site)
