"""Memory of the device meter: scratch for one step, results of the steps in flight, scalars on their way."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

from netmend.adapters.torch.meters.device.lane import Lane, Milestone
from netmend.adapters.torch.meters.device.rows import COLUMNS, Entry, Numbers

_GROUP = 64  # scalars fetched together
_GROUPS = 8
_PATIENCE = 0.25  # seconds after which an unfilled group of scalars is fetched all the same


class Pages:
    """Scratch memory handed out piece by piece and taken back whole at the next step; pages are made once."""

    def __init__(self, make: Callable[[int], Tensor], size: int) -> None:
        self._make = make
        self._size = size
        self._page = self._used = 0
        self.pages: list[Tensor] = []

    def take(self, count: int) -> tuple[Tensor, int]:
        """A page and the index in it from which `count` places are free."""
        while self._page < len(self.pages):
            page = self.pages[self._page]
            if self._used + count <= page.shape[0]:
                self._used += count
                return page, self._used - count
            self._page, self._used = self._page + 1, 0
        page = self._make(max(count, self._size))
        self.pages.append(page)
        self._used = count
        return page, 0

    def reset(self) -> list[Tensor]:
        """Everything is free again; returns the pages that had been used."""
        used = self.pages[: self._page + 1]
        self._page = self._used = 0
        return used


@dataclass
class Batch:
    """Results of one step, until they have arrived on the host."""

    milestone: Milestone
    step: int = 0
    busy: bool = False
    sent: bool = False
    entries: list[Entry] = field(default_factory=list)
    norm_keys: list[object] = field(default_factory=list)  # those who wait for the norm of all gradients
    results: Tensor | None = None  # on the device
    arrived: Tensor | None = None  # on the host

    def send(self, lane: Lane, slots: int, loose: list[Tensor], fold: Callable[[Tensor], None]) -> None:
        """Fold the step's partial results and start moving them to the host.

        `loose` results came from torch operations; the k-th of them is found at index -1 - k.
        """
        rows = slots + len(loose)
        if self.results is None or self.results.shape[0] < rows:
            capacity = max(256, rows + rows // 4)
            self.results = lane.empty(capacity, COLUMNS, dtype=torch.float64)
            self.arrived = lane.host(capacity, COLUMNS, dtype=torch.float64)
        assert self.arrived is not None
        if slots:
            fold(self.results)
        if loose:
            torch.stack(loose[::-1], out=self.results[slots:rows])
        self.arrived[:rows].copy_(self.results[:rows], non_blocking=True)
        self.milestone.set()
        self.sent = True
        self._rows = rows

    def numbers(self) -> Numbers:
        assert self.arrived is not None
        numbers: Numbers = self.arrived[: self._rows].numpy()
        return numbers

    def clear(self) -> None:
        self.busy = self.sent = False
        self.entries = []
        self.norm_keys = []


class ScalarRing:
    """Single values on their way to the host: one small copy each, one fetch for many."""

    def __init__(self, lane: Lane) -> None:
        self._lane = lane
        self._cells = lane.empty(_GROUPS, _GROUP, 1, dtype=torch.float64)
        self._arrived = lane.host(_GROUPS, _GROUP, 1, dtype=torch.float64)
        self._milestones = [Milestone(lane) for _ in range(_GROUPS)]
        self._keys: list[list[object]] = [[] for _ in range(_GROUPS)]
        self._flying: list[int] = []  # groups being fetched, oldest first
        self._filling = 0
        self._since = 0.0
        self.lost = 0

    def put(self, key: object, tensor: Tensor) -> None:
        keys = self._keys[self._filling]
        if self._filling in self._flying:
            # The host is hundreds of values ahead of the device; losing one beats waiting.
            self.lost += 1
            return
        if not keys:
            self._since = time.monotonic()
        self._cells[self._filling, len(keys)].copy_(tensor.detach().reshape(1), non_blocking=True)
        keys.append(key)
        if len(keys) == _GROUP:
            self.flush()

    def flush(self) -> None:
        """Start fetching what has been put so far."""
        group = self._filling
        count = len(self._keys[group])
        if not count or group in self._flying:
            return
        self._arrived[group, :count].copy_(self._cells[group, :count], non_blocking=True)
        self._milestones[group].set()
        self._flying.append(group)
        self._filling = (group + 1) % _GROUPS

    def collect(self, arrived: Callable[[object, float], None], wait: bool) -> None:
        if wait or (self._keys[self._filling] and time.monotonic() - self._since > _PATIENCE):
            self.flush()
        while self._flying:
            group = self._flying[0]
            if wait:
                self._milestones[group].wait()
            elif not self._milestones[group].reached():
                return
            keys, self._keys[group] = self._keys[group], []
            self._flying.pop(0)
            for key, value in zip(keys, self._arrived[group, : len(keys), 0].tolist(), strict=True):
                arrived(key, value)
