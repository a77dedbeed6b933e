"""Gradients, weights and updates of many parameters, on behalf of the device meter: the tables of one launch, and what they stand for."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from netmend.adapters.torch.meters.device.lane import Lane, Launcher, triton_type
from netmend.adapters.torch.meters.device.plain import sample, stride_for
from netmend.adapters.torch.meters.device.rows import Numbers
from netmend.adapters.torch.meters.device.scan import is_scannable, tile_size

# Many tensors in one launch: tables on the device that say where each tensor lies and who reads which part.
#
# A table belongs to a fixed list of names. Addresses are uploaded only when they have changed, the rest once.

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


UPDATE_SAMPLES = 65_536
DRIFT_SAMPLES = 4_096
_MOST_GROUPS = 32  # different lists of names; more means that they keep changing: old tables are useless


@dataclass
class Group:
    """Tensors of one dtype that one launch can read, and the tables for it."""

    indices: list[int]  # positions in the list that was asked for
    names: list[str]
    counts: Numbers
    bytes: int
    scan: ScanTable | None = None
    samples: SampleTable | None = None

    def point(self, addresses: list[int]) -> None:
        own = [addresses[index] for index in self.indices]
        for table in (self.scan, self.samples):
            if table is not None:
                table.point(own)


@dataclass
class Roster:
    """One list of names: the groups read by kernels, and those left to plain torch operations."""

    counts: list[int]
    groups: list[Group]
    plain: list[int]
    addresses: list[int] = field(default_factory=list)


class Rosters:
    """Finds or builds the tables for a list of parameters; what it keeps is bounded."""

    def __init__(self, lane: Lane, kernels: bool) -> None:
        self._lane = lane
        self._kernels = kernels
        self._rosters: dict[Hashable, Roster] = {}

    def find(self, purpose: str, names: Sequence[str], tensors: Sequence[Tensor]) -> tuple[Roster, bool]:
        """The roster with its tables pointing at these tensors, and whether it is new."""
        key = (purpose, tuple(names))
        roster = self._rosters.get(key)
        addresses = _addresses(tensors)
        counts = [tensor.numel() for tensor in tensors]
        if roster is not None and roster.counts == counts:
            if roster.addresses == addresses:
                return roster, False
            if all(_readable(tensors[i], addresses[i]) for group in roster.groups for i in group.indices):
                self._point(roster, addresses)
                return roster, False
        if len(self._rosters) >= _MOST_GROUPS:
            self._rosters.clear()
        roster = self._build(purpose, names, tensors, addresses, counts)
        self._rosters[key] = roster
        self._point(roster, addresses)
        return roster, True

    @staticmethod
    def _point(roster: Roster, addresses: list[int]) -> None:
        for group in roster.groups:
            group.point(addresses)
        roster.addresses = addresses

    def _build(
        self,
        purpose: str,
        names: Sequence[str],
        tensors: Sequence[Tensor],
        addresses: list[int],
        counts: list[int],
    ) -> Roster:
        by_type: dict[object, list[int]] = {}
        plain = []
        for index, tensor in enumerate(tensors):
            if self._kernels and _readable(tensor, addresses[index]):
                by_type.setdefault(tensor.dtype, []).append(index)
            elif tensor.numel():
                plain.append(index)
        groups = []
        for indices in by_type.values():
            chosen = [tensors[index] for index in indices]
            sizes = np.array([counts[index] for index in indices], dtype=np.float64)
            size = int(sizes.sum()) * chosen[0].element_size()
            group = Group(indices, [names[index] for index in indices], sizes, size)
            if purpose != "update":
                group.scan = ScanTable(self._lane, chosen)
            if purpose != "gradient":
                at_most = UPDATE_SAMPLES if purpose == "update" else DRIFT_SAMPLES
                group.samples = SampleTable(self._lane, chosen, at_most)
            groups.append(group)
        return Roster(counts, groups, plain)

    def clear(self) -> None:
        self._rosters.clear()


class Firsts:
    """The samples of each weight as it was when first seen, to measure its drift."""

    def __init__(self) -> None:
        self._first: dict[str, Tensor] = {}

    def adopt(self, group: Group, launch: Launcher) -> None:
        """Fill a new group's kept samples: from the first time where that is known, from now elsewhere."""
        table = group.samples
        assert table is not None
        table.keep(launch)
        for index, name in enumerate(group.names):
            kept = table.kept_of(index)
            first = self._first.get(name)
            if first is not None and first.shape == kept.shape:
                kept.copy_(first)
            self._first[name] = kept

    def plain(self, name: str, tensor: Tensor) -> tuple[Tensor, Tensor]:
        """Samples of now and of the first time."""
        now = sample(tensor, DRIFT_SAMPLES)
        first = self._first.get(name)
        if first is None or first.shape != now.shape:
            first = self._first[name] = now.clone()
        return now, first

    def clear(self) -> None:
        self._first.clear()


def _addresses(tensors: Sequence[Tensor]) -> list[int]:
    """Where the tensors lie; 0 for sparse ones, which lie in several places."""
    try:
        return [tensor.data_ptr() for tensor in tensors]
    except RuntimeError:
        return [0 if tensor.is_sparse else tensor.data_ptr() for tensor in tensors]


def _readable(tensor: Tensor, address: int) -> bool:
    return not tensor.is_sparse and address % 16 == 0 and is_scannable(tensor)
