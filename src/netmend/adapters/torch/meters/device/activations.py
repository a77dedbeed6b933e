"""Activations, on behalf of the device meter: which way each is read, and the launches for those that kernels read."""

from __future__ import annotations

import torch
from torch import Tensor

from netmend.adapters.torch.meters.device import plain as plain
from netmend.adapters.torch.meters.device.lane import Lane
from netmend.adapters.torch.meters.device.launch import Launcher
from netmend.adapters.torch.meters.device.queue import FEW, GroupTable, Habit, Queue, Ticket
from netmend.adapters.torch.meters.device.rows import ActivationEntry, ActivationFacts
from netmend.adapters.torch.meters.device.scan import plan_scan, unit_axis_of
from netmend.adapters.torch.meters.device.scratch import Scratch

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
        key = (
            component,
            tensor.shape,
            tensor.stride(),
            tensor.dtype,
            address % 16 == 0,
            unit_axis,
            function,
        )
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
