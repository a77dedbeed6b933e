"""Is a mutant so bad that nearly every input shows it? Such a mutant says nothing about a test set, and would raise every score.

Triviality: of the inputs that the original handles, the share that the mutant does not; the mean over pairs of runs, each pair weighing the same.
Taking the share among *handled* inputs lets programs be compared whose originals are right in 80 % or in 99 % of the cases.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from netmend.errors import UsageError

TRIVIAL = 0.9
_HANDLED = 0.95  # quantile of the original's own errors up to which an input counts as handled

BoolArray = npt.NDArray[np.bool_]
Runs = Sequence[npt.ArrayLike] | npt.NDArray[np.generic]  # a row per run; rows may differ in length


def triviality(original_right: Runs, mutant_right: Runs) -> float:
    """Rows: runs of the same seed; columns: training inputs (or configurations of an environment), handled or not."""
    shares = []
    for original, mutant in pairs_of_runs(original_right, mutant_right):
        if original.any():
            shares.append(float((~mutant[original]).mean()))
    return float(np.mean(shares)) if shares else 0.0


def triviality_of_errors(original_error: Runs, mutant_error: Runs) -> float:
    """For numbers instead of classes: an input is handled when its error is no larger than nearly all errors of the original."""
    handled: list[tuple[BoolArray, BoolArray]] = []
    for original, mutant in zip(original_error, mutant_error, strict=True):
        own, other = np.asarray(original, dtype=float), np.asarray(mutant, dtype=float)
        known = own[np.isfinite(own)]
        if len(known):
            limit = float(np.quantile(known, _HANDLED))
            handled.append((own <= limit, other <= limit))  # an error that is not a number is not below it
    return triviality([pair[0] for pair in handled], [pair[1] for pair in handled])


def pairs_of_runs(original_right: Runs, mutant_right: Runs) -> list[tuple[BoolArray, BoolArray]]:
    if len(original_right) != len(mutant_right):
        raise UsageError(
            f"Triviality compares pairs of runs, got {len(original_right)} of the original and {len(mutant_right)} of the mutant. "
            "Give the runs of the seeds that both have."
        )
    rows = []
    for original, mutant in zip(original_right, mutant_right, strict=True):
        pair = np.asarray(original, dtype=bool), np.asarray(mutant, dtype=bool)
        if pair[0].shape != pair[1].shape or pair[0].ndim != 1:
            raise UsageError(
                f"A pair of runs must be judged on the same inputs, got shapes {pair[0].shape} and {pair[1].shape}."
            )
        rows.append(pair)
    return rows
