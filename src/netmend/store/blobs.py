"""Blobs: arrays as little-endian bytes. The only binary data in a trace file."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from netmend.vocabulary.table import FloatArray, IntArray

STEPS = "<i8"
STREAMS = "<i4"
HASHES = "<i8"
SINGLE = "<f4"
DOUBLE = "<f8"

# Losses, rates and times are compared over long runs, where single precision would hide small changes.
DOUBLE_KINDS = frozenset({"step", "progress", "evaluation", "rate"})

Array = npt.NDArray[np.generic]


def number_type(kind: str) -> str:
    """How the values of this kind of table are stored."""
    return DOUBLE if kind in DOUBLE_KINDS else SINGLE


def round_to(values: FloatArray, number: str) -> Array:
    """The values in the stored type. What is finite stays finite: an inf must always mean a true inf."""
    if number == DOUBLE:
        return values.astype(DOUBLE)
    with np.errstate(over="ignore"):
        single = values.astype(SINGLE)
    overflown = np.isinf(single) & np.isfinite(values)
    if overflown.any():
        single[overflown] = np.copysign(np.finfo(np.float32).max, values[overflown])
    return single


def pack_hashes(hashes: Sequence[int]) -> bytes:
    """64-bit numbers; unsigned ones keep their bits and read back as signed."""
    try:
        return np.array(hashes, dtype=HASHES).tobytes()
    except OverflowError:
        return np.array([value & 0xFFFF_FFFF_FFFF_FFFF for value in hashes], dtype="<u8").tobytes()


def unpack(blob: bytes, number: str) -> Array:
    """The array behind a blob; ValueError when its length does not fit."""
    return np.frombuffer(blob, dtype=number)


def unpack_integers(blob: bytes, number: str) -> IntArray:
    return unpack(blob, number).astype(np.int64)


def unpack_floats(blob: bytes, number: str) -> FloatArray:
    return unpack(blob, number).astype(np.float64)
