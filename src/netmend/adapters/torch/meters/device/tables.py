"""Many tensors in one launch: tables on the device that say where each tensor lies and who reads which part.

A table belongs to a fixed list of names. Addresses are uploaded only when they have changed, the rest once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from netmend.adapters.torch.meters.device.lane import Lane
from netmend.adapters.torch.meters.device.launch import Launcher, triton_type
from netmend.adapters.torch.meters.device.plain import stride_for
from netmend.adapters.torch.meters.device.scan import tile_size

_CHUNK_TILES = 32  # 128 KiB per program
_BLOCK = 2_048  # samples per program


class _Table:
    """Addresses of tensors, four numbers about each, and (tensor, part) for every program."""

    def __init__(self, lane: Lane, tensors: Sequence[Tensor], shapes: list[tuple[int, int, int]]) -> None:
        """`shapes`: two numbers for the kernel, and how many programs the tensor gets."""
        self._lane = lane
        self.dtype = tensors[0].dtype
        self.tensors = len(tensors)
        flat: list[int] = []
        parts: list[int] = []
        self.programs = 0
        for index, (first, second, programs) in enumerate(shapes):
            flat += (first, second, self.programs, programs)
            for part in range(programs):
                parts += (index, part)
            self.programs += programs
        self.addresses = lane.empty(len(tensors), dtype=torch.int64)
        self.shapes = lane.empty(len(flat), dtype=torch.int32)
        self.parts = lane.empty(len(parts), dtype=torch.int32)
        lane.upload(self.shapes, flat)
        lane.upload(self.parts, parts)
        self._known: list[int] = []

    def point(self, addresses: list[int]) -> None:
        if addresses != self._known:
            self._lane.upload(self.addresses, addresses)
            self._known = addresses


class ScanTable(_Table):
    """All values of many tensors, for gradients and weights."""

    def __init__(self, lane: Lane, tensors: Sequence[Tensor]) -> None:
        tile = tile_size(tensors[0].dtype)
        shapes = []
        for tensor in tensors:
            full, tail = divmod(tensor.numel(), tile)
            shapes.append((full, tail, max(1, math.ceil((full + (tail > 0)) / _CHUNK_TILES))))
        super().__init__(lane, tensors, shapes)
        self._constants = (triton_type(self.dtype), tile, _CHUNK_TILES)

    def scan(self, launch: Launcher, scratch: tuple[Any, ...], first_slot: int, first_row: int) -> None:
        arguments = (
            self.addresses,
            self.shapes,
            self.parts,
            *scratch,
            first_slot,
            first_row,
            *self._constants,
        )
        launch(("scan_many", self.dtype), self.programs, arguments)


class SampleTable(_Table):
    """Evenly spaced elements of many tensors, kept to be compared with later values."""

    def __init__(self, lane: Lane, tensors: Sequence[Tensor], at_most: int) -> None:
        strides = [stride_for(tensor.numel(), at_most) for tensor in tensors]
        self.samples = [
            math.ceil(tensor.numel() / stride) for tensor, stride in zip(tensors, strides, strict=True)
        ]
        shapes = [
            (stride, count, math.ceil(count / _BLOCK))
            for stride, count in zip(strides, self.samples, strict=True)
        ]
        super().__init__(lane, tensors, shapes)
        self.sizes = np.array(self.samples, dtype=np.float64)
        self.read_bytes = 36 * sum(self.samples)  # each takes 32 bytes of its tensor along
        self.kept = lane.empty(sum(self.samples), dtype=torch.float32)
        self._places = lane.empty(len(tensors), dtype=torch.int64)
        offsets = [sum(self.samples[:index]) for index in range(len(self.samples))]
        lane.upload(self._places, [self.kept.data_ptr() + 4 * offset for offset in offsets])
        self._offsets = offsets

    def kept_of(self, index: int) -> Tensor:
        return self.kept[self._offsets[index] : self._offsets[index] + self.samples[index]]

    def keep(self, launch: Launcher) -> None:
        arguments = (self.addresses, self._places, self.shapes, self.parts, triton_type(self.dtype), _BLOCK)
        launch(("keep_samples", self.dtype), self.programs, arguments)

    def compare(self, launch: Launcher, scratch: tuple[Any, ...], first_slot: int, first_row: int) -> None:
        arguments = (
            self.addresses, self._places, self.shapes, self.parts, *scratch, first_slot, first_row,
            triton_type(self.dtype), _BLOCK,
        )  # fmt: skip
        launch(("compare_samples", self.dtype), self.programs, arguments)
