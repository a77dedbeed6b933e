"""HostMeter: statistics of tensors in host memory, by the cheapest reductions.

On a CPU memory passes are the cost: norm, sum and aminmax are vectorised, boolean sums are not (numpy counts them), so the
dearer statistics are taken only where they can say something.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from netmend.adapters.torch.meters.meter import Arrived, Emit
from netmend.library.activations import RELU_LIKE

NAN = float("nan")
_SPREAD_SAMPLES = 8
_WHOLE = 262_144  # tensors up to this size are compared whole before and after an update
_SAMPLE = 65_536
_DRIFT_SAMPLE = 4_096


# The values at or beyond which a bounded function is flat. A tanh counts as flat strictly beyond 0.99.
_BEYOND = float(np.nextafter(np.float32(0.99), np.float32(1)))
FLAT_ENDS: dict[str, tuple[float, float]] = {
    "sigmoid": (0.01, 0.99),
    "hardsigmoid": (0.0, 1.0),
    "tanh": (-_BEYOND, _BEYOND),
    "softsign": (-_BEYOND, _BEYOND),
    "relu6": (0.0, 6.0),
}


class HostMeter:
    """See Meter. Results are known at once and handed out by `collect`."""

    def __init__(self) -> None:
        self._step = 0
        self._rows: list[tuple[str, str, int, tuple[float, ...]]] = []
        self._scalars: list[tuple[object, float]] = []
        self._before: dict[str, Tensor] = {}
        self._first: dict[str, Tensor] = {}

    def start(self, step: int) -> None:
        self._step = step

    @torch.no_grad()
    def activation(self, component: str, tensor: Tensor, unit_axis: int, function: str | None) -> None:
        values = real(tensor)
        count = values.numel()
        if not count:
            return
        mean, rms, low, high = moments(values)
        nonfinite = 0 if math.isfinite(rms) else count_nonfinite(values)
        zero_share = silent = NAN
        if low == 0.0 or high == 0.0 or function in RELU_LIKE:
            zero_share = count_zeros(values) / count
            if function in RELU_LIKE or low == 0.0:
                silent = silent_share(values, unit_axis)
        flat = saturated(values, function)
        spread = sample_spread(values, rms)
        std = std_of(mean, rms)
        if std < 0.05 * abs(mean):  # nothing is left of the digits: compute it the long way
            std = float(torch.linalg.vector_norm(values - mean)) / math.sqrt(count)
        row = (
            mean,
            std,
            rms,
            low,
            high,
            zero_share,
            nonfinite,
            silent,
            NAN if flat is None else float(flat.float().mean()),
            spread,
        )
        self._rows.append(("activation", component, self._step, row))

    @torch.no_grad()
    def parameters(self, kind: str, names: Sequence[str], tensors: Sequence[Tensor]) -> None:
        for name, tensor in zip(names, tensors, strict=True):
            values = real(tensor)
            count = tensor.numel()
            if not values.numel():
                continue
            mean, rms, low, high = moments(values)
            nonfinite = 0 if math.isfinite(rms) else count_nonfinite(values)
            stored = values.numel()
            zeros = (count_zeros(values) + count - stored) / count
            if stored != count:  # a sparse gradient: the rest is zero
                mean, rms = mean * stored / count, rms * math.sqrt(stored / count)
            row: tuple[float, ...] = (mean, rms, low, high, zeros, nonfinite)
            if kind == "weight":
                row = (*row, self._drift(name, values))
            self._rows.append((kind, name, self._step, row))

    def _drift(self, name: str, values: Tensor) -> float:
        sample = strided_sample(values, _DRIFT_SAMPLE)
        first = self._first.get(name)
        if first is None or first.shape != sample.shape:
            self._first[name] = sample.clone()
            return 0.0
        scale = float(torch.linalg.vector_norm(first))
        change = float(torch.linalg.vector_norm(sample - first))
        return change / scale if scale else (0.0 if change == 0 else math.inf)

    @torch.no_grad()
    def remember(self, names: Sequence[str], tensors: Sequence[Tensor]) -> None:
        for name, tensor in zip(names, tensors, strict=True):
            self._before[name] = _comparable(tensor).clone()
            if name not in self._first:  # drift is counted from before the first update
                self._first[name] = strided_sample(real(tensor), _DRIFT_SAMPLE).clone()

    @torch.no_grad()
    def updates(self, names: Sequence[str], tensors: Sequence[Tensor]) -> None:
        for name, tensor in zip(names, tensors, strict=True):
            before = self._before.pop(name, None)
            after = _comparable(tensor)
            if before is None or before.shape != after.shape or not before.numel():
                continue
            change = after - before
            count = change.numel()
            rms = float(torch.linalg.vector_norm(change)) / math.sqrt(count)
            weight = float(torch.linalg.vector_norm(before)) / math.sqrt(count)
            low, high = torch.aminmax(change)
            ratio = rms / weight if weight else (0.0 if rms == 0 else math.inf)
            largest = max(-float(low), float(high))
            self._rows.append(
                ("update", name, self._step, (rms, ratio, largest, count_zeros(change) / count))
            )

    def scalar(self, key: object, tensor: Tensor) -> None:
        self._scalars.append((key, float(tensor.detach())))

    def finish(self) -> None:
        self._before.clear()

    def collect(self, emit: Emit, arrived: Arrived, wait: bool = False) -> None:
        for row in self._rows:
            emit(*row)
        for key, value in self._scalars:
            arrived(key, value)
        self._rows.clear()
        self._scalars.clear()

    def release(self) -> None:
        self._before.clear()
        self._first.clear()
        self._rows.clear()
        self._scalars.clear()


def real(tensor: Tensor, coalesced: bool = True) -> Tensor:
    """Detached float32/float64 values of any float tensor; only the stored ones of a sparse one.

    Coalescing would make the host wait for a device: there, duplicate entries are looked at one by one.
    """
    values = tensor.detach()
    if values.is_sparse:
        values = values.coalesce().values() if coalesced else values._values()
    if values.is_complex():
        values = torch.view_as_real(values)
    return values if values.dtype in (torch.float32, torch.float64) else values.float()


def _comparable(tensor: Tensor) -> Tensor:
    values = tensor.detach()
    return values.reshape(-1) if values.numel() <= _WHOLE else strided_sample(values, _SAMPLE)


def strided_sample(values: Tensor, at_most: int) -> Tensor:
    """Evenly spaced elements, so that every part of a large tensor is represented."""
    flat = values.reshape(-1)
    return flat[:: max(1, math.ceil(flat.numel() / at_most))]


def moments(values: Tensor) -> tuple[float, float, float, float]:
    """Mean, root mean square, minimum, maximum."""
    count = values.numel()
    low, high = torch.aminmax(values)
    rms = float(torch.linalg.vector_norm(values)) / math.sqrt(count)
    return float(values.sum()) / count, rms, float(low), float(high)


def std_of(mean: float, rms: float) -> float:
    return math.sqrt(max(rms * rms - mean * mean, 0.0)) if math.isfinite(rms) else NAN


def count_zeros(values: Tensor) -> int:
    if values.device.type != "cpu" or values.dtype == torch.bfloat16:  # which numpy does not know
        return int((values == 0).sum())
    array = values.numpy()
    return array.size - int(np.count_nonzero(array != 0))


def count_nonfinite(values: Tensor) -> int:
    return values.numel() - int(torch.isfinite(values).sum())


def silent_share(values: Tensor, unit_axis: int) -> float:
    """Share of units that are not positive for any sample or position."""
    if values.dim() < 2:
        return NAN
    axis = unit_axis % values.dim()
    if axis == 0:
        return NAN
    peaks = values.amax(dim=[d for d in range(values.dim()) if d != axis])
    return float((peaks <= 0).float().mean())


def saturated(values: Tensor, function: str | None) -> Tensor | None:
    """Which values lie on the flat part of a bounded activation function."""
    low: float | Tensor
    high: float | Tensor
    if (
        function == "hardtanh"
    ):  # its ends are settings that are not known here; they are where the extreme values lie
        low, high = torch.aminmax(values)
    elif function in FLAT_ENDS:
        low, high = FLAT_ENDS[function]
    else:
        return None
    return (values <= low) | (values >= high)


def evenly(values: Tensor, samples: int) -> Tensor:
    """A few samples from all over the batch, which may be sorted."""
    return values[:: max(1, len(values) // samples)][:samples]


def sample_spread(values: Tensor, rms: float) -> float:
    """How much the samples of a batch differ, relative to the size of the signal: 0 means all alike."""
    if values.dim() < 2 or values.shape[0] < 2 or not rms or not math.isfinite(rms):
        return NAN
    few = evenly(values, _SPREAD_SAMPLES)
    apart = few - few.mean(dim=0)
    return float(torch.linalg.vector_norm(apart)) / math.sqrt(few.numel()) / rms
