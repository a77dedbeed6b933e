"""The score of mutated *trained* models, class by class, as published for DeepMutation: no training, hence no statistics over runs.

An input of class c that the original handles and the mutant does not kills class c of the mutant. The score is the share of killed classes,
over all mutants and all classes. Mutants that are wrong nearly everywhere are left out first.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from netmend.errors import UsageError
from netmend.mutate.triviality import TRIVIAL, triviality


def killed_classes(
    original_right: npt.ArrayLike, mutant_right: npt.ArrayLike, labels: npt.ArrayLike
) -> frozenset[int]:
    """Of one mutant: the classes of inputs which only the original handles."""
    original, mutant = np.asarray(original_right, dtype=bool), np.asarray(mutant_right, dtype=bool)
    classes = np.asarray(labels)
    if not original.shape == mutant.shape == classes.shape:
        raise UsageError(
            f"Original, mutant and labels must speak of the same inputs, got {original.shape}, {mutant.shape}, {classes.shape}."
        )
    return frozenset(int(label) for label in np.unique(classes[original & ~mutant]))


def class_score(
    original_right: npt.ArrayLike,
    mutants_right: Sequence[npt.ArrayLike],
    labels: npt.ArrayLike,
    classes: int,
    most_trivial: float = TRIVIAL,
) -> float | None:
    """`classes`: of the task, also those that the test set does not have. None: every mutant was left out."""
    if classes < 1:
        raise UsageError(f"A task has at least one class, got {classes}.")
    original = np.asarray(original_right, dtype=bool)
    kept = [
        np.asarray(mutant, dtype=bool)
        for mutant in mutants_right
        if triviality([original], [mutant]) < most_trivial
    ]
    if not kept:
        return None
    return sum(len(killed_classes(original, mutant, labels)) for mutant in kept) / (len(kept) * classes)
