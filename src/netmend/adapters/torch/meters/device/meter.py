"""DeviceMeter: statistics of tensors on a CUDA device, without ever making the program wait for them.

Activations are read once, several by one launch; gradients, weights and updates by one launch for all of them. Partial results stay
on the device until the step is over, then one small kernel folds them and one asynchronous copy brings them to pinned host memory.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from netmend.adapters.torch.meters.device import plain as plain
from netmend.adapters.torch.meters.device.activations import Activations
from netmend.adapters.torch.meters.device.buffers import Batch, ScalarRing, Scratch
from netmend.adapters.torch.meters.device.lane import Lane, Launcher, Milestone, can_launch
from netmend.adapters.torch.meters.device.parameters import UPDATE_SAMPLES, Firsts, Group, Rosters
from netmend.adapters.torch.meters.device.rows import (
    Entry,
    Joiner,
    ParameterEntry,
    UpdateEntry,
    norm_of_gradients,
)
from netmend.adapters.torch.meters.meter import Arrived, Emit

_STEPS_IN_FLIGHT = 4


class DeviceMeter:
    """See Meter. One instance per device."""

    def __init__(self, device: torch.device, use_kernels: bool = True) -> None:
        self._lane = Lane(device)
        lane = self._lane
        self._launch = Launcher(lane) if use_kernels and can_launch(lane.device) else None
        self._scratch = Scratch(lane)
        self._activations = Activations(lane, self._launch, self._scratch)
        self._batches = [Batch(Milestone(lane)) for _ in range(_STEPS_IN_FLIGHT)]
        self._flying: list[Batch] = []
        self._batch: Batch | None = None
        self._latest: Milestone | None = None  # the end of our work on the device
        self._stream = 0
        self._rosters = Rosters(lane, self._launch is not None)
        self._firsts = Firsts()
        self._remembered: dict[str, Tensor] = {}
        self._remembered_names: set[tuple[str, ...]] = set()
        self._scalars = ScalarRing(lane)
        self._joiner = Joiner()
        self.skipped_steps = 0  # because the results of earlier ones had not arrived yet
        self._elsewhere = 0

    @property
    def skipped_tensors(self) -> int:
        """Those on another stream than the step's, beyond the number of slots, or overwritten before they were read."""
        return self._elsewhere + self._scratch.refused + self._activations.queue.overwritten

    def take_device_seconds(self) -> float:
        """About how long our work took on the device since the last call; from the bytes it read, so without waiting."""
        return self._scratch.take_seconds()

    def start(self, step: int) -> None:
        self._batch = None
        self._activations.queue.drop()
        if self._lane.capturing():
            return
        batch = next((batch for batch in self._batches if not batch.busy), None)
        if batch is None:
            self.skipped_steps += 1
            return
        batch.busy, batch.step = True, step
        self._batch = batch
        stream = self._lane.stream()
        if stream != self._stream and self._latest is not None:
            self._latest.before_new_work()  # the buffers are the same ones
        self._stream = stream
        self._scratch.restart()

    def activation(self, component: str, tensor: Tensor, unit_axis: int, function: str | None) -> None:
        if self._recording():
            self._activations.measure(component, tensor, unit_axis, function)

    @torch.no_grad()
    def parameters(self, kind: str, names: Sequence[str], tensors: Sequence[Tensor]) -> None:
        if not self._recording() or not names:
            return
        self._activations.queue.settle()
        with self._lane.here(), self._lane.exactly():
            roster, new = self._rosters.find(kind, names, tensors)
            for group in roster.groups:
                self._scan_group(kind, group, new)
            for index in roster.plain:
                self._parameter_plainly(kind, names[index], tensors[index])

    def gradient_norm(self, key: object) -> bool:
        """The norm of all gradients measured in this step is wanted; it arrives under `key` as a scalar would.

        False when nothing is recorded now: then it has to be asked for in another way.
        """
        if self._batch is None:
            return False
        self._batch.norm_keys.append(key)
        return True

    def _scan_group(self, kind: str, group: Group, new: bool) -> None:
        assert self._launch is not None and group.scan is not None
        size = len(group.names)
        first = self._scratch.take_slots(size)
        if first is None:
            return
        buffers, first_row = self._scratch.for_many(group.scan.programs)
        group.scan.scan(self._launch, buffers, first, first_row)
        self._scratch.was_read(group.bytes)
        drift = None
        if group.samples is not None:
            if new:
                self._firsts.adopt(group, self._launch)
            drift = self._compare(group)
        slots = slice(first, first + size)
        self._add(ParameterEntry(kind, group.names, slots, group.counts, group.counts, drift))

    def _compare(self, group: Group) -> slice | None:
        """Compare a group with its kept samples; the slots of the results."""
        assert self._launch is not None and group.samples is not None
        first = self._scratch.take_slots(len(group.names))
        if first is None:
            return None
        buffers, first_row = self._scratch.for_many(group.samples.programs)
        group.samples.compare(self._launch, buffers, first, first_row)
        self._scratch.was_read(group.samples.read_bytes)
        return slice(first, first + len(group.names))

    def _parameter_plainly(self, kind: str, name: str, tensor: Tensor) -> None:
        values = plain.real(tensor)
        if not values.numel():
            return
        slot = self._scratch.put(plain.parameter_numbers(values))
        drift: list[int] | None = None
        if kind == "weight":
            drift = [self._scratch.put(plain.change_numbers(*self._firsts.plain(name, tensor)))]
        stored, count = values.numel(), max(tensor.numel(), values.numel())
        self._add(ParameterEntry(kind, [name], [slot], np.array([count]), np.array([stored]), drift))
        self._scratch.was_read(stored * values.element_size() * plain.PASSES)

    @torch.no_grad()
    def remember(self, names: Sequence[str], tensors: Sequence[Tensor]) -> None:
        if not self._recording() or not names:
            return
        with self._lane.here(), self._lane.exactly():
            roster, new = self._rosters.find("update", names, tensors)
            if new:
                self._keep_first(names, tensors)
            for group in roster.groups:
                assert self._launch is not None and group.samples is not None
                group.samples.keep(self._launch)
            for index in roster.plain:
                self._remembered[names[index]] = plain.sample(tensors[index], UPDATE_SAMPLES).clone()
        self._remembered_names.add(tuple(names))

    def _keep_first(self, names: Sequence[str], tensors: Sequence[Tensor]) -> None:
        """Drift is counted from before the first update."""
        roster, new = self._rosters.find("weight", names, tensors)
        if new and self._launch is not None:
            for group in roster.groups:
                self._firsts.adopt(group, self._launch)
        for index in roster.plain:
            self._firsts.plain(names[index], tensors[index])

    @torch.no_grad()
    def updates(self, names: Sequence[str], tensors: Sequence[Tensor]) -> None:
        # The tables hold what was kept for exactly this list; a list never remembered has nothing to compare with.
        if not self._recording() or not names or tuple(names) not in self._remembered_names:
            return
        with self._lane.here(), self._lane.exactly():
            roster, new = self._rosters.find("update", names, tensors)
            if new:  # the tensors were replaced by others in between
                return
            for group in roster.groups:
                assert group.samples is not None
                slots = self._compare(group)
                if slots is not None:
                    self._add(UpdateEntry(group.names, slots, group.samples.sizes))
            for index in roster.plain:
                self._update_plainly(names[index], tensors[index])

    def _update_plainly(self, name: str, tensor: Tensor) -> None:
        before, after = self._remembered.pop(name, None), plain.sample(tensor, UPDATE_SAMPLES)
        if before is None or before.shape != after.shape:
            return
        slot = self._scratch.put(plain.change_numbers(after, before))
        self._add(UpdateEntry([name], [slot], np.array([after.numel()])))

    @torch.no_grad()
    def scalar(self, key: object, tensor: Tensor) -> None:
        if self._lane.capturing():
            return
        # The objective comes this way just before backward: what waits must not take memory from it.
        if self._recording():
            self._activations.queue.settle()
        self._scalars.put(key, tensor)

    @torch.no_grad()
    def finish(self) -> None:
        if self._recording():
            self._activations.queue.settle()
        self._activations.queue.drop()
        batch, self._batch = self._batch, None
        self._remembered.clear()
        self._remembered_names.clear()
        if batch is None:
            return
        batch.entries = self._scratch.entries
        if not (batch.entries or batch.norm_keys) or self._lane.capturing():
            batch.clear()
            return
        with self._lane.here(), self._lane.exactly():
            batch.send(self._lane, self._scratch.slots, self._scratch.loose, self._fold)
            self._scalars.flush()
        self._latest = batch.milestone
        self._flying.append(batch)

    def _fold(self, results: Tensor) -> None:
        assert self._launch is not None
        arguments = (self._scratch.places, results, 128, 1024)
        self._launch(("fold",), self._scratch.slots, arguments, registers=128)

    def collect(self, emit: Emit, arrived: Arrived, wait: bool = False) -> None:
        if self._lane.capturing():
            return
        while self._flying:
            batch = self._flying[0]
            if wait:
                batch.milestone.wait()
            elif not batch.milestone.reached():
                break
            self._flying.pop(0)
            numbers = batch.numbers()
            for key in batch.norm_keys:
                arrived(key, norm_of_gradients(batch.entries, numbers))
            for entry in self._joiner.join(batch.entries):
                for kind, component, values in entry.rows(numbers):
                    emit(kind, component, batch.step, values)
            batch.clear()
        self._scalars.collect(arrived, wait)

    def release(self) -> None:
        self._batch = self._latest = None
        self._flying.clear()
        self._batches = [Batch(Milestone(self._lane)) for _ in range(_STEPS_IN_FLIGHT)]
        self._scratch.release()
        self._activations.release()
        self._rosters.clear()
        self._firsts.clear()
        self._remembered.clear()
        self._scalars = ScalarRing(self._lane)

    def _recording(self) -> bool:
        """Whether the current step is recorded here. Work on another stream would not be ordered with ours."""
        if self._batch is None or self._lane.capturing():
            return False
        if self._lane.stream() != self._stream:
            self._elsewhere += 1
            return False
        return True

    def _add(self, entry: Entry) -> None:
        self._scratch.entries.append(entry)
