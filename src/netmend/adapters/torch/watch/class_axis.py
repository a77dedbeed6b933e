"""The axis of the classes, from a network's output to the loss: a view reads the same numbers in other rows, it moves no axis."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Layout:
    """Where a tensor lies in memory, and how its axes step through it."""

    place: tuple[int, int]  # memory, number of elements
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @classmethod
    def of(cls, tensor: Tensor) -> Layout:
        return cls((tensor.data_ptr(), tensor.numel()), tuple(tensor.shape), tuple(tensor.stride()))


def classes_scrambled(output: Layout, prediction: Tensor) -> bool:
    """Whether the loss reads, as the scores of one sample, numbers that the network gave for different ones.

    Both are the same memory. The output has an axis of that many classes, and along it the numbers lie at another distance than along
    the axis of classes that the loss reads: (N, C, H, W) read in rows of C, or (N, T, C) viewed as (N, C, T).
    """
    if prediction.dim() < 2 or output.place != (prediction.data_ptr(), prediction.numel()):
        return False
    classes, stride = prediction.shape[1], prediction.stride(1)
    if classes < 2 or tuple(prediction.shape) == output.shape:
        return False
    axes = [axis for axis in range(1, len(output.shape)) if output.shape[axis] == classes]
    return bool(axes) and all(output.strides[axis] != stride for axis in axes)
