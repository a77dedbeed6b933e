"""A patch of weights: which elements of which tensors change, from which bits to which; the model that it belongs to, and whether it is in it.

Both sides are kept as bits, so a patch can be taken out again and the weights are what they were, bit for bit.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

import numpy as np

from netmend.errors import UsageError
from netmend.mend.safetensors_format import refuse_bad_name
from netmend.mend.weights import (
    PATCHABLE,
    Bits,
    Indices,
    Layout,
    Weights,
    bits_type,
    finite,
    numbers,
    plain_bytes,
)


@dataclass(frozen=True, eq=False)
class Piece:
    """The changed elements of one tensor: flat indices, growing, with the bits before and after."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    indices: Indices
    old: Bits
    new: Bits

    def __post_init__(self) -> None:
        refuse_bad_name(self.name, "the patch")
        where = f"the patch of {self.name}"
        if self.dtype not in PATCHABLE:
            raise UsageError(f"{where}: the type {self.dtype} cannot be patched; one of {_LIST} can")
        wanted = bits_type(self.dtype)
        if self.indices.dtype != np.int64 or self.old.dtype != wanted or self.new.dtype != wanted:
            raise UsageError(f"{where}: indices must be int64 and values bits of {self.dtype} ({wanted})")
        if self.indices.ndim != 1 or not self.indices.shape == self.old.shape == self.new.shape:
            raise UsageError(
                f"{where}: {self.indices.size} indices, {self.old.size} values before and {self.new.size} after; "
                "there must be as many of each"
            )
        ends = (int(self.indices[0]), int(self.indices[-1])) if self.indices.size else (0, -1)
        if ends[0] < 0 or ends[1] >= self.size or np.any(self.indices[1:] <= self.indices[:-1]):
            raise UsageError(f"{where}: indices must grow, without repetition, from 0 to {self.size - 1}")
        for array in (self.indices, self.old, self.new):
            array.setflags(write=False)

    @property
    def size(self) -> int:
        """Elements of the whole tensor."""
        return math.prod(self.shape)

    @property
    def layout(self) -> Layout:
        return Layout(self.dtype, self.shape)

    @cached_property
    def touched(self) -> int:
        """Elements that really change; a piece that lists a whole tensor may name others, too."""
        return int(np.count_nonzero(self.old != self.new))

    @cached_property
    def norm(self) -> float:
        """The length of the change, as a vector."""
        with np.errstate(invalid="ignore", over="ignore"):
            change = numbers(self.new, self.dtype) - numbers(self.old, self.dtype)
            return float(np.sqrt(np.square(change).sum()))

    def inverted(self) -> Piece:
        return Piece(self.name, self.shape, self.dtype, self.indices, self.new, self.old)


@dataclass(frozen=True, eq=False)
class Patch:
    """Pieces in the order of their names, the model that they belong to, and facts about how they were found."""

    pieces: tuple[Piece, ...]
    model: Fingerprint
    meta: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = [piece.name for piece in self.pieces]
        if names != sorted(set(names)):
            raise UsageError("the pieces of a patch must be sorted by name, each tensor once")
        for piece in self.pieces:
            mark = self.model.marks.get(piece.name)
            if mark is None or mark.layout != piece.layout:
                stands = "not there" if mark is None else str(mark.layout)
                raise UsageError(
                    f"the patch of {piece.name} ({piece.layout}) contradicts its own fingerprint ({stands})"
                )

    def inverted(self) -> Patch:
        """The patch that takes this one out again."""
        return Patch(tuple(piece.inverted() for piece in self.pieces), self.model, self.meta)

    @property
    def touched(self) -> int:
        return sum(piece.touched for piece in self.pieces)

    @property
    def share(self) -> float:
        """The part of all elements of the model that changes."""
        return self.touched / self.model.elements if self.model.elements else 0.0

    @property
    def norm(self) -> float:
        return math.hypot(*(piece.norm for piece in self.pieces))

    def __iter__(self) -> Iterator[Piece]:
        return iter(self.pieces)

    def refuse_non_finite(self) -> None:
        """A weight that becomes infinite or NaN is never a repair."""
        for piece in self.pieces:
            bad = int(np.count_nonzero(~finite(piece.new, piece.dtype) & (piece.new != piece.old)))
            if bad:
                raise UsageError(
                    f"the patch would make {bad} of {piece.touched} changed values of {piece.name} infinite or NaN; "
                    "such patches are neither written nor applied"
                )


def patch_between(before: Weights, after: Weights, meta: Mapping[str, str] | None = None) -> Patch:
    """What changes one model into the other; both must have the same tensors."""
    layout, other = before.layout, after.layout
    if layout != other:
        name = min(name for name in {*layout, *other} if layout.get(name) != other.get(name))
        raise UsageError(
            f"the two models are built differently: {name} is {layout.get(name, 'missing')} in the first "
            f"and {other.get(name, 'missing')} in the second; a patch only changes values"
        )
    pieces = [piece for name in sorted(layout) if (piece := _piece(name, layout[name], before, after))]
    indices = {piece.name: piece.indices for piece in pieces}
    return Patch(tuple(pieces), fingerprint(before, indices), dict(meta or {}))


def _piece(name: str, layout: Layout, before: Weights, after: Weights) -> Piece | None:
    old, new = before.bits(name), after.bits(name)
    changed = np.flatnonzero(old != new)
    if not changed.size:
        return None
    # An index costs four bytes in the file, unless all elements are listed.
    width = 2 * old.itemsize
    if changed.size * (4 + width) >= old.size * width:
        changed = np.arange(old.size)
    indices = changed.astype(np.int64)
    return Piece(name, layout.shape, layout.dtype, indices, np.array(old[indices]), np.array(new[indices]))


_LIST = ", ".join(sorted(PATCHABLE))


# What a patch knows of its model: every tensor's type and shape, and a hash of all that the patch leaves alone.
#
# Together with the old values in the patch this names one model in one version; another one is told from it, and so is one
# in which the patch already is, since the hashes are the same before and after.

DIGEST = re.compile(r"[0-9a-f]{32}")
_ELEMENTS_AT_ONCE = 1 << 22


@dataclass(frozen=True)
class Mark:
    """One tensor: how it is built, and a hash of its bits with zeros in place of what the patch replaces."""

    layout: Layout
    rest: str


@dataclass(frozen=True)
class Fingerprint:
    """All tensors of a model, by name."""

    marks: Mapping[str, Mark]

    @cached_property
    def elements(self) -> int:
        return sum(mark.layout.size for mark in self.marks.values())

    @cached_property
    def short(self) -> str:
        """Twelve signs for people: alike only if all marks are."""
        whole = hashlib.sha256()
        for name, mark in sorted(self.marks.items()):
            whole.update(f"{name}\0{mark.layout}\0{mark.rest}\n".encode("utf-8", "surrogatepass"))
        return whole.hexdigest()[:12]


def fingerprint(weights: Weights, touched: Mapping[str, Indices]) -> Fingerprint:
    """Of a model, for a patch that replaces the given elements."""
    return Fingerprint(
        {
            name: Mark(layout, rest_digest(weights.bits(name), touched.get(name)))
            for name, layout in sorted(weights.layout.items())
        }
    )


def rest_digest(bits: Bits, touched: Indices | None = None) -> str:
    """A hash of the bits, in pieces that need little memory; touched elements count as zeros."""
    digest = hashlib.sha256()
    for start in range(0, bits.size, _ELEMENTS_AT_ONCE):
        part = bits[start : start + _ELEMENTS_AT_ONCE]
        if touched is not None:
            first, last = np.searchsorted(touched, [start, start + part.size])
            if last > first:
                part = np.array(part)
                part[touched[first:last] - start] = 0
        digest.update(plain_bytes(part))
    return digest.hexdigest()[:32]


# Whether a patch belongs to a model, and whether it is in it.


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
