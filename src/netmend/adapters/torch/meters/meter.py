"""Meter: how tensors become numbers. One for host memory, one for CUDA devices, the same results from both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from torch import Tensor

# emit(kind, component, step, values): one finished row of a table (vocabulary/table.py), values in column order.
Emit = Callable[[str, str, int, tuple[float, ...]], None]
# arrived(key, value): a scalar handed to Meter.scalar has become known.
Arrived = Callable[[object, float], None]


class Meter(Protocol):
    """Reduces tensors during one sampled step and hands out rows, at once or when a device has finished them.

    A meter keeps no reference to a tensor of the user's beyond the step (copies of small samples are its own; on a device
    activations may wait in a queue until the forward pass is over), draws no random numbers, and on a device never makes the
    host wait, except in `collect(wait=True)`.
    """

    def start(self, step: int) -> None:
        """Statistics taken from now on belong to this step."""

    def activation(self, component: str, tensor: Tensor, unit_axis: int, function: str | None) -> None:
        """Row of kind "activation". Units lie along `unit_axis` (channels or features); axis 0 holds samples.

        `silent_share` is the share of units that are <= 0 for every sample and position, computed when `function` is
        "relu", "relu6" or None-but-nonnegative; `saturated_share` the share of values on the flat part of a
        bounded function ("sigmoid": within 0.01 of 0 or 1; "tanh", "softsign": |value| > 0.99; "hardtanh",
        "hardsigmoid", "relu6": at an end).
        """

    def parameters(self, kind: str, names: Sequence[str], tensors: Sequence[Tensor]) -> None:
        """Rows of kind "gradient" or "weight" for many tensors at once."""

    def remember(self, names: Sequence[str], tensors: Sequence[Tensor]) -> None:
        """Just before an update: keep what is needed to see what it really changed."""

    def updates(self, names: Sequence[str], tensors: Sequence[Tensor]) -> None:
        """Just after the update: rows of kind "update" against the remembered values."""

    def scalar(self, key: object, tensor: Tensor) -> None:
        """A one-element tensor whose value is wanted; arrives under `key` through `collect`."""

    def finish(self) -> None:
        """The sampled step is over: start moving results to the host."""

    def collect(self, emit: Emit, arrived: Arrived, wait: bool = False) -> None:
        """Hand out whatever is finished; with `wait`, everything."""

    def release(self) -> None:
        """Drop all buffers."""
