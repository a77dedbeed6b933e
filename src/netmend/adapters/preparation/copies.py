"""Rows that a join has multiplied: do copies of one row reach training and evaluation?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from netmend.adapters.preparation.batches import Batch
    from netmend.adapters.preparation.watch import Preparation

JOIN = "join"
_GROWN = 1.05  # rows after a join for each row before it
_MOST_ROWS = 3000  # of the evaluation that are looked at
_LEADING = 6  # columns with the most different values, of which two have to agree
_DIFFERENT = 30  # different values that such a column has at least
_AGREE = 0.5  # of all columns


def copies_in_both(preparation: Preparation) -> None:
    """Into the fact of each join that multiplied rows: the share of the evaluation's rows of which training had a copy."""
    grown = [fact for fact in preparation.facts.values() if fact.kind == JOIN and _grew(fact.seen)]
    if not grown:
        return
    training, evaluation = (
        _together(part) for part in (preparation.batches.training, preparation.batches.evaluation)
    )
    if training is None or evaluation is None or training[0].shape[1] != evaluation[0].shape[1]:
        return
    share = met_again(*training, *evaluation)
    if share is None:
        return
    for fact in grown:
        preparation.facts[fact.name] = replace(fact, seen={**fact.seen, "copies_in_both": share})


def _grew(seen: Any) -> bool:
    return bool(seen.get("rows_after", 0) > _GROWN * seen.get("rows", 0) > 0 and not seen.get("side_by_side"))


def _together(batches: Iterable[Batch]) -> tuple[Any, Any] | None:
    """Rows of inputs, and the targets where every batch has them."""
    inputs, targets = [], []
    for batch in batches:
        if (
            batch.inputs.ndim != 2
            or batch.inputs.dtype.kind != "f"
            or len(batch.inputs) != len(batch.targets)
        ):
            return None
        inputs.append(batch.inputs)
        targets.append(batch.targets.reshape(len(batch.inputs), -1)[:, :1])
    if not inputs or len({part.shape[1] for part in inputs}) > 1:
        return None
    has_targets = all(part.shape[1] for part in targets)
    return np.concatenate(inputs), np.concatenate(targets) if has_targets else None


def met_again(training: Any, answers: Any, evaluation: Any, expected: Any) -> float | None:
    """The share of evaluation rows for which a training row has the same values in most columns, and the same target.

    None where too few columns have values that single a row out. Targets are None where the program compares answers by itself.
    """
    step = -(-len(evaluation) // _MOST_ROWS)
    if answers is not None and expected is not None:
        training, evaluation = np.column_stack([training, answers]), np.column_stack([evaluation, expected])
    evaluation = evaluation[::step]
    both = np.concatenate([training, evaluation])
    if len(both) < 2 * _DIFFERENT:
        return None
    codes = np.column_stack([np.unique(column, return_inverse=True)[1] for column in both.T])
    counts = codes.max(axis=0) + 1
    has_target = answers is not None and expected is not None
    width = codes.shape[1] - has_target
    leading = [int(column) for column in np.argsort(-counts[:width])[:_LEADING]]
    leading = [column for column in leading if counts[column] >= max(_DIFFERENT, len(both) / 200)]
    if len(leading) < 2:
        return None
    old, new = codes[: len(training)], codes[len(training) :]
    seen = np.zeros(len(new), dtype=bool)
    for one, other in combinations(leading, 2):
        joined = codes[:, one].astype(np.int64) * counts[other] + codes[:, other]
        order = np.argsort(joined[: len(old)], kind="stable")
        ordered = joined[: len(old)][order]
        places = np.searchsorted(ordered, joined[len(old) :]).clip(max=len(old) - 1)
        hits = np.flatnonzero((ordered[places] == joined[len(old) :]) & ~seen)
        agree = old[order[places[hits]]] == new[hits]
        alike = agree[:, :width].mean(axis=1) >= _AGREE
        seen[hits[alike & agree[:, width:].all(axis=1)]] = True
    return float(seen.mean())
