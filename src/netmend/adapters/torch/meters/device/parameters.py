"""Gradients, weights and updates of many parameters, on behalf of the device meter."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np
from torch import Tensor

from netmend.adapters.torch.meters.device.lane import Lane
from netmend.adapters.torch.meters.device.launch import Launcher
from netmend.adapters.torch.meters.device.plain import sample
from netmend.adapters.torch.meters.device.rows import Numbers
from netmend.adapters.torch.meters.device.scan import is_scannable
from netmend.adapters.torch.meters.device.tables import SampleTable, ScanTable

UPDATE_SAMPLES = 65_536
DRIFT_SAMPLES = 4_096
_MOST_GROUPS = (
    32  # of different lists of names; more means that the lists keep changing, so old tables are useless
)


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
