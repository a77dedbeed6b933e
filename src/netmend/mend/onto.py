"""A patch made on a model in memory, for the file that its weights came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from netmend.errors import UsageError
from netmend.mend.fingerprint import fingerprint
from netmend.mend.fit import State, fit
from netmend.mend.patch import Patch
from netmend.mend.weights import Weights


def patch_onto(patch: Patch, weights: Weights, names: Mapping[str, str], where: str) -> Patch:
    """The same changes under the file's names, fingerprinted on the file; refused should the file hold other values."""
    pieces = tuple(
        sorted(
            (replace(piece, name=names.get(piece.name, piece.name)) for piece in patch.pieces),
            key=lambda piece: piece.name,
        )
    )
    for piece in pieces:
        if weights.layout.get(piece.name) != piece.layout:
            raise UsageError(
                f"{piece.name} is {piece.layout} in the model and {weights.layout.get(piece.name, 'missing')} in {where}, "
                "so a patch would not fit; save the model again and mend that"
            )
    marks = fingerprint(weights, {piece.name: piece.indices for piece in pieces})
    made = Patch(pieces, marks, patch.meta)
    if pieces and fit(made, weights, where) is not State.OUT:
        raise UsageError(f"{where} holds other values than the model that was mended; save the model again")
    return made
