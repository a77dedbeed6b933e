"""How one activation is read: which part of memory each program takes, and what its lanes mean.

Memory is read in its own order, whatever the axes are called. To know which units (channels, features) are silent, a lane must
meet the same unit in every tile of its program; that holds when the number of programs is a multiple of a period that follows
from the layout. So one kernel serves contiguous [.., C], NCHW and channels-last without any index arithmetic in its loop.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass

import torch
from torch import Tensor

from netmend.adapters.torch.meters.device.lane import REGISTERS
from netmend.adapters.torch.meters.device.plain import SPREAD_SAMPLES, stride_for
from netmend.adapters.torch.meters.host_meter import FLAT_ENDS
from netmend.library.activations import RELU_LIKE

TILE_BYTES = 4_096  # 16 bytes for each of 256 threads
SPREAD_TILE = 512
_SPREAD_POSITIONS = 2_048  # positions of a sample at which samples are compared
_PROGRAMS_PER_PROCESSOR = 2
_MOST_PROGRAMS = 4_096  # beyond this the partial results would cost more than they are worth
_REGISTERS_BOUNDED = 96  # one more counter per value
_SCANNED = (torch.float32, torch.bfloat16, torch.float16)


@dataclass(frozen=True)
class ScanPlan:
    """Everything about the launch that follows from shape, layout and function."""

    count: int
    units: int  # 0: not looked at
    rows: int  # programs, those for sample_spread included
    saturation: bool
    registers: int  # per thread
    record: tuple[int, ...]  # what the kernel is told, see GroupTable


def is_dense(tensor: Tensor) -> bool:
    """Whether the values fill their stretch of memory exactly once, in whatever order."""
    if tensor.is_contiguous():
        return True
    expected = 1
    for stride, size in sorted(zip(tensor.stride(), tensor.shape, strict=True)):
        if size == 1:
            continue
        if stride != expected:
            return False
        expected *= size
    return True


def is_scannable(tensor: Tensor) -> bool:
    return (
        tensor.dtype in _SCANNED
        and tensor.layout is torch.strided
        and tensor.numel() > 0
        and not tensor.is_neg()
        and is_dense(tensor)
    )


def tile_size(dtype: torch.dtype) -> int:
    return TILE_BYTES // dtype.itemsize


def unit_axis_of(tensor: Tensor, unit_axis: int) -> int | None:
    """The axis of units, counted from the front; None when there is none beside the samples."""
    if tensor.dim() < 2:
        return None
    axis = unit_axis % tensor.dim()
    return axis if axis else None


def plan_scan(tensor: Tensor, unit_axis: int, function: str | None, processors: int) -> ScanPlan | None:
    """None when plain torch operations have to do it."""
    if not is_scannable(tensor) or function == "hardtanh":
        return None
    count = tensor.numel()
    tile = tile_size(tensor.dtype)
    tiles = math.ceil(count / tile)
    most = processors * _PROGRAMS_PER_PROCESSOR
    programs = _even_programs(tiles, most)
    axis = unit_axis_of(tensor, unit_axis)
    units = unit_width = 1
    wants_units = axis is not None and (function is None or function in RELU_LIKE)
    if wants_units:
        assert axis is not None
        units, unit_width = tensor.shape[axis], tensor.stride(axis) if tensor.shape[axis] > 1 else 1
        period = units * unit_width // math.gcd(units * unit_width, tile)
        if programs < tiles:  # otherwise every program has one tile only, and any number will do
            above = math.ceil(programs / period) * period
            programs = above if above <= most else max(1, programs // period) * period
        if min(programs, tiles) > _MOST_PROGRAMS:
            if function in RELU_LIKE:
                return None
            wants_units = False
            programs = _even_programs(tiles, most)
        programs = min(programs, tiles)
    samples, sample_size, positions, step = _spread_positions(tensor)
    low_end, high_end = FLAT_ENDS.get(function or "", (0.0, 0.0))
    saturation = function in FLAT_ENDS
    rows = programs + math.ceil(positions / SPREAD_TILE)
    looked_at = units if wants_units else 0
    record = (
        programs, count // tile, count % tile, looked_at, unit_width, float_bits(low_end), float_bits(high_end),
        max(samples, 1), sample_size, positions, step,
    )  # fmt: skip
    registers = _REGISTERS_BOUNDED if saturation else REGISTERS
    return ScanPlan(count, looked_at, rows, saturation, registers, record)


def float_bits(value: float) -> int:
    """The integer with the same bits as a float32, to pass both in one table."""
    bits: int = struct.unpack("<i", struct.pack("<f", value))[0]
    return bits


def _even_programs(tiles: int, most: int) -> int:
    """Programs with equal work: a multiple of four tiles each, as the kernel reads them, when there are enough."""
    each = math.ceil(tiles / most)
    if each > 4:
        each = math.ceil(each / 4) * 4
    return math.ceil(tiles / each)


def _spread_positions(tensor: Tensor) -> tuple[int, int, int, int]:
    """Samples to compare, elements from one to the next, positions to compare them at, distance of these positions."""
    if tensor.dim() < 2 or tensor.shape[0] < 2:
        return 0, 0, 0, 1
    sample_size = tensor.numel() // tensor.shape[0]
    if tensor.stride(0) != sample_size or sample_size >= 2**31:
        return 0, 0, 0, 1  # samples are interleaved in memory
    step = stride_for(sample_size, _SPREAD_POSITIONS)
    positions = math.ceil(sample_size / step)
    samples = min(SPREAD_SAMPLES, tensor.shape[0])
    distance = sample_size * max(
        1, tensor.shape[0] // SPREAD_SAMPLES
    )  # from all over the batch, as in host_meter
    return samples, distance if distance < 2**31 else sample_size, positions, step
