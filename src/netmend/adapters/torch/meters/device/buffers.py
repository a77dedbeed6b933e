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
        self._rows = rows

    def numbers(self) -> Numbers:
        assert self.arrived is not None
        numbers: Numbers = self.arrived[: self._rows].numpy()
        return numbers

    def clear(self) -> None:
        self.busy = False
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


_SLOTS = 65_536  # results per step
_ROWS_PER_PAGE = 65_536  # 8 MiB: a step of ResNet-50 with all statistics needs about one and a half
_FLAGS_PER_PAGE = 1_048_576
_ROW_STRIDE = 16  # as in kernels.py
_BYTES_PER_SECOND = 3e12  # what the kernels read on an H200; slower devices train slower too


class Scratch:
    """Slots for results, rows of partial results, flags of units, results of torch operations; one step at a time."""

    def __init__(self, lane: Lane) -> None:
        self.rows = Pages(lambda size: lane.empty(size, _ROW_STRIDE, dtype=torch.float64), _ROWS_PER_PAGE)
        self.flags = Pages(lambda size: lane.empty(size, dtype=torch.uint8).zero_(), _FLAGS_PER_PAGE)
        self.places = lane.empty(_SLOTS, 4, dtype=torch.int64)
        self.slots = 0
        self.loose: list[Tensor] = []
        self.entries: list[Entry] = []
        self.refused = 0  # tensors beyond the number of slots
        self._bytes = 0

    def restart(self) -> None:
        """A new step: everything is free again."""
        self.slots = 0
        self.loose = []
        self.entries = []
        self.rows.reset()
        for page in self.flags.reset():
            page.zero_()

    def take_slots(self, count: int) -> int | None:
        """The first of `count` slots that follow one another; None when there are no more."""
        if self.slots + count > _SLOTS:
            self.refused += count
            return None
        self.slots += count
        return self.slots - count

    def for_many(self, rows: int) -> tuple[tuple[Tensor, Tensor, Tensor], int]:
        """Rows, places and flags for kernels that look at no units, and the first free row."""
        page, first_row = self.rows.take(rows)
        flags, _ = self.flags.take(0)
        return (page, self.places, flags), first_row

    def put(self, numbers: Tensor) -> int:
        """Keep the result of torch operations; the slot where it will be found."""
        self.loose.append(numbers)
        return -len(self.loose)

    def was_read(self, count: int) -> None:
        """Kernels were told to read that many bytes."""
        self._bytes += count

    def take_seconds(self) -> float:
        """Estimate of the time that reading took on the device since the last call."""
        seconds, self._bytes = self._bytes / _BYTES_PER_SECOND, 0
        return seconds

    def release(self) -> None:
        self.restart()
        self.rows.pages.clear()
        self.flags.pages.clear()
