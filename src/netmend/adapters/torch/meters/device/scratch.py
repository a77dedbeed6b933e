"""Scratch: what the kernels of one step write into, and the entries that say what it means."""

from __future__ import annotations

import torch
from torch import Tensor

from netmend.adapters.torch.meters.device.buffers import Pages
from netmend.adapters.torch.meters.device.lane import Lane
from netmend.adapters.torch.meters.device.rows import Entry

_SLOTS = 65_536  # results per step
_ROWS_PER_PAGE = 65_536  # 8 MiB: a step of ResNet-50 with all statistics needs about one and a half
_FLAGS_PER_PAGE = 1_048_576
_ROW_STRIDE = 16  # as in device_kernels_rows
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
