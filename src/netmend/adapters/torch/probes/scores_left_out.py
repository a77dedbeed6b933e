"""A loss that leaves out the scores of the first or the last position, `scores[:, :-1]`: to which positions do its targets belong?"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from netmend.adapters.torch.probes.bench import Bench
from netmend.adapters.torch.probes.offsets import Scored

_CLOSE = 0.5  # of the distance to the scores of other positions


def whole_length(bench: Bench, prediction: Tensor, target: Tensor, ignored: int) -> Iterator[Scored]:
    """The targets as long as the model's output, with one that does not count where none was given; nothing where all positions have one."""
    if target.is_floating_point() or not prediction.is_floating_point() or not bench.batched:
        return
    classes = prediction.numel() // max(target.numel(), 1)
    sizes = bench.batched[0].shape[:2]
    if len(sizes) < 2 or target.numel() not in (sizes[0] * (sizes[1] - 1), (sizes[0] - 1) * sizes[1]):
        return
    for scores in bench.run(training=True) or ():
        for axis in (1, 0):
            if scores.shape != (*sizes, classes) or scores.shape[axis] < 3:
                continue
            length = scores.shape[axis] - 1
            if target.numel() != scores.shape[1 - axis] * length:
                continue
            shape = [length if n == axis else size for n, size in enumerate(sizes)]
            given = _laid(prediction, (*shape, classes))
            first = _first(given, scores, axis, length) if given is not None else None
            if first is not None:
                none = torch.full_like(target.reshape(shape).narrow(axis, 0, 1), ignored)
                parts = [target.reshape(shape), none]
                yield Scored(torch.cat(parts[::-1] if first else parts, axis), ignored, scores.numel())
                return


def _first(given: Tensor, scores: Tensor, axis: int, length: int) -> int | None:
    """Whether the scores begin with the first position or the second. The weights have made a step since they were computed."""
    apart = [float((given - scores.narrow(axis, first, length)).norm()) for first in (0, 1)]
    first = int(apart[1] < apart[0])
    return first if apart[first] < _CLOSE * apart[1 - first] else None


def _laid(prediction: Tensor, shape: tuple[int, ...]) -> Tensor | None:
    """The scores with those of one position side by side."""
    if prediction.dim() == 3 and tuple(prediction.shape) == (shape[0], shape[2], shape[1]) != shape:
        return prediction.transpose(1, 2)
    classes_last = prediction.shape[-1] == shape[-1]
    return prediction.reshape(shape) if classes_last else None
