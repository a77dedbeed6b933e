"""Weights of a model, wherever they lie, and the types in which their bits are stored."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from netmend.errors import UsageError

# Types of stored numbers: how wide they are, and what their bits stand for.
#
# Patches hold bits, not numbers: numpy knows no bfloat16, and a NaN need not survive a conversion.

Bits = npt.NDArray[Any]  # unsigned whole numbers, as wide as the stored type
Indices = npt.NDArray[np.int64]

# Bits of one element, by the names of the safetensors format. Types below a byte can be read past, not patched.
WIDTHS = {
    "BOOL": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8,
    "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32,
    "C64": 64, "F64": 64, "I64": 64, "U64": 64,
}  # fmt: skip

_NUMPY = {
    "U8": "<u1", "I8": "<i1", "U16": "<u2", "I16": "<i2", "U32": "<u4", "I32": "<i4", "U64": "<u8", "I64": "<i8",
    "F16": "<f2", "F32": "<f4", "F64": "<f8",
}  # fmt: skip
_EXPONENTS = {"F16": 0x7C00, "BF16": 0x7F80, "F32": 0x7F800000, "F64": 0x7FF0000000000000}

PATCHABLE = frozenset({*_NUMPY, "BF16"})


def bits_type(dtype: str) -> np.dtype[Any]:
    """The unsigned type whose elements hold the bits of one stored number; bytes where that is not a whole one."""
    width = WIDTHS[dtype]
    return np.dtype(f"<u{width // 8}") if width % 8 == 0 else np.dtype("<u1")


def plain_bytes(bits: Bits) -> memoryview:
    """The bits as they lie in a file, without a copy where they lie side by side."""
    return np.ascontiguousarray(bits).view("<u1").data


def numbers(bits: Bits, dtype: str) -> npt.NDArray[np.float64]:
    """What the bits stand for; whole numbers beyond 2**53 are rounded."""
    held = np.ascontiguousarray(bits)
    if dtype == "BF16":
        return (held.astype("<u4") << 16).view("<f4").astype(np.float64)
    return held.view(_NUMPY[dtype]).astype(np.float64)


def finite(bits: Bits, dtype: str) -> npt.NDArray[np.bool_]:
    """Which elements are neither infinite nor NaN."""
    if dtype not in _EXPONENTS:
        return np.ones(bits.shape, dtype=np.bool_)
    mask = bits.dtype.type(_EXPONENTS[dtype])
    found: npt.NDArray[np.bool_] = (bits & mask) != mask
    return found


def dtype_of(array: npt.NDArray[Any]) -> str:
    """The name of a numpy array's type in the safetensors format; "" where it has none."""
    given = array.dtype.newbyteorder("<").str.replace("|", "<")
    return next((name for name, code in _NUMPY.items() if np.dtype(code).str.replace("|", "<") == given), "")


# Weights of a model, wherever they lie: names, types and shapes, and the bits of each tensor.


@dataclass(frozen=True)
class Layout:
    """The type (named as in safetensors) and the shape of one tensor."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def __str__(self) -> str:
        return f"{self.dtype} {list(self.shape)}"


class Weights(Protocol):
    """What patches are made of, fingerprinted and compared with."""

    @property
    def layout(self) -> Mapping[str, Layout]: ...

    def bits(self, name: str) -> Bits:
        """All bits of a tensor, flat, in row-major order; not to be written to."""
        ...


class Arrays:
    """Weights in numpy arrays: `Arrays({"weight": array})`."""

    def __init__(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        for name, array in arrays.items():
            if not dtype_of(array):
                raise UsageError(f"{name} holds {array.dtype}, which patches do not know; give numbers")
        self._arrays = dict(arrays)

    @property
    def layout(self) -> Mapping[str, Layout]:
        return {name: Layout(dtype_of(array), array.shape) for name, array in self._arrays.items()}

    def bits(self, name: str) -> Bits:
        array = np.ascontiguousarray(self._arrays[name])
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        return array.reshape(-1).view(bits_type(dtype_of(array)))
