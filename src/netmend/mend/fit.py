"""Whether a patch belongs to a model, and whether it is in it."""

from __future__ import annotations

from enum import Enum

import numpy as np

from netmend.errors import UsageError
from netmend.mend.patch import Patch, rest_digest
from netmend.mend.weights import Weights


class State(Enum):
    """Where a model stands with a patch that was made for it."""

    OUT = "not applied"
    IN = "applied"
    # every value is the old or the new one: an in-place change of several files broke off
    HALF = "half applied"


def fit(patch: Patch, weights: Weights, name: str) -> State:
    """The state of the model of that name; any other model, or version of it, is refused with what differs."""
    _refuse_other_layout(patch, weights, name)
    touched = {piece.name: piece for piece in patch.pieces}
    changed = [
        tensor
        for tensor, mark in patch.model.marks.items()
        if mark.rest
        != rest_digest(weights.bits(tensor), touched[tensor].indices if tensor in touched else None)
    ]
    if changed:
        raise UsageError(
            f"the patch was made for another model, or another version of it: {len(changed)} of "
            f"{len(patch.model.marks)} tensors of {name} hold other values, {changed[0]} for one. "
            "Give the model that the patch was made for"
        )
    before = after = True
    for piece in patch.pieces:
        now = weights.bits(piece.name)[piece.indices]
        is_old, is_new = now == piece.old, now == piece.new
        other = int(np.count_nonzero(~(is_old | is_new)))
        if other:
            raise UsageError(
                f"the patch was made for another version of the model: {other} of {piece.indices.size} values of "
                f"{piece.name} in {name} are neither those that the patch replaces nor those that it puts in. "
                "Give the model that the patch was made for"
            )
        before, after = before and bool(is_old.all()), after and bool(is_new.all())
    return State.OUT if before else State.IN if after else State.HALF


def _refuse_other_layout(patch: Patch, weights: Weights, name: str) -> None:
    wanted = {tensor: mark.layout for tensor, mark in patch.model.marks.items()}
    given = weights.layout
    missing, more = sorted(wanted.keys() - given.keys()), sorted(given.keys() - wanted.keys())
    if missing or more:
        parts = [f"{len(missing)} tensors are missing ({missing[0]})"] if missing else []
        parts += [f"{len(more)} are unknown to the patch ({more[0]})"] if more else []
        raise UsageError(
            f"the patch was made for another model: of the tensors of {name}, {' and '.join(parts)}. "
            "Give the model that the patch was made for"
        )
    for tensor, layout in wanted.items():
        if given[tensor] != layout:
            raise UsageError(
                f"the patch was made for another model: {tensor} is {given[tensor]} in {name} and {layout} in the patch. "
                "Give the model that the patch was made for"
            )
