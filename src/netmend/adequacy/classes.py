"""The classes one by one: how many inputs each has, and how well the test set reaches it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from netmend.adequacy.answers import Answers
from netmend.adequacy.collected import Integers
from netmend.adequacy.measures.label_orders import deep_gini
from netmend.adequacy.result import ClassRow


def class_rows(train: Answers, test: Answers, reached: Mapping[int, float]) -> tuple[ClassRow, ...]:
    """A row for each class that either set holds; none where the model has no classes.

    Inputs belong to the class of their label; in sets that are not labelled throughout, to the class the model takes them for.
    """
    if train.probabilities is None or test.probabilities is None:
        return ()
    before, after = _classes(train), _classes(test)
    unsure = deep_gini(test.probabilities)
    rows = []
    for name in np.union1d(before[before >= 0], after[after >= 0]):
        own = after == name
        values = unsure[own & np.isfinite(unsure)]
        wrong = test.wrong
        rows.append(
            ClassRow(
                int(name),
                int((before == name).sum()),
                int(own.sum()),
                None if wrong is None or not own.any() else float(1.0 - wrong[own].mean()),
                reached.get(int(name)),
                float(values.mean()) if len(values) else None,
            )
        )
    return tuple(rows)


def _classes(answers: Answers) -> Integers:
    whole = answers.labels is not None and not (answers.labels < 0).any()
    return answers.labels if whole and answers.labels is not None else answers.predicted
