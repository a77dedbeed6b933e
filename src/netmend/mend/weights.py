"""Weights of a model, wherever they lie: names, types and shapes, and the bits of each tensor."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from netmend.errors import UsageError
from netmend.mend.dtypes import Bits, bits_type, dtype_of


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
