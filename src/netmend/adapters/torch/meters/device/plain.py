"""The device meter's statistics by plain torch operations, for whatever the kernels do not read.

That is: tensors with gaps or overlaps, unusual dtypes, sparse gradients, and everything where Triton is missing. Slower (a dozen
launches per tensor), but without a wait for the device, and with the same numbers in the same order (rows.py).
"""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor

from netmend.adapters.torch.meters import host_meter

SPREAD_SAMPLES = 8
PASSES = 8  # how often these operations read a tensor, about


real = partial(host_meter.real, coalesced=False)


def sample(tensor: Tensor, at_most: int) -> Tensor:
    """Evenly spaced elements."""
    values = real(tensor)
    return values.reshape(-1)[:: stride_for(values.numel(), at_most)]


def describe(values: Tensor) -> list[Tensor]:
    """Sum, sum of squares, minimum, maximum, zeros, non-finite, NaN."""
    low, high = torch.aminmax(values)
    finite = torch.isfinite(values).sum()
    squares = torch.linalg.vector_norm(values).double().square()
    total = values.sum(dtype=torch.float64)
    return [
        total,
        squares,
        low,
        high,
        (values == 0).sum(),
        values.numel() - finite,
        torch.isnan(values).sum(),
    ]


def activation_numbers(values: Tensor, unit_axis: int | None, function: str | None) -> Tensor:
    numbers = describe(values)
    nothing = torch.zeros((), dtype=torch.float64, device=values.device)
    saturated = spread = compared = silent = nothing
    flat = host_meter.saturated(values, function)
    if flat is not None:
        saturated = flat.sum()
    if values.dim() >= 2 and values.shape[0] >= 2:
        few = host_meter.evenly(values, SPREAD_SAMPLES)
        spread = torch.linalg.vector_norm(few - few.mean(dim=0)).double().square()
        compared = torch.linalg.vector_norm(few).double().square()
    if unit_axis is not None:
        peaks = values.amax(dim=[axis for axis in range(values.dim()) if axis != unit_axis])
        silent = (peaks <= 0).sum()
    return torch.stack([number.double() for number in (*numbers, saturated, spread, compared, silent)])


def parameter_numbers(values: Tensor) -> Tensor:
    nothing = torch.zeros((), dtype=torch.float64, device=values.device)
    return torch.stack([number.double() for number in (*describe(values), *[nothing] * 4)])


def change_numbers(after: Tensor, before: Tensor) -> Tensor:
    """What compare_samples computes: squared changes, squared kept values, largest change, unchanged values."""
    change = after - before
    nothing = torch.zeros((), dtype=torch.float64, device=after.device)
    squares = torch.linalg.vector_norm(change).double().square()
    kept = torch.linalg.vector_norm(before).double().square()
    numbers = [squares, kept, nothing, change.abs().amax(), (change == 0).sum(), *[nothing] * 6]
    return torch.stack([number.double() for number in numbers])


def stride_for(count: int, at_most: int) -> int:
    """Distance of evenly spaced samples. Odd, so that it does not fall in step with a layer's width."""
    return 1 if count <= at_most else math.ceil(count / at_most) | 1
