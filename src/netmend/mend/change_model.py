"""A patch put into a model and taken out again: its single changes, other files, nobody's file overwritten unasked."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from netmend.errors import UsageError
from netmend.mend.files import written_whole
from netmend.mend.model_files import ModelFile, open_model
from netmend.mend.patch import Patch, Piece, State, fingerprint, fit
from netmend.mend.patch_file import read_patch
from netmend.mend.weights import Weights, numbers

# The single changes of a patch, the largest first.


@dataclass(frozen=True)
class Change:
    """One element: its place in the tensor, and its value before and after."""

    name: str
    place: tuple[int, ...]
    old: float
    new: float


def largest_changes(patch: Patch, count: int) -> tuple[Change, ...]:
    """The elements that move farthest; equal ones in the order of the patch."""
    found = [change for piece in patch.pieces for change in _largest_of(piece, count)]
    return tuple(sorted(found, key=lambda change: -_distance(change))[:count])


def _largest_of(piece: Piece, count: int) -> Iterable[Change]:
    old, new = numbers(piece.old, piece.dtype), numbers(piece.new, piece.dtype)
    with np.errstate(invalid="ignore"):
        distance = np.abs(new - old)
    distance[np.isnan(distance)] = np.inf  # from or to NaN: farther than anything
    distance[piece.old == piece.new] = -1.0
    for at in np.argsort(-distance, kind="stable")[: min(count, piece.touched)]:
        place = tuple(int(part) for part in np.unravel_index(int(piece.indices[at]), piece.shape))
        yield Change(piece.name, place, float(old[at]), float(new[at]))


def _distance(change: Change) -> float:
    distance = abs(change.new - change.old)
    return distance if distance == distance else np.inf


# A patch made on a model in memory, for the file that its weights came from.


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


# Putting a patch into a model on disk and taking it out again; nobody's file is overwritten unasked.


@dataclass(frozen=True)
class Changed:
    """What was done: the patch, where the changed model lies, and the patch that was kept beside it."""

    patch: Patch
    model: Path
    out: Path
    before: State
    after: State
    kept: Path | None = None

    @property
    def in_place(self) -> bool:
        return self.model == self.out


def change_model(
    patch_path: Path,
    model_path: Path,
    wanted: State,
    out: Path | None = None,
    in_place: bool = False,
    force: bool = False,
) -> Changed:
    """Bring the model into the wanted state (IN or OUT) with respect to the patch."""
    if out is not None and in_place:
        raise UsageError("--out and --in-place exclude each other; give one of them")
    patch, model = read_patch(patch_path), open_model(model_path)
    target = model.path if in_place else out or _name(model, wanted)
    if not in_place:
        _refuse_occupied(target, model, patch_path, force)
    state = fit(patch, model, str(model_path))
    if state is wanted and patch.pieces:
        raise UsageError(
            f"the patch is already in {model_path}; take it out with: netmend mend revert"
            if wanted is State.IN
            else f"the patch is not in {model_path}; there is nothing to take out"
        )
    pieces = (patch if wanted is State.IN else patch.inverted()).pieces
    if not in_place:
        model.write(pieces, target)
        return Changed(patch, model.path, target, state, wanted)
    kept = _keep_beside(patch_path, model.path)
    model.change(pieces)
    return Changed(patch, model.path, target, state, wanted, kept)


def _name(model: ModelFile, wanted: State) -> Path:
    """`model.safetensors` → `model-mended.safetensors`; a folder likewise."""
    word = "mended" if wanted is State.IN else "reverted"
    path = model.path.absolute()
    suffix = "" if path.is_dir() else path.suffix
    return path.with_name(f"{path.name.removesuffix(suffix)}-{word}{suffix}")


def _refuse_occupied(out: Path, model: ModelFile, patch: Path, force: bool) -> None:
    if not out.exists():
        return
    if out.samefile(model.path):
        raise UsageError(f"{out} is the model itself; use --in-place to change it")
    if out.samefile(patch):
        raise UsageError(f"{out} is the patch itself; name another file")
    if model.path.is_dir():
        raise UsageError(f"{out} is already there; name a folder that is not, with --out")
    if out.is_dir():
        raise UsageError(f"{out} is a folder; name a file with --out")
    if not force:
        raise UsageError(
            f"{out} is already there; name another file with --out, or overwrite it with --force"
        )


def _keep_beside(patch: Path, model: Path) -> Path:
    """The patch must survive where the model is, or the change could not be taken out later.

    Not called .safetensors: some loaders take every file of that name in a folder for weights.
    """
    folder = model if model.is_dir() else model.absolute().parent
    if patch.absolute().parent == folder.absolute():
        return patch
    name = hashlib.sha256(patch.read_bytes()).hexdigest()[:8]
    kept = folder / f"{'model' if model.is_dir() else model.name}.netmend-{name}.patch"
    if not kept.exists():
        with written_whole(kept) as temporary:
            shutil.copyfile(patch, temporary)
    return kept
