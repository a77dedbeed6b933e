"""Where targets are taken from the sequence itself: does what the model says at one position depend on later ones?

A few short sequences are replayed in eval mode, then once more with one of their elements changed. In a causal model everything before
it stays exactly as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.module import register_module_forward_hook

from netmend.adapters.torch.probes.bench import Bench, Found, largest
from netmend.adapters.torch.probes.offsets import Profile, Scored, profiles, whole_length
from netmend.adapters.torch.probes.operations import Comparing, compared, name_of_operation
from netmend.adapters.torch.watch.eligible import tensors_in
from netmend.adapters.torch.watch.replay import Masks, Place, Where

WHAT = "looking ahead"
_LENGTHS = (13, 11, 17, 19, 23, 29, 37, 53)  # hardly the size of anything else
_BEHIND = 4  # positions that are needed behind the first one that has a target
_NOISE = 1e-4  # of the change at the position itself and behind it
_ALL_SECONDS = 0.5  # a finding on shortened sequences is confirmed on the whole ones if that takes no longer


@dataclass(frozen=True)
class Sequences:
    """A bench whose sequences may have been shortened."""

    bench: Bench
    profile: Profile
    steps: int  # of the input
    length: int  # positions with a target

    @property
    def time_first(self) -> bool:
        return self.profile.axis == 0

    @property
    def count(self) -> int:
        given: Tensor = self.bench.leaves[self.profile.leaf]
        return given.shape[1 - self.profile.axis]

    @property
    def argument(self) -> int:
        """Which of the arguments with something for each sample holds the sequences."""
        return sum(map(self.bench.is_batched, self.bench.leaves[: self.profile.leaf]))

    @property
    def position(self) -> int:
        """The position that is changed: what has a target lies before it, and something behind it if there is room."""
        first, last = self.profile.first, self.length - 1
        return max(first + 1, min(first + (last + 1 - first) * 2 // 3, last - 1))

    def change(self, given: Tensor) -> Tensor:
        """Another value at one position, in every sequence."""
        axis, at = self.profile.axis, self.position
        now = given.select(axis, at)
        if given.is_floating_point():
            now += given.std(correction=0).clamp_min(1e-3)
            return given
        known = given.unique()
        first, second = known[len(known) // 2], known[len(known) // 2 - 1]
        now.copy_(torch.where(now == first, second, first))
        return given

    def outputs(self, change: Callable[[Tensor], Tensor] | None = None) -> Tensor | None:
        """What a replay says, positions × numbers; None when the model refuses, or says nothing for each position."""
        found: list[Tensor] = []

        def returned(module: nn.Module, args: Any, output: Any) -> None:
            for tensor in tensors_in(output):
                laid = self.laid(tensor)
                if laid is not None:
                    found[:] = [laid]
                    return

        handle = register_module_forward_hook(returned)
        try:
            outputs = self.bench.run(change, only=self.argument)
        finally:
            handle.remove()
        for tensor in outputs or ():  # the model itself is not called, only its forward()
            laid = self.laid(tensor)
            if laid is not None:
                return laid
        return found[0] if found and outputs is not None else None

    def laid(self, tensor: Tensor) -> Tensor | None:
        """The scores of all positions with time first; None where a tensor holds something else."""
        if not tensor.is_floating_point() or not tensor.dim():
            return None
        channels = self.profile.channels
        for length in dict.fromkeys((self.length, self.steps)):
            if tensor.numel() != self.count * length * channels:
                continue
            first = (length, self.count) if self.time_first else (self.count, length)
            if tensor.shape[:2] == first or tensor.shape[0] == length * self.count:
                return tensor.reshape(*first, -1).movedim(0 if self.time_first else 1, 0).double()
            if tensor.dim() == 3 and tensor.shape == (self.count, channels, length):
                return tensor.movedim(2, 0).double()
        return None


def examine(whole: Bench, seconds: float) -> Found | None:
    """`seconds`: what a forward pass of the whole batch takes."""
    scored = list(_scored(whole, seconds))
    told: list[Found] = []
    for profile in profiles(whole.leaves, scored):
        found = _examine(whole, profile, seconds)
        if found is not None:
            told.append(found)
    return max(told, key=_means_sequences, default=None)


def _means_sequences(found: Found) -> tuple[bool, bool]:
    """Where one argument holds what precedes the targets, as in a decoder, the others may hold what they like. Later positions hear of earlier ones along time only."""
    return found.values["offset"] == 1, found.values.get("behind", 0.0) > _NOISE


def _scored(bench: Bench, seconds: float) -> Iterator[Scored]:
    losses = bench.session.losses
    for call in losses.calls:
        if call.target is not None and call.prediction is not None:
            ignored = int(losses.facts[call.name].settings.get("ignore_index", -100))
            yield Scored(call.target, ignored, call.prediction.numel())
            if 2 * seconds <= _ALL_SECONDS:
                yield from whole_length(bench, call.prediction, call.target, ignored)


def _examine(whole: Bench, profile: Profile, seconds: float) -> Found | None:
    values: dict[str, Any] = {
        "offset": profile.best,
        "share": profile.shares[profile.best],
        "distinct": profile.distinct,
    }
    for sequences in _shortened(whole, profile, seconds):
        base = sequences.outputs()
        if base is None:
            continue
        moved = _moved(sequences, base)
        if moved is None:
            return None  # this argument is none that the scores depend on, or the model does not say the same twice
        place = None
        if moved["ahead"] > _NOISE:
            everything = _whole(whole, profile)
            if sequences.steps < everything.steps and 4 * seconds < _ALL_SECONDS:
                again = everything.outputs()
                moved = (again is not None and _moved(everything, again)) or {**moved, "ahead": 0.0}
            if moved["ahead"] > _NOISE:
                place, mask = first_depending_operation(sequences)
                values |= mask
        if place is not None:
            values |= {"operation": place.operation, "module": place.component, "kind": place.kind}
        return Found(values | moved, place.site if place is not None else whole.call.site)
    return Found(values, whole.call.site)  # it wants its own sequences, and takes long


def _moved(sequences: Sequences, base: Tensor) -> dict[str, float] | None:
    """How much the scores change before the changed position, behind it, and where it is the answer, as shares of the largest change."""
    again, changed = sequences.outputs(), sequences.outputs(sequences.change)
    if again is None or changed is None or not base.shape == again.shape == changed.shape:
        return None
    at, first = sequences.position, sequences.profile.first
    change = (changed - base).abs().flatten(1).amax(dim=1)
    most = largest(change)
    if not most or largest(again - base) > 0.1 * _NOISE * most:
        return None
    answer = at - sequences.profile.best
    return {
        "ahead": largest(change[first:at]) / most,
        "behind": largest(change[at + 1 :]) / most,
        "answer": largest(change[answer : answer + 1]) / most,
    }


def _whole(whole: Bench, profile: Profile) -> Sequences:
    given: Tensor = whole.leaves[profile.leaf]
    return Sequences(whole, profile, given.shape[profile.axis], profile.length)


def _shortened(whole: Bench, profile: Profile, seconds: float) -> Iterator[Sequences]:
    """From few and short sequences to all of them, for models that want them as long and as many as they are."""
    everything = _whole(whole, profile)
    steps, least = everything.steps, profile.first + _BEHIND + 1
    sizes = {size for parameter in whole.module.parameters() for size in parameter.shape}
    benches = [b for b in ((whole.fewer() if profile.axis == 1 else None), whole) if b is not None]
    for bench in benches:
        taken = {*sizes, bench.rows, *(size for leaf in bench.batched for size in leaf.shape[2:])}
        short = next((n for n in _LENGTHS if least <= n < steps and n not in taken), None)
        if short is not None:
            cut = partial(_cut, bench, profile, steps, short)
            leaves = [cut(leaf) for leaf in bench.leaves]
            rows = short if profile.axis == 0 else bench.rows
            shorter = replace(bench, leaves=leaves, rows=rows, memory={})
            yield Sequences(shorter, profile, short, profile.length - steps + short)
    for bench in benches:
        if seconds * bench.rows / whole.rows * 4 <= _ALL_SECONDS:
            yield replace(everything, bench=bench)


def _cut(bench: Bench, profile: Profile, steps: int, short: int, leaf: Any) -> Any:
    """The first positions only, in every argument that is as long."""
    if not isinstance(leaf, Tensor):
        return leaf
    for axis, size in enumerate(leaf.shape):
        if size == steps and not (axis == 0 and profile.axis == 1 and bench.is_batched(leaf)):
            leaf = leaf.narrow(axis, 0, short)
    return leaf


# The first operation of a forward pass that lets a position see later ones.

_MOST_NUMBERS = 12_000_000  # of intermediate results that are kept
_SCORING = ("softmax", "sigmoid")  # what is made of the scores of all pairs of positions
_NOISE_OF_OPERATIONS = 1e-4
Seen = list[tuple[str, list[Tensor]]]


def first_depending_operation(sequences: Sequences) -> tuple[Place | None, dict[str, Any]]:
    """That operation, and what is known of the mask that was put on its scores."""
    bench = sequences.bench
    found = compared(bench, partial(_Positions, sequences), sequences.change, sequences.argument)
    return found.found, found.mask


def _known(masks: Masks[Place]) -> dict[str, Any]:
    """Where it was cut to a triangle, or where it fills scores with a number that hides nothing."""
    place = masks.weak or masks.triangle
    if place is None or place.site is None:
        return {}
    return {"mask_file": place.site.file, "mask_line": place.site.line, "mask_weak": masks.weak is not None}


class _Positions(Comparing):
    """Remembers what every operation gave for each position; the second time, looks for where earlier ones change."""

    def __init__(self, sequences: Sequences, where: Where, seen: Seen | None) -> None:
        super().__init__()
        self.seen: Seen = []
        self.found: Place | None = None
        self._where, self._sequences, self._reference = where, sequences, seen
        self._scored: Place | None = None  # where the scores of pairs of positions were last normalised
        self._kept = self._index = 0
        self._masks = Masks(lambda: where.place("mask"))
        self.mask: dict[str, Any] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if self.found is not None:
            return result
        name = name_of_operation(func)
        self._masks.saw(name, args, result)
        first = next((t for t in tensors_in(result) if t.dim() and t.is_floating_point()), None)
        laid = self._laid(first) if first is not None else []
        if self._reference is None:
            if self._kept >= _MOST_NUMBERS:
                laid = []
            self._kept += sum(tensor.numel() for tensor in laid)
            self.seen.append((name, [tensor.clone() for tensor in laid]))
            return result
        known, reference = self._reference[self._index] if self._index < len(self._reference) else ("", [])
        self._index += 1
        if first is not None and any(word in name for word in _SCORING) and self._pairs(first):
            self._scored = self._where.place(name)
        if laid and len(laid) == len(reference) and known == name:
            self._compare(name, laid, reference)
        return result

    def _compare(self, name: str, now: list[Tensor], before: list[Tensor]) -> None:
        at = self._sequences.position
        for one, reference in zip(now, before, strict=True):
            if one.shape != reference.shape:
                return
            change = (one - reference).flatten(1)
            earlier = largest(change[:at])
            if earlier <= _NOISE_OF_OPERATIONS * max(largest(change[at:]), earlier):
                return
        place, scored = self._where.place(name), self._scored
        # Attention by hand: the mask belongs before the softmax, not where its result is used.
        same = scored is not None and scored.component == place.component and "mm" in name
        self.found = scored if same else place
        if same or any(word in name for word in _SCORING):
            self.mask = _known(self._masks)

    def _sizes(self) -> tuple[int, ...]:
        return (self._sequences.steps, self._sequences.length)

    def _pairs(self, tensor: Tensor) -> bool:
        return sum(size in self._sizes() for size in tensor.shape) >= 2

    def _laid(self, tensor: Tensor) -> list[Tensor]:
        """With time first. Positions in one row may be those of one sequence after the other, or of one moment: both are given."""
        axes = [axis for axis, size in enumerate(tensor.shape) if size in self._sizes()]
        if len(axes) == 1 and tensor.dim() > 1:
            return [tensor.movedim(axes[0], 0)]
        count = self._sequences.count
        for length in self._sizes():
            if not axes and tensor.dim() == 2 and tensor.shape[0] == length * count:
                return [tensor.reshape(length, count, -1), tensor.reshape(count, length, -1).movedim(1, 0)]
        return []
