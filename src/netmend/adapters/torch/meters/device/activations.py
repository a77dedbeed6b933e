"""Activations, on behalf of the device meter: which way each is read, and how several are read by one launch."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

from netmend.adapters.torch.meters.device import plain as plain
from netmend.adapters.torch.meters.device.buffers import Scratch
from netmend.adapters.torch.meters.device.lane import Lane, Launcher, triton_type
from netmend.adapters.torch.meters.device.rows import ActivationEntry, ActivationFacts
from netmend.adapters.torch.meters.device.scan import (
    SPREAD_TILE,
    ScanPlan,
    plan_scan,
    tile_size,
    unit_axis_of,
)

# Activations waiting to be read together: a launch costs the host as much for eight tensors as for one.
#
# A waiting tensor could be overwritten by the program before it is read (`relu_`, `+=`). Its version number tells. So an activation
# is read at once the first time and then watched until the forward pass is over; only those that nobody changed may wait from
# then on, the others are read at once, together with those that wait.

FEW = 8  # as in kernels.py
_RECORD = 16
_MOST_BYTES = 512_000_000  # kept waiting, …
_MOST_SHARE = 0.02  # … and that part of the device's memory
_MOST_TABLES = 1_024


@dataclass
class Habit:
    """Whether the program overwrites what a component returned; None: not known yet."""

    overwritten: bool | None = None


class Ticket:
    """One component's output in one layout: made once, used at every step, told apart by identity."""

    __slots__ = ("aligned", "bytes", "component", "dtype", "function", "habit", "kind", "plan")

    def __init__(
        self,
        component: str,
        function: str | None,
        plan: ScanPlan,
        dtype: torch.dtype,
        aligned: bool,
        habit: Habit,
    ) -> None:
        self.component = component
        self.function = function
        self.plan = plan
        self.dtype = dtype
        self.aligned = aligned
        self.habit = habit
        self.bytes = plan.count * dtype.itemsize
        self.kind = (dtype, plan.saturation, aligned)  # those of one kind are read by one compiled kernel


class GroupTable:
    """What one launch needs to know about a group of tensors besides their addresses; on the device since first used."""

    def __init__(self, lane: Lane, tickets: tuple[Ticket, ...]) -> None:
        records = [0] * (FEW * _RECORD)
        parts: list[int] = []
        flags = 0
        for index, ticket in enumerate(tickets):
            plan = ticket.plan
            record = (*plan.record, len(parts), plan.rows, flags)
            records[index * _RECORD : index * _RECORD + len(record)] = record
            parts += [index] * plan.rows
            flags += plan.units
        first = tickets[0]
        self._table = lane.empty(len(records) + len(parts), dtype=torch.int32)
        lane.upload(self._table, records + parts)
        self.address = self._table.data_ptr()
        self.programs = len(parts)
        self.flags = flags
        self.bytes = sum(ticket.bytes for ticket in tickets)
        self.key = ("scan_few", *first.kind)
        self.registers = first.plan.registers
        self.constants = (
            triton_type(first.dtype),
            tile_size(first.dtype),
            SPREAD_TILE,
            first.aligned,
            first.plan.saturation,
        )
        self.facts = ActivationFacts(
            [ticket.component for ticket in tickets],
            [ticket.plan.count for ticket in tickets],
            [ticket.plan.units for ticket in tickets],
            [ticket.function for ticket in tickets],
        )


Read = Callable[[GroupTable, list[int]], None]


@dataclass
class _Waiting:
    """Tickets of one kind with their tensors, addresses and versions."""

    tickets: list[Ticket] = field(default_factory=list)
    tensors: list[Tensor] = field(default_factory=list)
    addresses: list[int] = field(default_factory=list)
    versions: list[int] = field(default_factory=list)


class Queue:
    """Holds activations of the step in progress until enough of them can be read together, or until `settle`."""

    def __init__(self, lane: Lane, read: Read) -> None:
        self._lane = lane
        self._read = read
        self._waiting: dict[tuple[object, ...], _Waiting] = {}
        self._bytes = 0
        self._watched: deque[tuple[Habit, Tensor, int, int]] = deque()  # with version and bytes
        self._watched_bytes = 0
        self._tables: dict[tuple[Ticket, ...], GroupTable] = {}
        self._most_bytes = min(_MOST_BYTES, int(_MOST_SHARE * lane.memory))
        self.overwritten = 0  # tensors that were lost because the program changed them unexpectedly

    def add(self, ticket: Ticket, tensor: Tensor, address: int) -> None:
        habit = ticket.habit
        try:
            version = tensor._version
        except RuntimeError:  # made in inference mode: not told when it changes
            self._read(self._table((ticket,)), [address])
            return
        if habit.overwritten is None:
            self._read(self._table((ticket,)), [address])
            self._watch(habit, tensor, version, ticket.bytes)
            return
        waiting = self._waiting.get(ticket.kind)
        if waiting is None:
            waiting = self._waiting[ticket.kind] = _Waiting()
        waiting.tickets.append(ticket)
        waiting.tensors.append(tensor)
        waiting.addresses.append(address)
        waiting.versions.append(version)
        self._bytes += ticket.bytes
        if self._bytes > self._most_bytes:
            self.flush()
        elif habit.overwritten or len(waiting.tickets) == FEW:
            self._flush(waiting)

    def flush(self) -> None:
        """Have everything read that waits."""
        for waiting in self._waiting.values():
            if waiting.tickets:
                self._flush(waiting)

    def settle(self) -> None:
        """The forward pass is over: read what waits, judge what was watched, keep no tensor."""
        self.flush()
        while self._watched:
            self._judge()

    def drop(self) -> None:
        """Forget what waits without reading it."""
        self._waiting.clear()
        self._watched.clear()
        self._bytes = self._watched_bytes = 0

    def release(self) -> None:
        self.drop()
        self._tables.clear()

    def _flush(self, waiting: _Waiting) -> None:
        tickets, addresses = waiting.tickets, waiting.addresses
        versions = [tensor._version for tensor in waiting.tensors]
        for ticket in tickets:
            self._bytes -= ticket.bytes
        if versions != waiting.versions:
            tickets, addresses = self._untouched(waiting, versions)
        try:
            if tickets:
                self._read(self._table(tuple(tickets)), addresses)
        finally:
            waiting.tickets, waiting.tensors, waiting.addresses, waiting.versions = [], [], [], []

    def _untouched(self, waiting: _Waiting, versions: list[int]) -> tuple[list[Ticket], list[int]]:
        """Those that still hold what their component returned; the others are read at once from now on."""
        kept, addresses = [], []
        for index, ticket in enumerate(waiting.tickets):
            if versions[index] == waiting.versions[index]:
                kept.append(ticket)
                addresses.append(waiting.addresses[index])
            else:
                ticket.habit.overwritten = True
                self.overwritten += 1
        return kept, addresses

    def _watch(self, habit: Habit, tensor: Tensor, version: int, size: int) -> None:
        self._watched.append((habit, tensor, version, size))
        self._watched_bytes += size
        # The newest one stays: whatever overwrites it has not run yet.
        while self._watched_bytes > self._most_bytes and len(self._watched) > 1:
            self._judge()

    def _judge(self) -> None:
        habit, tensor, version, size = self._watched.popleft()
        self._watched_bytes -= size
        habit.overwritten = tensor._version != version

    def _table(self, tickets: tuple[Ticket, ...]) -> GroupTable:
        table = self._tables.get(tickets)
        if table is None:
            if len(self._tables) >= _MOST_TABLES:
                self._tables.clear()
            table = self._tables[tickets] = GroupTable(self._lane, tickets)
        return table


_MOST_TICKETS = 4_096  # layouts seen; cleared beyond, for programs whose shapes never repeat


class Activations:
    def __init__(self, lane: Lane, launch: Launcher | None, scratch: Scratch) -> None:
        self._lane = lane
        self._launch = launch
        self._scratch = scratch
        self._tickets: dict[object, Ticket | None] = {}
        self._habits: dict[str, Habit] = {}
        self.queue = Queue(lane, self._read)

    def measure(self, component: str, tensor: Tensor, unit_axis: int, function: str | None) -> None:
        address = tensor.data_ptr()
        key = (component, tensor.shape, tensor.stride(), tensor.dtype, address % 16 == 0, unit_axis, function)
        try:
            ticket = self._tickets[key]
        except KeyError:
            ticket = self._tickets[key] = self._ticket(
                component, tensor, address % 16 == 0, unit_axis, function
            )
        if ticket is not None:
            self.queue.add(ticket, tensor, address)
        elif tensor.numel():
            self._measure_plainly(component, tensor, unit_axis, function)

    def _ticket(
        self, component: str, tensor: Tensor, aligned: bool, unit_axis: int, function: str | None
    ) -> Ticket | None:
        """None when plain torch operations have to do it."""
        if len(self._tickets) >= _MOST_TICKETS:
            self._tickets.clear()
            self._habits.clear()
        if self._launch is None:
            return None
        plan = plan_scan(tensor, unit_axis, function, self._lane.multiprocessors)
        if plan is None:
            return None
        habit = self._habits.setdefault(component, Habit())
        return Ticket(component, function, plan, tensor.dtype, aligned, habit)

    def _read(self, table: GroupTable, addresses: list[int]) -> None:
        """Launch the kernel for a group of tensors."""
        scratch, count = self._scratch, len(addresses)
        slot = scratch.take_slots(count)
        if slot is None:
            return
        rows, first_row = scratch.rows.take(table.programs)
        flags, first_flag = scratch.flags.take(table.flags)
        # Unused places get an address as well, so that all have one type.
        addresses += addresses[:1] * (FEW - count)
        arguments = (
            *addresses, table.address, rows.data_ptr(), scratch.places.data_ptr(), flags.data_ptr(), slot, first_row, first_flag,
            *table.constants,
        )  # fmt: skip
        assert self._launch is not None
        with self._lane.here():
            self._launch(table.key, table.programs, arguments, table.registers)
        scratch.entries.append(ActivationEntry(table.facts, slice(slot, slot + count)))
        scratch.was_read(table.bytes)

    @torch.no_grad()
    def _measure_plainly(self, component: str, tensor: Tensor, unit_axis: int, function: str | None) -> None:
        with self._lane.here(), self._lane.exactly():
            values = plain.real(tensor)
            axis = unit_axis_of(values, unit_axis)
            slot = self._scratch.put(plain.activation_numbers(values, axis, function))
        units = values.shape[axis] if axis is not None else 0
        facts = ActivationFacts([component], [values.numel()], [units], [function])
        self._scratch.entries.append(ActivationEntry(facts, [slot]))
        self._scratch.was_read(tensor.numel() * tensor.element_size() * plain.PASSES)

    def release(self) -> None:
        self.queue.release()
        self._tickets.clear()
        self._habits.clear()
