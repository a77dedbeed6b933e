"""Activations that wait to be read together on a device: which ones may, and for how long."""

from __future__ import annotations

import weakref

import pytest
import torch
from torch import Tensor

from netmend.adapters.torch.meters.device import activations as device_queue
from netmend.adapters.torch.meters.device.activations import Habit, Queue, Ticket
from netmend.adapters.torch.meters.device.lane import Lane
from netmend.adapters.torch.meters.device.scan import plan_scan


def waiting(monkeypatch: pytest.MonkeyPatch) -> tuple[Queue, list[list[str]]]:
    """A queue whose launches are only noted: the names of the tensors of each."""
    monkeypatch.setattr(device_queue, "triton_type", str)
    launches: list[list[str]] = []
    lane = Lane(torch.device("cpu"))
    return Queue(lane, lambda table, addresses: launches.append(list(table.facts.components))), launches


def ticket(name: str, tensor: Tensor, habit: Habit) -> Ticket:
    plan = plan_scan(tensor, -1, None, processors=2)
    assert plan is not None
    return Ticket(name, None, plan, tensor.dtype, True, habit)


def test_activations_are_read_together_once_it_is_known_that_nobody_overwrites_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    queue, launches = waiting(monkeypatch)
    names = ["a", "changed", "c", *(f"d{index}" for index in range(8))]
    tickets = {name: ticket(name, torch.ones(4, 4), Habit()) for name in names}
    seen = []
    for _ in range(2):
        for name in names:
            tensor = torch.ones(4, 4)
            queue.add(tickets[name], tensor, tensor.data_ptr())
            if name == "changed":
                tensor.relu_()
        queue.settle()
        seen.append(launches[:])
        launches.clear()
    assert seen[0] == [[name] for name in names]
    assert tickets["changed"].habit.overwritten
    assert seen[1] == [["a", "changed"], ["c", *(f"d{index}" for index in range(7))], ["d7"]]


def test_what_was_overwritten_unexpectedly_gives_no_row_and_is_read_at_once_from_then_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    queue, launches = waiting(monkeypatch)
    first = ticket("first", torch.ones(4, 4), Habit(overwritten=False))
    second = ticket("second", torch.ones(4, 4), Habit(overwritten=False))
    for _ in range(2):
        for entry in (first, second):
            tensor = torch.ones(4, 4)
            queue.add(entry, tensor, tensor.data_ptr())
            if entry is first:
                tensor.add_(1)
        queue.settle()
    assert launches == [["second"], ["first"], ["second"]]
    assert queue.overwritten == 1


def test_waiting_tensors_are_read_before_they_take_much_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_queue, "_MOST_BYTES", 100)
    queue, launches = waiting(monkeypatch)
    tensor = torch.ones(4, 4)  # 64 bytes
    for name in ("a", "b", "c"):
        queue.add(ticket(name, tensor, Habit(overwritten=False)), tensor, tensor.data_ptr())
    assert launches == [["a", "b"]]
    reference = weakref.ref(tensor)
    queue.settle()
    del tensor
    assert launches == [["a", "b"], ["c"]]
    assert reference() is None
