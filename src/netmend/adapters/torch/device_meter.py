"""DeviceMeter: statistics of tensors on a CUDA device, without ever making the program wait for them.

Each activation is read once by one kernel; gradients, weights and updates by one launch for all of them. Partial results stay on the
device until the step is over, then one small kernel folds them and one asynchronous copy brings them to pinned host memory.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from netmend.adapters.torch import device_plain as plain
from netmend.adapters.torch.device_buffers import Batch, Pages, ScalarRing
from netmend.adapters.torch.device_lane import Lane, Milestone
from netmend.adapters.torch.device_launch import Launcher, can_launch
from netmend.adapters.torch.device_parameters import UPDATE_SAMPLES, Firsts, Group, Rosters
from netmend.adapters.torch.device_rows import FLAT_ENDS, ActivationEntry, Entry, ParameterEntry, UpdateEntry
from netmend.adapters.torch.device_scan import ScanPlan, plan_scan, unit_axis_of
from netmend.adapters.torch.meter import Arrived, Emit

_STEPS_IN_FLIGHT = 4
_SLOTS = 65_536  # results per step
_ROWS_PER_PAGE = 65_536  # 8 MiB: a step of ResNet-50 with all statistics needs about one and a half
_FLAGS_PER_PAGE = 1_048_576
_ROW_STRIDE = 16  # as in device_kernels
_MOST_PLANS = 4_096  # shapes seen; cleared beyond, for programs whose shapes never repeat


class DeviceMeter:
    """See Meter. One instance per device."""

    def __init__(self, device: torch.device, use_kernels: bool = True) -> None:
        self._lane = Lane(device)
        lane = self._lane
        self._launch = Launcher(lane) if use_kernels and can_launch(lane.device) else None
        self._rows = Pages(lambda size: lane.empty(size, _ROW_STRIDE, dtype=torch.float64), _ROWS_PER_PAGE)
        self._flags = Pages(lambda size: lane.empty(size, dtype=torch.uint8).zero_(), _FLAGS_PER_PAGE)
        self._places = lane.empty(_SLOTS, 4, dtype=torch.int64)
        self._batches = [Batch(Milestone(lane)) for _ in range(_STEPS_IN_FLIGHT)]
        self._flying: list[Batch] = []
        self._batch: Batch | None = None
        self._slots = 0
        self._loose: list[Tensor] = []
        self._stream = 0
        self._plans: dict[object, ScanPlan | None] = {}
        self._rosters = Rosters(lane, self._launch is not None)
        self._firsts = Firsts()
        self._remembered: dict[str, Tensor] = {}
        self._remembered_names: set[tuple[str, ...]] = set()
        self._scalars = ScalarRing(lane)
        self.skipped_steps = 0  # because the results of earlier ones had not arrived yet
        self.skipped_tensors = 0  # on another stream than the step's, or beyond the number of slots

    @property
    def lost_scalars(self) -> int:
        return self._scalars.lost

    def start(self, step: int) -> None:
        self._batch = None
        if self._lane.capturing():
            return
        batch = next((batch for batch in self._batches if not batch.busy), None)
        if batch is None:
            self.skipped_steps += 1
            return
        batch.busy, batch.step, batch.entries = True, step, []
        self._batch = batch
        self._slots = 0
        self._loose = []
        self._stream = self._lane.stream()
        self._rows.reset()
        for page in self._flags.reset():
            page.zero_()

    def activation(self, component: str, tensor: Tensor, unit_axis: int, function: str | None) -> None:
        if not self._recording() or not tensor.numel():
            return
        shape_key = (
            tensor.shape,
            tensor.stride(),
            tensor.dtype,
            tensor.data_ptr() % 16 == 0,
            unit_axis,
            function,
        )
        try:
            scan = self._plans[shape_key]
        except KeyError:
            scan = self._plan(shape_key, tensor, unit_axis, function)
        if scan is None:
            self._activation_plainly(component, tensor, unit_axis, function)
            return
        slot = self._take_slots(1)
        if slot is None:
            return
        rows, first_row = self._rows.take(scan.rows)
        flags, first_flag = self._flags.take(scan.units)
        assert self._launch is not None
        arguments = (tensor, rows, self._places, flags, slot, first_row, first_flag, *scan.settings)
        with self._lane.here():
            self._launch(scan.key, scan.rows, arguments, scan.registers)
        self._add(ActivationEntry(component, slot, scan.count, scan.units, function, scan.saturation))

    def _plan(self, key: object, tensor: Tensor, unit_axis: int, function: str | None) -> ScanPlan | None:
        if len(self._plans) >= _MOST_PLANS:
            self._plans.clear()
        plan = None
        if self._launch is not None:
            plan = plan_scan(tensor, unit_axis, function, self._lane.multiprocessors)
        self._plans[key] = plan
        return plan

    @torch.no_grad()
    def _activation_plainly(
        self, component: str, tensor: Tensor, unit_axis: int, function: str | None
    ) -> None:
        with self._lane.exactly():
            values = plain.real(tensor)
            axis = unit_axis_of(values, unit_axis)
            self._loose.append(plain.activation_numbers(values, axis, function))
        units = values.shape[axis] if axis is not None else 0
        bounded = function == "hardtanh" or function in FLAT_ENDS
        slot = -len(self._loose)
        self._add(ActivationEntry(component, slot, values.numel(), units, function, bounded))

    @torch.no_grad()
    def parameters(self, kind: str, names: Sequence[str], tensors: Sequence[Tensor]) -> None:
        if not self._recording() or not names:
            return
        with self._lane.here(), self._lane.exactly():
            roster, new = self._rosters.find(kind, names, tensors)
            for group in roster.groups:
                self._scan_group(kind, group, new)
            for index in roster.plain:
                self._parameter_plainly(kind, names[index], tensors[index])

    def _scan_group(self, kind: str, group: Group, new: bool) -> None:
        assert self._launch is not None and group.scan is not None
        size = len(group.names)
        first = self._take_slots(size)
        if first is None:
            return
        rows, first_row = self._rows.take(group.scan.programs)
        flags, _ = self._flags.take(0)
        group.scan.scan(self._launch, (rows, self._places, flags), first, first_row)
        drift: range | tuple[()] = ()
        if group.samples is not None:
            if new:
                self._firsts.adopt(group, self._launch)
            drift = self._compare(group)
        self._add(
            ParameterEntry(kind, group.names, range(first, first + size), group.counts, group.counts, drift)
        )

    def _compare(self, group: Group) -> range | tuple[()]:
        """Compare a group with its kept samples; the slots of the results."""
        assert self._launch is not None and group.samples is not None
        first = self._take_slots(len(group.names))
        if first is None:
            return ()
        rows, first_row = self._rows.take(group.samples.programs)
        flags, _ = self._flags.take(0)
        group.samples.compare(self._launch, (rows, self._places, flags), first, first_row)
        return range(first, first + len(group.names))

    def _parameter_plainly(self, kind: str, name: str, tensor: Tensor) -> None:
        values = plain.real(tensor)
        if not values.numel():
            return
        self._loose.append(plain.parameter_numbers(values))
        slots = [-len(self._loose)]
        drift: list[int] = []
        if kind == "weight":
            self._loose.append(plain.change_numbers(*self._firsts.plain(name, tensor)))
            drift = [-len(self._loose)]
        stored, count = values.numel(), max(tensor.numel(), values.numel())
        self._add(ParameterEntry(kind, [name], slots, [count], [stored], drift))

    @torch.no_grad()
    def remember(self, names: Sequence[str], tensors: Sequence[Tensor]) -> None:
        if not self._recording() or not names:
            return
        with self._lane.here(), self._lane.exactly():
            roster, _ = self._rosters.find("update", names, tensors)
            for group in roster.groups:
                assert self._launch is not None and group.samples is not None
                group.samples.keep(self._launch)
            for index in roster.plain:
                self._remembered[names[index]] = plain.sample(tensors[index], UPDATE_SAMPLES).clone()
        self._remembered_names.add(tuple(names))

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
                if slots:
                    self._add(UpdateEntry(group.names, slots, group.samples.samples))
            for index in roster.plain:
                self._update_plainly(names[index], tensors[index])

    def _update_plainly(self, name: str, tensor: Tensor) -> None:
        before, after = self._remembered.pop(name, None), plain.sample(tensor, UPDATE_SAMPLES)
        if before is None or before.shape != after.shape:
            return
        self._loose.append(plain.change_numbers(after, before))
        self._add(UpdateEntry([name], [-len(self._loose)], [after.numel()]))

    @torch.no_grad()
    def scalar(self, key: object, tensor: Tensor) -> None:
        if not self._lane.capturing():
            self._scalars.put(key, tensor)

    @torch.no_grad()
    def finish(self) -> None:
        batch, self._batch = self._batch, None
        self._remembered.clear()
        self._remembered_names.clear()
        if batch is None:
            return
        if not batch.entries or self._lane.capturing():
            batch.clear()
            return
        with self._lane.here(), self._lane.exactly():
            batch.send(self._lane, self._slots, self._loose, self._fold)
            self._scalars.flush()
        self._loose = []
        self._flying.append(batch)

    def _fold(self, results: Tensor) -> None:
        assert self._launch is not None
        self._launch(("fold",), self._slots, (self._places, results, 128, 1024), registers=128)

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
            for entry in batch.entries:
                for kind, component, values in entry.rows(numbers):
                    emit(kind, component, batch.step, values)
            batch.clear()
        self._scalars.collect(arrived, wait)

    def release(self) -> None:
        self._batch = None
        self._flying.clear()
        self._batches = [Batch(Milestone(self._lane)) for _ in range(_STEPS_IN_FLIGHT)]
        self._rows.pages.clear()
        self._rows.reset()
        self._flags.pages.clear()
        self._flags.reset()
        self._loose = []
        self._plans.clear()
        self._rosters.clear()
        self._firsts.clear()
        self._remembered.clear()
        self._scalars = ScalarRing(self._lane)

    def _recording(self) -> bool:
        """Whether the current step is recorded here. Work on another stream would not be ordered with ours."""
        if self._batch is None or self._lane.capturing():
            return False
        if self._lane.stream() != self._stream:
            self.skipped_tensors += 1
            return False
        return True

    def _take_slots(self, count: int) -> int | None:
        if self._slots + count > _SLOTS:
            self.skipped_tensors += count
            return None
        self._slots += count
        return self._slots - count

    def _add(self, entry: Entry) -> None:
        assert self._batch is not None
        self._batch.entries.append(entry)
