"""How the targets of a loss lie in the sequence that the model is given: the same tokens, the next ones, or neither."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from netmend.adapters.torch.probes.bench import Bench

OFFSETS = (-1, 0, 1, 2)
_ROWS, _COLUMNS = 64, 1024  # that are compared
_LEAST = 24  # pairs: fewer agree by chance


@dataclass(frozen=True)
class Scored:
    """One loss of the step: its targets, the value that does not count, and how many numbers were predicted."""

    target: Tensor
    ignored: int
    predicted: int


@dataclass(frozen=True)
class Profile:
    """One argument that holds sequences, beside the targets of a loss."""

    leaf: int  # place among the arguments
    axis: int  # that of time
    length: int  # positions with a target
    shares: dict[int, float]  # per offset d: share of counted targets at t that equal the input at t + d
    first: int  # position that has a target in one of the sequences
    channels: int  # numbers that the model says about a position
    distinct: int  # different values in the input; 0 for real numbers

    @property
    def best(self) -> int:
        return max(self.shares, key=lambda d: self.shares[d])

    @property
    def sure(self) -> bool:
        """All targets lie at one offset, and by far not all at any other."""
        others = [share for d, share in self.shares.items() if d != self.best]
        return self.shares[self.best] >= 0.99 and max(others) <= 0.8


@torch.no_grad()
def profiles(leaves: Sequence[Any], scored: Sequence[Scored]) -> Iterator[Profile]:
    """For each argument that could be a sequence, how the targets that fit best lie in it."""
    for index, leaf in enumerate(leaves):
        if not isinstance(leaf, Tensor) or leaf.dim() not in (2, 3) or leaf.dtype == torch.bool:
            continue
        if leaf.dim() == 3 and not leaf.is_floating_point():
            continue
        found = [one for loss in scored for one in _beside(index, leaf, loss)]
        sure = [one for one in found if one.sure]
        if sure:
            likely = max(sure, key=lambda one: (one.best == 1, one.axis))
            yield likely
            if (
                likely.best == 0
            ):  # the very input fits along either axis: which one is time, only the model can tell
                yield from (one for one in sure if one.best == 0 and one.axis != likely.axis)


def _beside(index: int, leaf: Tensor, loss: Scored) -> Iterator[Profile]:
    target = loss.target
    if target.is_floating_point() != leaf.is_floating_point():
        return
    features = leaf.shape[2:].numel()
    for axis in (1, 0):
        sequences, steps = leaf.shape[1 - axis], leaf.shape[axis]
        # Of fewer targets than positions it is not known which positions they belong to: `scores[:, 1:]` or `scores[:, :-1]`.
        for length in (steps,):
            if length < 2 or target.numel() != sequences * length * features:
                continue
            if axis:
                laid, given = target.reshape(sequences, length, features), leaf
            else:
                laid, given = (
                    target.reshape(length, sequences, features).transpose(0, 1),
                    leaf.transpose(0, 1),
                )
            given = given.reshape(sequences, steps, features)[:_ROWS, : _COLUMNS + 1]
            laid = laid[:_ROWS, :_COLUMNS]
            counted = _counted(laid, loss.ignored)
            shares = _shares(laid, given, counted)
            if shares is not None:
                distinct = 0 if leaf.is_floating_point() else len(given.unique())
                first = int(counted.any(dim=0).int().argmax())
                channels = loss.predicted * features // target.numel()
                yield Profile(index, axis, length, shares, first, channels, distinct)


def _counted(target: Tensor, ignored: int) -> Tensor:
    """Which positions have a target, sequences × positions."""
    if target.is_floating_point():
        return torch.ones_like(target[..., 0], dtype=torch.bool)
    return ((target != ignored) & (target >= 0))[..., 0]


def _shares(target: Tensor, given: Tensor, counted: Tensor) -> dict[int, float] | None:
    length, steps = target.shape[1], given.shape[1]
    shares: dict[int, float] = {}
    for offset in OFFSETS:
        first, last = max(0, -offset), min(length, steps - offset)
        there = counted[:, first:last]
        pairs = int(there.sum())
        if pairs < _LEAST:
            return None
        same = (target[:, first:last] == given[:, first + offset : last + offset]).all(dim=2) & there
        shares[offset] = float(same.sum()) / pairs
    return shares


# A loss that leaves out the scores of the first or the last position, `scores[:, :-1]`: to which positions do its targets belong?

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
            first = _begins_later(given, scores, axis, length) if given is not None else None
            if first is not None:
                none = torch.full_like(target.reshape(shape).narrow(axis, 0, 1), ignored)
                parts = [target.reshape(shape), none]
                yield Scored(torch.cat(parts[::-1] if first else parts, axis), ignored, scores.numel())
                return


def _begins_later(given: Tensor, scores: Tensor, axis: int, length: int) -> int | None:
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
